"""The honest line on everything that the offline model touched; page and terminal say the same."""

from ideagora.models.cache.recording import PREFIX

OFFLINE_NOTICE = "Made by the offline model: an extractive engine, not a language model."
OFFLINE_LEADS_NOTICE = (
    "Leads of the offline model, which is an extractive engine and no language model: it pairs what papers "
    "say, and has no ideas of its own."
)
REAL_MODEL = 'ideagora generate "…" --model openai/gpt-4o'
REAL_MODEL_HINT = "its key in the environment, or any other model that litellm knows"

RECORDED = (
    "Replayed from a recording: {name} gave all answers of this run earlier, those of its judges included. "
    "No model was asked now."
)


def recorded_notice(model: object) -> str | None:
    """The line on a run that was made from recorded answers; ``None`` for any other run."""
    name = str(model or "")
    return RECORDED.format(name=name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
