"""The offline model's engine: primitives that recipes of roles put together."""

from ideagora.models.offline.extractive_model import Contrast, Engine

__all__ = ["Contrast", "Engine"]
