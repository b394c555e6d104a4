"""A provider that keeps its own bill: it charges for all answers, also for those that get lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tests.support.loopback import Answer, Body, Fault, Reply


class Bill:
    """Answers as ``answer`` says, and some requests badly; a token a character of the prompt.

    No two requests in a row fail, so that a retry helps and nobody takes the provider for down.

    Args:
        answer: gives the text of a reply.
        price_prompt: US dollars per million tokens.
        price_completion: the same for answers, each of which nearly fills the request's ``max_tokens``.
        hangs: some answers never come; the client has to give them up.
    """

    def __init__(
        self,
        answer: Callable[[Body], str],
        price_prompt: float,
        price_completion: float,
        *,
        hangs: bool = True,
    ) -> None:
        self.usd = 0.0
        self._answer = answer
        self._prices = (price_prompt / 1e6, price_completion / 1e6)
        self._hangs = hangs
        self._count = 0
        self._lock = threading.Lock()

    def __call__(self, body: Body) -> Answer:
        """The handler of a ``Loopback``."""
        with self._lock:
            self._count += 1
            count = self._count
            if count % 12 == 1:
                return Fault(503)
            asked = sum(len(message["content"]) for message in body["messages"])
            said = body["max_tokens"] - count % 5
            self.usd += asked * self._prices[0] + said * self._prices[1]
        return self._bad(count % 12) or Reply(self._answer(body), asked, said, usage=count % 12 != 11)

    def _bad(self, kind: int) -> Fault | None:
        faults = {
            3: Fault(cut=True),
            5: Fault(garbage=b'{"choices": [{"message": {"content": "half'),
            7: Fault(504),
        }
        return Fault(hang=True) if kind == 9 and self._hangs else faults.get(kind)
