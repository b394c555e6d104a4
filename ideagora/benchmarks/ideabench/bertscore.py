"""BERTScore (arXiv 1904.09675, section 3) with the model of IdeaBench, if its weights are on this machine.

Nothing is downloaded: the model has 3 GB. Without it, semantic similarity is unscored, not approximated.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.benchmark import Unscored
from ideagora.models.redact import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "microsoft/deberta-xlarge-mnli"
"""The model of the released evaluation."""
LAYER = 40
"""Hidden layer whose vectors are compared; the one that BERTScore's authors recommend for this model."""
MAX_TOKENS = 512
_LOADING = threading.Lock()
"""Questions are answered in threads, and the model must be loaded once."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text as contextual vectors."""

    vectors: NDArray[np.float32]
    """Unit length, shape (tokens, dimension)."""
    counted: NDArray[np.bool_]
    """Whether a token counts in the means, shape (tokens,); those at both ends can only be matched."""


def f1(candidate: Tokens, reference: Tokens) -> float:
    """BERTScore F1, at most 1: greedy matching, without IDF weights and without rescaling.

    Precision is the mean, over the candidate's tokens, of the highest cosine with a token of the reference;
    recall is the reverse.
    """
    cosines = candidate.vectors @ reference.vectors.T
    precision = float(cosines.max(axis=1)[candidate.counted].mean())
    recall = float(cosines.max(axis=0)[reference.counted].mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def bertscore(candidate: str, reference: str, model: str = MODEL) -> float:
    """BERTScore F1 of two texts, cut to 512 tokens.

    Raises:
        Unscored: the weights are not on this machine, or not those of such a model.
    """
    with _LOADING:
        encode = _encoder(model)
    return f1(encode(candidate), encode(reference))


@lru_cache(maxsize=1)
def _encoder(model: str) -> Callable[[str], Tokens]:
    if not _is_at_hand(model):
        raise Unscored(f"BERTScore is not available: the weights of {model} are not on this machine")
    import numpy as np
    import torch
    from transformers import AutoModel, AutoTokenizer

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(model, local_files_only=True)
        network: Any = AutoModel.from_pretrained(model, local_files_only=True).eval()
    except (OSError, ValueError) as error:
        raise Unscored(
            f"BERTScore is not available: {model} cannot be loaded ({one_line(str(error))})"
        ) from None
    if network.config.num_hidden_layers < LAYER:
        raise Unscored(f"BERTScore is not available: {model} has no layer {LAYER}, so it is not {MODEL}")

    def encode(text: str) -> Tokens:
        inputs = tokenizer(text, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        with torch.no_grad():
            states = network(**inputs, output_hidden_states=True).hidden_states[LAYER][0]
        vectors = torch.nn.functional.normalize(states, dim=-1).numpy()
        ends = {tokenizer.cls_token_id, tokenizer.sep_token_id}
        counted = [token not in ends for token in inputs["input_ids"][0].tolist()]
        return Tokens(vectors, np.array(counted, dtype=bool))

    return encode


def _is_at_hand(model: str) -> bool:
    """Whether a folder, or the local Hugging Face cache, has the model's weights."""
    files = ("model.safetensors", "pytorch_model.bin")
    if Path(model).is_dir():
        return any((Path(model) / file).is_file() for file in files)
    from huggingface_hub import try_to_load_from_cache

    return any(isinstance(try_to_load_from_cache(model, file), str) for file in files)
