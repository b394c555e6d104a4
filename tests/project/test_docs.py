"""The documentation names what exists."""

from __future__ import annotations

import re
from pathlib import Path

from bench.import_diagram import diagram

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + [
    page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "demo_report.md"
]
TOP = "ideagora|tests|bench|docs|examples|models|retrieval|graphs|evaluators|agents|importing|report|commands"
PATH = re.compile(rf"`((?:{TOP})/[\w./*{{}},-]*)`")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def test_paths_and_links_in_the_documentation_exist() -> None:
    missing = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for path in PATH.findall(text):
            tops = [ROOT, ROOT / "ideagora"]
            if "…" not in path and not any(list(top.glob(path.rstrip("/"))) for top in tops):
                missing.append(f"{page.name}: {path}")
        missing += [
            f"{page.name}: {link}" for link in LINK.findall(text) if not (page.parent / link).exists()
        ]
    assert not missing


def test_the_diagram_shows_the_imports() -> None:
    assert diagram() in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), (
        "draw it anew: make bench ARGS=import_diagram"
    )
