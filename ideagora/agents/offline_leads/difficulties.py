"""Kinds of difficulty that limitations speak of: how one knows them, and a first cheap test for each.

Closed lists of word stems. A limitation and the problem that another paper set out from fit better when
both speak of the same kind; what to try first follows from the kind too. ``SCOPE`` marks clauses that
say how far a paper was tested: no mechanism lifts those.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ideagora.models.offline.text import words

Stems = tuple[str, ...]
DROP_IF = "; drop it if "
"""Before what would end the matter, in a test's sentence."""


@dataclass(frozen=True)
class Difficulty:
    """A kind of difficulty.

    ``test`` is a template: ``{weak}`` names the paper with the limitation, ``{data}`` is `` from NAME``
    where it names a data set, else empty; "the step" is what the other paper brings.
    """

    name: str
    stems: Stems
    test: str
    drop_if: str

    def cheap_test(self, weak: str, strong: str, data: str | None) -> str:
        """The first cheap test in one sentence, and what would end the matter there."""
        told = self.test.format(weak=weak, data=f" from {data}" if data else "")
        return f"{told.rstrip('.').replace('the step', f'the step of {strong}', 1)}{DROP_IF}{self.drop_if}."

    def found_in(self, text: str) -> frozenset[str]:
        """The words of a text that speak of this difficulty."""
        return frozenset(word for word in words(text) if _matches_stem(word, self.stems))


def _matches_stem(word: str, stems: Iterable[str]) -> bool:
    """A stem that ends in ``*`` stands for every word that begins with it."""
    return any(word.startswith(stem[:-1]) if stem.endswith("*") else word == stem for stem in stems)


DIFFICULTIES = (
    Difficulty(
        "bias",
        ("bias*", "favour*", "favor*", "self-preference", "stylistic", "style", "unfair*", "flattering"),
        "Alter what should not matter (order, length, wording) in 50 cases{data} and count how often the "
        "outcome of {weak} changes, with and without the step.",
        "the count falls by less than a third",
    ),
    Difficulty(
        "the need for labels",
        tuple(
            """label* annotat* gold hand-labelled supervis* supervision crowd* contractors raters
            human-labelled demonstrations""".split()
        ),
        "Hide the labels of 50 cases of {weak}{data}, let the step supply them, and count how many it gets "
        "right.",
        "fewer than four in five are right",
    ),
    Difficulty(
        "cost",
        tuple(
            """cost* expensive slow slower price* latency overhead heavy compute computation* memory storage
            faster cheap* burden enormous multipl* infrastructure sequential""".split()
        ),
        "Run {weak} with and without the step on 50 cases{data}; count calls, tokens and seconds at equal "
        "quality.",
        "less than a fifth is saved",
    ),
    Difficulty(
        "hand-made parts",
        tuple(
            """hand hand-written hand-made hand-designed hand-crafted handcrafted manual* manually tuned
            authored developer developers templates template ad-hoc wording""".split()
        ),
        "Take one part of {weak} that was made by hand, let the step make it instead, and compare both on "
        "30 cases{data}.",
        "the hand-made part stays ahead and took under a day",
    ),
    Difficulty(
        "errors that go unnoticed",
        tuple(
            """error errors mistake mistakes mistaken mislead* misleads faulty flawed wrong uncorrected
            hallucinat* unnoticed fabricat* invented incorrect undetected derails unsupported noisy slip
            failures recover check checks""".split()
        ),
        "Collect 30 failures and 30 successes of {weak}{data}; count which the step repairs and which it "
        "breaks.",
        "it breaks half as many as it repairs",
    ),
    Difficulty(
        "unreliable scores",
        tuple(
            """judge judges judging judgement* judgment* reward* metric* verdict* rating ratings gaming game
            evaluator evaluators self-assessed grades grading reviewer reviewers scores proxy""".split()
        ),
        "Take 50 pairs that people have judged{data}; compare how often {weak}, with and without the step, "
        "agrees with them.",
        "agreement rises by less than five points",
    ),
    Difficulty(
        "limits on length",
        tuple(
            """context window length longer long lengthen* sequence fit multi-turn accumulate frames clips
            sessions""".split()
        ),
        "Run {weak} with and without the step on the 30 longest inputs{data} and on 30 short ones.",
        "only the short ones gain",
    ),
    Difficulty(
        "weak transfer",
        tuple("domain domains transfer* unseen language-specific generaliz* generalis* shifts".split()),
        "Take 30 cases of a domain that {weak} was not made for, and run it with and without the step.",
        "the distance to its home domain stays",
    ),
    Difficulty(
        "lost detail",
        tuple(
            """identity detail* faithful* fidelity appearance spatial spatially structure pose layout
            attributes sharp distort* objects""".split()
        ),
        "Draw 40 prompts that show the fault of {weak}, same seeds, with and without the step; two people "
        "mark, blind, which keeps more.",
        "the marks split about evenly",
    ),
    Difficulty(
        "parts that stay fixed",
        tuple(
            """fixed frozen static adapt* separately update* updated stays refreshed
            unchanged topology""".split()
        ),
        "Find 30 inputs{data} on which the fixed part of {weak} is the cause of failure, and run them with "
        "the step.",
        "fewer than a third are mended",
    ),
    Difficulty(
        "poor retrieval",
        tuple("retriev* passage passages evidence* index search searches sources irrelevant".split()),
        "Take 50 questions{data} that {weak} gets wrong; count how often the needed passage is found, with "
        "and without the step.",
        "fewer than ten more are found",
    ),
    Difficulty(
        "lack of variety",
        tuple("variety divers* collapse* duplicat* repeat* repetitive exploration explore saturat*".split()),
        "Draw 100 outputs of {weak} with and without the step; count how many differ from all others.",
        "the count stays within a tenth",
    ),
)

GENERAL = Difficulty(
    "an open limit",
    (),
    "Collect 30 cases in which the limit of {weak} shows{data}, and run them with and without the step.",
    "fewer than a third get better",
)

SCOPE: Stems = tuple(
    """tested untested studied study examined unexamined covers covered coverage evidence experiments
    experiment shown demonstrated validation released unmeasured findings finding follow-up outside gains
    trail trails unexplored unclear doubtful uncertain confined evaluation evaluations baselines
    tried uncovered absent monolingual english benchmark benchmarks conceptual reported lagged
    scope tests improvement accuracy""".split()
)


def is_scope(clause: str) -> bool:
    """Whether a clause says how far something was tested, not what goes wrong in it."""
    return any(_matches_stem(word, SCOPE) for word in words(clause))


def shared_difficulty(
    clause: str, other: str, without: frozenset[Difficulty] = frozenset()
) -> tuple[Difficulty, frozenset[str]] | None:
    """The kind of difficulty that both texts speak of most, with the words; ``None``: none is shared."""
    found = [
        (min(len(here), len(there)), -place, kind, here | there)
        for place, kind in enumerate(DIFFICULTIES)
        if kind not in without and (here := kind.found_in(clause)) and (there := kind.found_in(other))
    ]
    best = max(found, key=lambda one: one[:2], default=None)
    return None if best is None else (best[2], best[3])


def classify_difficulty(clause: str) -> Difficulty:
    """The kind that a clause speaks of most; ``GENERAL`` where it speaks of none."""
    best = max(DIFFICULTIES, key=lambda kind: len(kind.found_in(clause)))
    return best if best.found_in(clause) else GENERAL


def find_difficulty_name(text: str) -> str | None:
    """The first kind that a text calls by its name; ``None`` without any."""
    return next((kind.name for kind in DIFFICULTIES if kind.name in text), None)
