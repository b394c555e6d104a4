"""Notices about the offline model and recorded answers, shared by pages and terminal."""

from ideagora.models.cache.recording import PREFIX

OFFLINE_NOTICE = (
    "Made by the offline model, which extracts sentences from papers; it is not a language model."
)
OFFLINE_LEADS_NOTICE = (
    "Leads of the offline model, which is not a language model: it pairs sentences of papers and has no "
    "ideas of its own."
)
REAL_MODEL = 'ideagora generate "…" --model openai/gpt-4o'
REAL_MODEL_HINT = "any litellm name, with its API key in the environment"

RECORDED = (
    "Replayed from a recording: {name} gave all answers of this run, including those of the judges, at an "
    "earlier time. No model was called now."
)


def recorded_notice(model: object) -> str | None:
    """Return the notice for a run made from recorded answers, ``None`` for any other run."""
    name = str(model or "")
    return RECORDED.format(name=name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
