"""Groups of commands as typer declares them: only names, help and types; the work is in ``commands``."""
