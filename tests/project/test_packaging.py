"""What a user gets is what the tree has, and the tree has nothing that nobody should get."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import ideagora
from tests.support.each import each_case

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "ideagora"
HEAVY = {
    "chromadb", "jinja2", "langchain_core", "langgraph", "litellm", "numpy", "openai", "scipy",
    "sentence_transformers", "torch", "transformers",
}  # fmt: skip
LARGEST = 2_000_000  # bytes: what is larger belongs into a release or a package of its own

SECRETS = {
    "an OpenAI or Anthropic key": r"\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}",
    "a key of AWS": r"\bAKIA[0-9A-Z]{16}\b",
    "a key of Google": r"\bAIza[0-9A-Za-z_-]{35}",
    "a token of GitHub": r"\bgh[pousr]_[A-Za-z0-9]{36}",
    "a token of Hugging Face": r"\bhf_[A-Za-z0-9]{30,}",
    "a token of Slack": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "a URL with a password": r"://[^/\s:@'\"{}<>$]+:[^/\s:@'\"{}<>$]+@[\w.]",
}
PLACES = {
    "a package registry's host": r"\b(?:(?:pypi|pythonhosted|npmjs|anaconda)\.org|download\.pytorch\.org)\b",
    "an index of one machine": r"--(?:extra-)?index-url|--find[-]links|\bartifac[t]ory\b",
    "a path of this machine": "|".join(
        rf"(?<![\w.~]){re.escape(str(folder))}/" for folder in (ROOT, Path.home()) if len(folder.parts) > 1
    ),
}


@cache
def _tracked() -> tuple[Path, ...]:
    """Files that are, or with the next commit would be, in the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):  # a copy of the tree without its history
        return tuple(p for p in ROOT.rglob("*") if p.is_file() and not _made_by_tools(p.relative_to(ROOT)))
    return tuple(path for name in listed.split("\0") if name and (path := ROOT / name).is_file())


def _made_by_tools(path: Path) -> bool:
    hidden = any(part.startswith(".") and part not in {".ci"} for part in path.parts[:-1])
    return hidden or "__pycache__" in path.parts or path.parts[0] in {"build", "dist"}


@cache
def _packed() -> frozenset[str]:
    """Paths inside the wheel, as the build would choose them."""
    return frozenset(file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files())


@cache
def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


@cache
def _constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = (line.partition("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, _, version in pinned}


@each_case("pattern", ["prompts/*.md", "retrieval/corpus/starter_papers/*.jsonl", "report/templates/*"])
def test_files_that_are_read_at_run_time_are_packed(pattern: str) -> None:
    files = {path.relative_to(ROOT).as_posix() for path in PACKAGE.glob(pattern) if path.is_file()}
    assert files, f"nothing matches ideagora/{pattern}"
    assert files <= _packed()


def test_the_wheel_holds_the_package_and_nothing_else() -> None:
    tracked = {path.relative_to(ROOT).as_posix() for path in _tracked() if path.is_relative_to(PACKAGE)}
    assert _packed() == tracked


@each_case("what", [*SECRETS, *PLACES])
def test_no_file_holds(what: str) -> None:
    wanted = re.compile((SECRETS | PLACES)[what])
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in _tracked()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if wanted.search(line)
    ]
    assert not found, f"{what} in {', '.join(found)}"


@each_case(
    "what, text",
    [
        ("an OpenAI or Anthropic key", "sk-" + "a1B2" * 12),
        ("a key of AWS", "AKIA" + "ABCD1234" * 2),
        ("a URL with a password", "postgres://me:" + "secret@db.example/x"),
        ("a package registry's host", "https://files.python" + "hosted.org/packages"),
        ("a path of this machine", f'open("{ROOT}/notes.txt")'),
    ],
)
def test_the_search_finds_what_it_is_for(what: str, text: str) -> None:
    assert re.search((SECRETS | PLACES)[what], text)


def test_no_file_is_large() -> None:
    large = {
        str(path.relative_to(ROOT)): size for path in _tracked() if (size := path.stat().st_size) > LARGEST
    }
    assert not large


def test_the_command_line_starts_without_heavy_libraries() -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import ideagora.cli.main"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip() for line in lines}
    assert "ideagora.cli.main" in imported
    assert not {name.partition(".")[0] for name in imported} & HEAVY


def test_the_version_is_told_once() -> None:
    assert ideagora.__version__ == _project()["version"]


def test_every_requirement_has_a_constraint_in_its_range() -> None:
    extras = _project()["optional-dependencies"].values()
    for text in [*_project()["dependencies"], *(one for extra in extras for one in extra)]:
        wanted = Requirement(text)
        if wanted.name == "ideagora":  # an extra that includes others
            continue
        version = _constraints().get(canonicalize_name(wanted.name))
        assert version, f"constraints.txt lacks {wanted.name}: run `make constraints`"
        assert wanted.specifier.contains(version), f"{text}, but constraints.txt has {version}"


def test_constraints_name_no_build_of_one_machine() -> None:
    pins = _constraints().items()
    assert not [f"{name}=={version}" for name, version in pins if not re.fullmatch(r"[\w.]+", version)]
