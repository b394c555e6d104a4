"""The offline model: extractive operations that the offline handlers of roles combine."""

from ideagora.models.offline.extractive_model import Contrast, ExtractiveModel

__all__ = ["Contrast", "ExtractiveModel"]
