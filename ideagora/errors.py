"""The errors that ideagora raises on purpose.

The message of each error is one line: what happened, the value, what to do. ``exit_code`` is the exit code of
the command. ``retryable`` means that the cause may pass, so no result of it is final. ``fatal`` means that
every other branch, topic or agent would fail too, so it ends the command.

    IdeagoraError                   exit 1
    ├── UsageError                  exit 2   invalid use of a command
    │   └── SettingsError                    a setting has an invalid value
    ├── TopicError                           the topic cannot be used
    │   ├── EmptyTopic              exit 2   it has no text
    │   └── TopicNotCovered                  the library has no papers on it
    ├── LibraryError                         the literature cannot be read
    │   ├── SourceUnavailable       exit 4   a source did not respond
    │   │   └── SourceRejected      exit 1   a source rejected the request
    │   ├── StoreUnavailable        exit 4   the store's server did not respond
    │   ├── StoreBusy                        another process uses the store
    │   └── StoreCorrupted                   the store's files cannot be read
    ├── ModelError                           a model call failed
    │   ├── UnknownModel            exit 2   no such model or provider
    │   ├── MissingKey                       the provider's key is missing or invalid
    │   ├── ModelUnavailable        exit 4   transient failures outlasted the retries
    │   │   └── QuotaExhausted               the account with the provider is used up
    │   ├── NoTokenProbabilities    exit 2   the provider gives no probabilities of tokens
    │   ├── RequestRejected                  the provider rejected the request
    │   ├── UnreadableAnswer                 no reply could be parsed; keeps the replies
    │   ├── ReplayMiss                       --replay, and the answer is not in the cache
    │   └── RealCallForbidden                real calls are disabled
    ├── EmbedderError                        no usable embedding weights
    ├── IdeasFileError                       a file of ideas cannot be used
    │   ├── UnknownIdeasFormat               its format is unknown
    │   └── TopicRequired           exit 2   it has no topic, and none was given
    ├── RunError                             a run failed
    │   ├── RunBusy                          another process uses the run's folder
    │   ├── FolderUnusable                   a folder cannot be written, or the disk is full
    │   ├── UntrustedCheckpoints             the checkpoints contain objects that would run code
    │   ├── AgentFailed                      an external agent raised, hung, or returned no idea
    │   ├── NoPaperRead                      no paper of a chain could be read
    │   └── AllBranchesFailed                every branch failed; lists the reasons
    ├── RatingError                          the verdicts are not enough for a rating
    └── BudgetExhausted             exit 3   the budget is spent; the run can be resumed
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ideagora.schema import Usage


class IdeagoraError(Exception):
    """Base of all errors; ``str(error)`` is one line for the user."""

    exit_code = 1
    retryable = False
    """The cause may pass (an outage, another process), so no result of it is final."""
    fatal = False
    """Every other branch, topic or agent would fail too."""


class UsageError(IdeagoraError):
    """Invalid use of a command."""

    exit_code = 2
    fatal = True


class SettingsError(UsageError):
    """A setting has an invalid value."""


class TopicError(IdeagoraError):
    """The topic cannot be used."""


class EmptyTopic(TopicError):
    """The topic has no text."""

    exit_code = 2


class TopicNotCovered(TopicError):
    """The library has no papers on the topic; ``nearest`` lists the closest titles."""

    def __init__(self, message: str, nearest: list[str] | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest or []


class LibraryError(IdeagoraError):
    """The literature cannot be read."""


class SourceUnavailable(LibraryError):
    """A source did not respond."""

    exit_code = 4
    retryable = True


class SourceRejected(SourceUnavailable):
    """A source rejected the request: a key is missing, or the request is invalid."""

    exit_code = 1
    retryable = False


class StoreUnavailable(LibraryError):
    """The store's server did not respond."""

    exit_code = 4
    retryable = True
    fatal = True


class StoreBusy(LibraryError):
    """Another process uses the store."""

    retryable = True
    fatal = True


class StoreCorrupted(LibraryError):
    """The store's files cannot be read."""

    fatal = True


class ModelError(IdeagoraError):
    """A model call failed; ``usage`` is the cost of the failed attempts."""

    may_be_billed = False
    """Whether the provider may bill the failed attempt."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        if usage is None:
            from ideagora.schema import Usage  # pydantic, which the process of an agent may do without

            usage = Usage()
        self.usage = usage


class UnknownModel(ModelError):
    """No such model or provider."""

    exit_code = 2
    fatal = True


class MissingKey(ModelError):
    """The provider's key is missing or invalid."""

    fatal = True


class ModelUnavailable(ModelError):
    """Transient failures outlasted the retries."""

    exit_code = 4
    retryable = True


class QuotaExhausted(ModelUnavailable):
    """The account with the provider is used up; retries fail until it is topped up."""


class RequestRejected(ModelError):
    """The provider rejected the request (a 4xx that no retry fixes)."""


class NoTokenProbabilities(ModelError):
    """The provider gives no probabilities of tokens."""

    exit_code = 2
    fatal = True

    def __init__(self, model: str, detail: str = "") -> None:
        super().__init__(
            f"{model} gives no probabilities of tokens{f' ({detail})' if detail else ''}. Choose another "
            "--judge, or omit --verdict probabilities; what was answered is kept and not paid for again."
        )


class UnreadableAnswer(ModelError):
    """No reply could be parsed as the answer; ``raw`` has every reply."""

    def __init__(self, message: str, raw: list[str], usage: Usage | None = None) -> None:
        super().__init__(message, usage)
        self.raw = raw


class ReplayMiss(ModelError):
    """``--replay`` is set and the answer is not in the cache."""

    fatal = True


class RealCallForbidden(ModelError):
    """Real calls are disabled (``IDEAGORA_FORBID_REAL_CALLS=1``)."""

    fatal = True


class EmbedderError(IdeagoraError):
    """No usable embedding weights."""


class IdeasFileError(IdeagoraError):
    """A file of ideas cannot be used."""


class UnknownIdeasFormat(IdeasFileError):
    """The format of a file is unknown; ``short`` is the message without the formats tried."""

    def __init__(self, message: str, short: str) -> None:
        super().__init__(message)
        self.short = short


class TopicRequired(IdeasFileError):
    """A file of ideas has no topic, and none was given."""

    exit_code = 2


class RunError(IdeagoraError):
    """A run failed."""


class RunBusy(RunError):
    """Another process uses the run's folder."""

    retryable = True


class FolderUnusable(RunError):
    """A folder cannot be created or written, or the disk is full."""

    fatal = True


class UntrustedCheckpoints(RunError):
    """A run's checkpoints contain objects that would run code when loaded; none was loaded."""

    fatal = True


class AgentFailed(RunError):
    """An external agent raised, hung, or returned no idea."""


class NoPaperRead(RunError):
    """No paper of a chain could be read."""


class AllBranchesFailed(RunError):
    """Every branch failed; the message lists the reasons."""


class RatingError(IdeagoraError):
    """The verdicts are not enough for a rating; ``missing`` lists pairs whose verdicts would suffice."""

    def __init__(self, message: str, missing: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing


class BudgetExhausted(IdeagoraError):
    """The budget is spent; the run can be resumed."""

    exit_code = 3
    fatal = True
