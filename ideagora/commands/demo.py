"""Runs ``ideagora demo``: a complete run on recorded answers of a large language model."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ideagora.commands import generate
from ideagora.config import SettingOverrides, load_settings
from ideagora.models.cache.recording import PREFIX, Recording, load_vectors

if TYPE_CHECKING:
    from ideagora.models.cache.recording import RecordingHeader

EMBEDDER = "all-MiniLM-L6-v2"
"""The embedder of the recorded vectors."""
OPTIONS = {"branches": 3, "length": 5, "refinements": 1}
"""The agent's options when the run was recorded."""


def run(home: Path | None = None, out: Path | None = None, as_json: bool = False, quiet: bool = False) -> int:
    """Replay the recorded run in ``<home>/demo``, and return the exit code."""
    from ideagora.models.chat_models import ScriptedChatModel
    from ideagora.models.embeddings.cache import VectorCache
    from ideagora.models.embeddings.weights import minilm_name

    folder = recording_folder()
    recording = Recording.read(folder)
    place = load_settings(home=home).home / "demo"
    load_vectors(folder, minilm_name(), VectorCache(place / "cache"))
    model = model_name(recording.header)
    if not quiet:
        _print_introduction(recording)
    request = generate.Request(
        topic=recording.header.topic,
        options=OPTIONS,
        settings=demo_settings(model, place),
        out=out or place / "run",
        as_json=as_json,
        quiet=quiet,
    )
    return generate.run(request, {model: ScriptedChatModel(replies=recording.reply)})


def demo_settings(model: str, home: Path) -> SettingOverrides:
    """Return the settings that the recording needs, in place of the user's own."""
    return {
        "model": model, "reader_model": model, "judge_model": model, "embedder": EMBEDDER,
        "source": "starter", "store": str(home / "store"), "home": home, "seed": 0, "temperature": 0,
    }  # fmt: skip


def model_name(header: RecordingHeader) -> str:
    """Return the model's name in records and reports."""
    return f"{PREFIX}{header.model}"


def recording_folder() -> Path:
    """Return the folder of the packaged recording."""
    return Path(str(resources.files("ideagora.commands") / "recordings"))


def _print_introduction(recording: Recording) -> None:
    import ideagora.graphs.chain_of_ideas.graph  # noqa: F401  defines the roles
    from ideagora.agents.role import ROLES

    header, errors = recording.header, Console(stderr=True)
    errors.print(Text(f"Topic: {header.topic}"))
    errors.print(
        Text(
            f"Recorded: {header.model} gave these answers on {header.created}; no model is called now.",
            style="dim",
        )
    )
    if header.note:
        errors.print(Text(header.note, style="dim"))
    changed = recording.changed_prompts({name: role.prompt.hash for name, role in ROLES.items()})
    if changed:
        errors.print(
            Text(
                f"Recorded with ideagora {header.version}; prompts changed since: {', '.join(changed)}.",
                style="dim",
            )
        )
