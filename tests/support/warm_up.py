"""Imported once by the server that commands are forked from: what every command would load again.

Imports are statements, since the server passes over a name that does not exist. The interpreters of
``command.fresh_interpreter`` start without any of this.
"""

# ruff: noqa: F401

from __future__ import annotations

import gc
from functools import cache

import chromadb
import evalica
import langchain_core.tracers.stdout
import langgraph.checkpoint.sqlite.aio
import lemminflect
import litellm.proxy._types
import markdown_it
import matplotlib.figure
import openai.resources
import scipy.stats
import typer.main

import ideagora.benchmarks.ai_idea_bench.benchmark
import ideagora.cli.main
import ideagora.commands.agents
import ideagora.commands.arena
import ideagora.commands.bench
import ideagora.commands.doctor
import ideagora.commands.generate
import ideagora.evaluators.arena.evaluation
import ideagora.evaluators.judging.graph
import ideagora.graphs.chain_of_ideas.agent
import ideagora.graphs.chain_of_ideas.graph
import ideagora.graphs.direct.graph
import ideagora.graphs.rag.graph
import ideagora.models.chat_models
import ideagora.report.arena.page
import ideagora.report.bench.terminal
import tests.support.command
from ideagora.agents.role import ROLES
from ideagora.graphs.runtime import run_record
from ideagora.models import request
from ideagora.prompts import loader
from ideagora.report.run.write import _html_environment, _markdown_environment

lemminflect.getAllLemmas("walks")  # reads its tables
for environment, endings in (
    (_html_environment(), (".html", ".css", ".svg")),
    (_markdown_environment(), ".md"),
):
    for template in environment.list_templates():
        if template.endswith(endings):
            environment.get_template(template)
for role in ROLES.values():
    for part in (role.prompt.system, role.prompt.user):
        loader._template(part)
    request.schema_text(role.answer)  # type: ignore[arg-type]
    request._code_hash(role.offline)
run_record.code_hash()
run_record._versions()
typer.main.get_command = cache(typer.main.get_command)
typer.main.get_command(ideagora.cli.main.app)

gc.collect()
gc.freeze()  # or the first collections of every command go through all of the above
