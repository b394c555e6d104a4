"""Imported once by the server that commands are forked from: what every command would load again.

Imports are statements, since the server passes over a name that does not exist. The interpreters of
``command.fresh_interpreter`` start without any of this.
"""

# ruff: noqa: F401

from __future__ import annotations

import gc

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

import ideagora.benchmarks.ai_idea_bench.benchmark
import ideagora.cli
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
import ideagora.report.bench.terminal
from ideagora.report.run.write import _html_environment, _markdown_environment

lemminflect.getAllLemmas("walks")  # reads its tables
for environment, ending in ((_html_environment(), ".html"), (_markdown_environment(), ".md")):
    for template in environment.list_templates():
        if template.endswith(ending):
            environment.get_template(template)

gc.collect()
gc.freeze()  # or the first collections of every command go through all of the above
