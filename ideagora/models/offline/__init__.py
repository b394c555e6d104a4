"""The offline model's engine: primitives that recipes of roles put together."""

from ideagora.models.offline.extractive_model import Contrast, ExtractiveModel

__all__ = ["Contrast", "ExtractiveModel"]
