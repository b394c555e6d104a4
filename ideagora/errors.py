"""Everything that can go wrong in a way that we can name.

Each error is one clear line: what happened, the value, what to do. ``exit_code`` is what the
command line returns. ``retryable`` says that the cause may pass, so that nothing which follows from it
is final; ``fatal`` that no other branch, topic or agent would fare better, so that it ends the command.

    IdeagoraError                     exit 1
    ├── UsageError                  exit 2   the command was asked wrongly
    │   └── SettingsError                    a setting has a value that cannot be used
    ├── TopicError                           the topic itself cannot be worked on
    │   ├── EmptyTopic              exit 2   it is empty
    │   └── TopicNotCovered                  the library has nothing on the topic
    ├── LibraryError
    │   ├── SourceUnavailable       exit 4   a source did not answer
    │   │   └── SourceRejected      exit 1   it answered that it will not
    │   ├── StoreUnavailable        exit 4   the store's server did not answer
    │   ├── StoreBusy                        another process holds the store
    │   └── StoreCorrupted                   the store's files cannot be read
    ├── ModelError
    │   ├── UnknownModel                     no such model, or no such provider
    │   ├── MissingKey                       the provider wants a key that is not set
    │   ├── ModelUnavailable        exit 4   transient failures outlasted the retries
    │   │   └── QuotaExhausted               the account with the provider is empty
    │   ├── RequestRejected                  the provider rejected the request for good
    │   ├── UnreadableAnswer                 no typed answer after the bounded tries; raw text kept
    │   ├── ReplayMiss                       --replay, and the cache has no such answer
    │   └── RealCallForbidden                a test tried to reach a real provider
    ├── EmbedderError                        no usable embedding weights
    ├── IdeasFileError                       a file of ideas cannot be used
    │   ├── UnknownIdeasFormat               it is of no form that is known
    │   └── TopicRequired           exit 2   its ideas have no topic, and none was given
    ├── RunError
    │   ├── RunBusy                          another process works in this run's folder
    │   ├── FolderUnusable                   folder cannot be made or written, or the disk is full
    │   ├── UntrustedCheckpoints             a run's checkpoints hold something that would run code
    │   ├── AgentFailed                      an agent from outside raised, hung, or gave no idea
    │   ├── NoPaperRead                      no paper of a chain could be read
    │   └── AllBranchesFailed                every branch failed; says why, branch by branch
    ├── RatingError                          no figure follows from these verdicts; missing pairs named
    └── BudgetExhausted             exit 3   hard stop; the run can be resumed
"""

from __future__ import annotations

from ideagora.schema import Usage


class IdeagoraError(Exception):
    """Base of all named errors; ``str(error)`` is one line for the user."""

    exit_code = 1
    retryable = False
    """The cause may pass (an outage, another process): what follows from it is never final."""
    fatal = False
    """No other branch, topic or agent would fare better."""


class UsageError(IdeagoraError):
    """The command was asked wrongly."""

    exit_code = 2
    fatal = True


class SettingsError(UsageError):
    """A setting has a value that cannot be used."""


class TopicError(IdeagoraError):
    """The topic itself cannot be worked on."""


class EmptyTopic(TopicError):
    """The topic is empty."""

    exit_code = 2


class TopicNotCovered(TopicError):
    """The library has nothing on the topic; ``nearest`` lists the closest titles."""

    def __init__(self, message: str, nearest: list[str] | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest or []


class LibraryError(IdeagoraError):
    """The literature could not be read."""


class SourceUnavailable(LibraryError):
    """A source did not answer."""

    exit_code = 4
    retryable = True


class SourceRejected(SourceUnavailable):
    """A source answered that it will not: for want of a key, or since it is asked wrongly."""

    exit_code = 1
    retryable = False


class StoreUnavailable(LibraryError):
    """The server that holds the store did not answer."""

    exit_code = 4
    retryable = True
    fatal = True


class StoreBusy(LibraryError):
    """Another process holds the store."""

    retryable = True
    fatal = True


class StoreCorrupted(LibraryError):
    """The store's files cannot be read."""

    fatal = True


class ModelError(IdeagoraError):
    """A call to a model failed; ``usage`` is what the failed tries cost."""

    may_be_billed = False
    """Whether the provider may bill the failed try: it was not refused, and no answer came."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


class UnknownModel(ModelError):
    """No such model, or no such provider."""

    exit_code = 2
    fatal = True


class MissingKey(ModelError):
    """The provider wants a key that is not set, or does not accept the one that is."""

    fatal = True


class ModelUnavailable(ModelError):
    """Transient failures outlasted the retries."""

    exit_code = 4
    retryable = True


class QuotaExhausted(ModelUnavailable):
    """The account with the provider is empty; no retry helps until it is topped up."""


class RequestRejected(ModelError):
    """The provider rejected the request for good (a 4xx that no retry mends)."""


class UnreadableAnswer(ModelError):
    """No typed answer could be read after the bounded tries; ``raw`` keeps every reply."""

    def __init__(self, message: str, raw: list[str], usage: Usage | None = None) -> None:
        super().__init__(message, usage)
        self.raw = raw


class ReplayMiss(ModelError):
    """``--replay`` was asked for and the cache has no such answer."""

    fatal = True


class RealCallForbidden(ModelError):
    """Real calls are switched off (``IDEAGORA_FORBID_REAL_CALLS=1``)."""

    fatal = True


class EmbedderError(IdeagoraError):
    """No usable embedding weights."""


class IdeasFileError(IdeagoraError):
    """A file of ideas cannot be used."""


class UnknownIdeasFormat(IdeasFileError):
    """A file is of no form that is known; ``short`` says so without what was looked for."""

    def __init__(self, message: str, short: str) -> None:
        super().__init__(message)
        self.short = short


class TopicRequired(IdeasFileError):
    """The ideas of a file have no topic, and none was given."""

    exit_code = 2


class RunError(IdeagoraError):
    """A run could not be carried through."""


class RunBusy(RunError):
    """Another process works in this run's folder."""

    retryable = True


class FolderUnusable(RunError):
    """A folder cannot be made or written, or the disk is full."""

    fatal = True


class UntrustedCheckpoints(RunError):
    """A run's checkpoints hold something that would run code; nothing of it was run."""

    fatal = True


class AgentFailed(RunError):
    """An agent from outside raised, hung, or gave nothing that is an idea."""


class NoPaperRead(RunError):
    """No paper of a chain could be read."""


class AllBranchesFailed(RunError):
    """Every branch failed; the message says why, branch by branch."""


class RatingError(IdeagoraError):
    """No figure follows from these verdicts; with verdicts on the ``missing`` pairs one would."""

    def __init__(self, message: str, missing: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing


class BudgetExhausted(IdeagoraError):
    """The budget is spent: a hard stop that leaves a run which can be resumed."""

    exit_code = 3
    fatal = True
