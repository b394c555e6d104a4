"""TEMPORARY until the audit lands."""
from typing import Any
def audit_of(part: Any) -> dict[str, Any]: return {}
def corrected(part: Any) -> Any: return None
