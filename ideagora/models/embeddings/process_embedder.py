"""A sentence-transformers model in a process of its own.

Importing the library takes 6 s of one core, encoding 100 abstracts 5 s. Within one process both would hold up
calls to models, whose replies one thread reads; in a second process they use another core. If this
process has imported the library already, the model runs here.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import ideagora
from ideagora.errors import EmbedderError
from ideagora.models.embeddings.hash_embedder import HASH
from ideagora.models.embeddings.sentence_embedder import SentenceEmbedder
from ideagora.models.embeddings.weights import Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COMMAND = (sys.executable, "-P", "-m", "ideagora.models.embeddings.worker")
_BATCH = 16
"""Texts in one request, so that a single text waits for few others."""


class ProcessEmbedder:
    """A sentence-transformers model that is loaded on first use, outside this process."""

    def __init__(self, name: str, locate: Callable[[], Weights], dimension: int | None = None) -> None:
        self.name = name
        self._locate = locate
        self._dimension = dimension
        self._weights: Weights | None = None
        self._here: SentenceEmbedder | None = None
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of a vector; loads the model if it is not the default one."""
        if self._dimension is None:
            self._dimension = int(self.encode(["dimension"]).shape[1])
        return self._dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts, one row of unit length each; texts are cut at the model's limit (256 tokens).

        Raises:
            EmbedderError: the weights are missing, are not the pinned ones, or cannot be loaded; or the
                process ended.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        if "sentence_transformers" in sys.modules:
            return self._local().encode(texts)
        process = start_process()  # it imports while the weights are verified here
        weights = self._located()
        batches = [list(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        return np.concatenate([process.encode(weights, batch) for batch in batches])

    def _located(self) -> Weights:
        with self._lock:
            if self._weights is None:
                self._weights = self._locate()
            return self._weights

    def _local(self) -> SentenceEmbedder:
        weights = self._located()
        with self._lock:
            if self._here is None:
                self._here = SentenceEmbedder(weights)
            return self._here


class ModelProcess:
    """A child process that encodes texts. It ends when this process does, however that ends."""

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                _COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": _python_path()},
                process_group=0,  # Ctrl-C is for this process
            )
        except OSError as error:
            raise EmbedderError(
                f"the embedding model's process cannot be started: {error.strerror}."
            ) from error
        # a queue: under a lock, a long list would hold up others
        self._requests: SimpleQueue[tuple[bytes, Future[tuple[dict[str, Any], bytes]]]] = SimpleQueue()
        threading.Thread(target=self._answer, name="embed", daemon=True).start()
        self.pid = self._process.pid
        self._parent = os.getpid()
        atexit.register(self.stop)

    @property
    def is_usable(self) -> bool:
        """Whether it runs and belongs to this process, not to one that this one was forked from."""
        return self._parent == os.getpid() and self._process.poll() is None

    def encode(self, weights: Weights, texts: list[str]) -> NDArray[np.float32]:
        """One row per text, from the model in a folder. Blocks; requests are answered one after another.

        Raises:
            EmbedderError: the model cannot be loaded, or the process ended.
        """
        import numpy as np

        request = {"name": weights.name, "folder": str(weights.folder), "texts": texts}
        try:
            reply: Future[tuple[dict[str, Any], bytes]] = Future()
            self._requests.put((json.dumps(request).encode(), reply))
            header, data = reply.result()
        except BaseException:  # also an interrupt: the rest of the reply must not answer the next request
            self.stop()
            raise
        if "error" in header:
            raise EmbedderError(header["error"])
        return np.frombuffer(data, dtype="<f4").reshape(header["shape"])

    def stop(self) -> None:
        """End the process."""
        atexit.unregister(self.stop)
        if self._parent == os.getpid():
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # a request that nobody reads any more
                        pipe.close()

    def _answer(self) -> None:
        """Exchange requests for replies in turn; a daemon thread, since an executor's delays exit."""
        while True:
            request, reply = self._requests.get()
            try:
                reply.set_result(self._exchange(request))
            except BaseException as error:  # noqa: BLE001 - raised where the reply is waited for
                reply.set_exception(error)

    def _exchange(self, request: bytes) -> tuple[dict[str, Any], bytes]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(request + b"\n")
            stdin.flush()
            header = json.loads(stdout.readline())
            data = stdout.read(header.get("bytes", 0))
        except (OSError, ValueError) as error:
            raise EmbedderError(
                f"the embedding model's process ended (exit code {self._process.wait()}). If memory is "
                "short, close other programs; then run the same command again."
            ) from error
        return header, data


_process: ModelProcess | None = None
_starting = threading.Lock()


def start_process() -> ModelProcess:
    """The process of this one's embedding models, started if there is none. Does not wait for it."""
    global _process
    with _starting:
        if _process is None or not _process.is_usable:
            _process = ModelProcess()
        return _process


def start_early(setting: str) -> None:
    """Start the process that an embedder of this name will use, before anything is encoded.

    Nothing happens for the hash embedder, or if this process has imported the library.
    """
    if setting != HASH and "sentence_transformers" not in sys.modules:
        with suppress(EmbedderError):  # raised again where the model is needed
            start_process()


def _python_path() -> str:
    root = str(Path(ideagora.__file__).resolve().parent.parent)
    return os.pathsep.join([root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
