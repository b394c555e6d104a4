"""The default embedding model, all-MiniLM-L6-v2, computed with torch and tokenizers alone.

sentence-transformers gives the same bytes, but takes six CPU seconds to import; torch takes one and a half.
The weights are pinned by their hash, so the architecture is known: BERT (arXiv 1810.04805) with mean pooling.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

MAX_TOKENS = 256


class MiniLM:
    """The model in a folder. Thread-safe.

    Raises:
        OSError, ValueError, LookupError: the folder does not hold a complete model.
    """

    def __init__(self, folder: Path) -> None:
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._heads: int = config["num_attention_heads"]
        self._epsilon: float = config["layer_norm_eps"]
        self._layers = [f"encoder.layer.{n}" for n in range(config["num_hidden_layers"])]
        self._weights: dict[str, Tensor] = load_file(folder / "model.safetensors")
        self._tokenizer: Any = Tokenizer.from_buffer((folder / "tokenizer.json").read_bytes())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def encode(self, text: str) -> NDArray[np.float32]:
        """The vector of a text, of unit length; the text is cut at 256 tokens."""
        import numpy as np
        import torch
        from torch.nn import functional

        with torch.inference_mode():
            hidden = self._embed(self._tokenizer.encode(text).ids)
            for layer in self._layers:
                hidden = self._transform(hidden, layer)
            mean = hidden.sum(dim=1) / hidden.shape[1]
            # Twice, as sentence-transformers does: the second time changes the last bit of some values.
            unit = functional.normalize(functional.normalize(mean))
        return np.asarray(unit[0].numpy(), dtype=np.float32)

    def _embed(self, ids: list[int]) -> Tensor:
        """Sum of word, token type and position embeddings, shape (1, tokens, dimension)."""
        import torch

        words = self._weights["embeddings.word_embeddings.weight"][torch.tensor([ids])]
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        places = self._weights["embeddings.position_embeddings.weight"][: len(ids)]
        return self._normalize(words + kind + places, "embeddings.LayerNorm")

    def _transform(self, hidden: Tensor, layer: str) -> Tensor:
        """One layer: self-attention and feed-forward network, each added to its input and normalized."""
        from torch.nn import functional

        parts = (self._linear(hidden, f"{layer}.attention.self.{name}") for name in ("query", "key", "value"))
        query, key, value = (part.view(1, -1, self._heads, part.shape[-1] // self._heads) for part in parts)
        attended = functional.scaled_dot_product_attention(
            query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)
        )
        context = attended.transpose(1, 2).reshape(hidden.shape)
        projected = self._linear(context, f"{layer}.attention.output.dense")
        hidden = self._normalize(projected + hidden, f"{layer}.attention.output.LayerNorm")
        inner = functional.gelu(self._linear(hidden, f"{layer}.intermediate.dense"))
        return self._normalize(
            self._linear(inner, f"{layer}.output.dense") + hidden, f"{layer}.output.LayerNorm"
        )

    def _linear(self, values: Tensor, name: str) -> Tensor:
        from torch.nn import functional

        return functional.linear(values, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _normalize(self, values: Tensor, name: str) -> Tensor:
        from torch.nn import functional

        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return functional.layer_norm(values, weight.shape, weight, bias, self._epsilon)
