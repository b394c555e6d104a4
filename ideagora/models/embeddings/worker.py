"""The process that ``process_embedder`` starts: reads requests from stdin, writes vectors to stdout.

A request is a line of JSON with ``name``, ``folder`` and ``texts``. A reply is a line of JSON with ``shape``
and ``bytes``, followed by that many bytes (little-endian float32), or with ``error``. The process ends with
stdin, even while it imports or encodes.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

from ideagora.errors import EmbedderError
from ideagora.models.embeddings.sentence_embedder import SentenceEmbedder
from ideagora.models.embeddings.weights import Weights, hub_disabled


def main() -> None:
    """Answer requests until stdin ends."""
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)  # what libraries print must not mix with replies
        requests: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=_receive, args=(requests,), daemon=True).start()
        gc.disable()  # a sixth of the time of imports
        with hub_disabled():
            import sentence_transformers  # noqa: F401 - while the parent verifies the weights
        gc.freeze()
        gc.enable()
        serve(iter(requests.get, None), replies)


def _receive(requests: SimpleQueue[bytes]) -> None:
    """Queue the requests, and end the process with the one that sends them."""
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)


def serve(requests: Iterable[bytes], replies: BinaryIO) -> None:
    """Answer each request; models stay loaded."""
    models: dict[str, SentenceEmbedder] = {}
    for line in requests:
        request = json.loads(line)
        folder = request["folder"]
        if folder not in models:
            models[folder] = SentenceEmbedder(Weights(request["name"], Path(folder), "folder"))
        _reply(models[folder], request["texts"], replies)


def _reply(model: SentenceEmbedder, texts: list[str], replies: BinaryIO) -> None:
    try:
        rows = model.encode(texts).astype("<f4")
        data = rows.tobytes()
        header = {"shape": rows.shape, "bytes": len(data)}
    except EmbedderError as error:
        data, header = b"", {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - the parent reports it
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        data, header = b"", {"error": f"embedder {model.name} cannot encode a text ({reason})."}
    replies.write(json.dumps(header).encode() + b"\n" + data)
    replies.flush()


if __name__ == "__main__":
    main()
