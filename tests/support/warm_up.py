"""Imported once by the server that commands are forked from: what every command would load again.

Imports are statements, since the server passes over a name that does not exist. The interpreters of
``command.fresh_interpreter`` start without any of this.
"""

# ruff: noqa: E402, F401

from __future__ import annotations

import gc

gc.disable()  # collections take a sixth of the time of imports
import platform
from functools import cache

import chromadb
import evalica
import langchain_core.messages.block_translators.langchain_v0
import langchain_core.tracers.context
import langchain_core.tracers.run_collector
import langchain_core.tracers.stdout
import langgraph.checkpoint.sqlite.aio
import lemminflect
import litellm.proxy._types
import markdown_it
import matplotlib.backends.backend_svg
import matplotlib.figure
import networkx
import openai.resources
import rich.markdown
import scipy.cluster.hierarchy
import scipy.stats
import sklearn.cluster
import typer._adapters
import typer._click.decorators
import typer.main
import typer.rich_utils

import ideagora.cli.main
import tests.support.command
from ideagora.agents.role import ROLES
from ideagora.graphs.runtime import run_record
from ideagora.models import request
from ideagora.models.embeddings import process_embedder
from ideagora.prompts import loader
from ideagora.report.run.write import _html_environment, _markdown_environment
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.http.tls import tls_context
from tests.support.growth import modules

process_embedder.start_early = lambda setting: None  # most commands find all vectors in the cache
list(modules())  # imports them
platform.processor()  # starts the program uname
starter_corpus()
tls_context()
tls_context(trust_env=False)
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
gc.enable()
gc.freeze()  # or the first collections of every command go through all of the above
gc.set_threshold(20_000, 20, 20)  # as in the processes of the tests
