"""Kinds of difficulty in limitations, recognised by word stems, with a first cheap test for each.

A limitation fits another paper's problem better if both mention the same kind of difficulty. ``SCOPE``
marks clauses about how far a paper was tested, which no mechanism resolves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ideagora.models.offline.text import words

Stems = tuple[str, ...]
DROP_IF = "; abandon the lead if "
"""Separates a test from the outcome that refutes the lead."""


@dataclass(frozen=True)
class Difficulty:
    """A kind of difficulty.

    ``test`` is a template: ``{weak}`` names the paper with the limitation, ``{strong}`` the paper with the
    mechanism, and ``{data}`` is `` from NAME`` if the former names another data set, else empty.
    """

    name: str
    cure: str
    """What a method against it does, as a search query."""
    stems: Stems
    test: str
    drop_if: str

    def cheap_test(self, weak: str, strong: str, data: str | None) -> str:
        """Return the first cheap test and the outcome that refutes the lead, in one sentence."""
        test = self.test.format(
            weak=weak, strong=strong, data=f" from {data}" if data not in (None, weak) else ""
        )
        return f"{test}{DROP_IF}{self.drop_if}."

    def found_in(self, text: str) -> frozenset[str]:
        """Return the words of a text that indicate this difficulty."""
        return frozenset(word for word in words(text) if _matches_stem(word, self.stems))


@lru_cache(maxsize=65_536)
def _matches_stem(word: str, stems: Stems) -> bool:
    """Return whether a word is one of the stems, or begins with one that ends in ``*``."""
    return any(word.startswith(stem[:-1]) if stem.endswith("*") else word == stem for stem in stems)


DIFFICULTIES = (
    Difficulty(
        "bias",
        "calibrated judgement that ignores order, length and style",
        ("bias*", "favour*", "favor*", "self-preference", "stylistic", "style", "unfair*", "flattering"),
        "Change what should not matter (order, length, wording) in 50 cases{data}, and count how often the "
        "outcome of {weak} changes with and without the mechanism of {strong}",
        "the count falls by less than a third",
    ),
    Difficulty(
        "reliance on labels",
        "learning without labels from the model's own signals",
        tuple(
            """label* annotat* gold hand-labelled supervis* supervision crowd* contractors raters
            human-labelled demonstrations""".split()
        ),
        "Hide the labels of 50 cases of {weak}{data}, predict them with the mechanism of {strong}, and count "
        "how many are correct",
        "fewer than four in five are correct",
    ),
    Difficulty(
        "high cost",
        "efficient method with fewer calls and less computation",
        tuple(
            """cost* expensive slow slower price* latency overhead heavy compute computation* memory storage
            faster cheap* burden enormous multipl* infrastructure sequential""".split()
        ),
        "Run {weak} with and without the mechanism of {strong} on 50 cases{data}, and compare their cost "
        "in seconds and calls at equal quality",
        "it saves less than a fifth",
    ),
    Difficulty(
        "manual design",
        "automatic search or optimization in place of hand-written components",
        tuple(
            """hand hand-written hand-made hand-designed hand-crafted handcrafted manual* manually tuned
            authored developer developers templates template ad-hoc wording""".split()
        ),
        "Take one hand-made component of {weak}, create it with the mechanism of {strong} instead, "
        "and compare the two on 30 cases{data}",
        "the hand-made component is still better and took less than a day to make",
    ),
    Difficulty(
        "undetected errors",
        "detecting, verifying and correcting mistakes",
        tuple(
            """error errors mistake mistakes mistaken mislead* misleads faulty flawed wrong uncorrected
            hallucinat* unnoticed fabricat* invented incorrect undetected derails unsupported noisy slip
            failures recover check checks""".split()
        ),
        "Apply the mechanism of {strong} to 30 failures and 30 successes of {weak}{data}, and count how many "
        "it repairs and breaks",
        "it breaks at least half as many as it repairs",
    ),
    Difficulty(
        "unreliable evaluation",
        "reliable automatic evaluation that agrees with people",
        tuple(
            """judge judges judging judgement* judgment* reward* metric* verdict* rating ratings gaming game
            evaluator evaluators self-assessed grades grading reviewer reviewers scores proxy""".split()
        ),
        "Take 50 pairs judged by people{data}, and compare how often {weak} agrees with them, with "
        "and without the mechanism of {strong}",
        "agreement rises by less than five points",
    ),
    Difficulty(
        "length limits",
        "memory and compression for long inputs",
        tuple(
            """context window length longer long lengthen* sequence fit multi-turn accumulate frames clips
            sessions""".split()
        ),
        "Run {weak} with and without the mechanism of {strong} on the 30 longest inputs{data} and on 30 "
        "short ones",
        "only the short ones improve",
    ),
    Difficulty(
        "poor transfer",
        "generalization to unseen domains",
        tuple("domain domains transfer* unseen language-specific generaliz* generalis* shifts".split()),
        "Take 30 cases from a domain that {weak} was not designed for, and run it with and without the "
        "mechanism of {strong}",
        "the gap to its original domain does not shrink",
    ),
    Difficulty(
        "loss of detail",
        "preserving identity, structure and fine detail",
        tuple(
            """identity detail* faithful* fidelity appearance spatial spatially structure pose layout
            attributes sharp distort* objects""".split()
        ),
        "Collect 40 prompts on which {weak} loses detail, run them with the same seeds with and without the "
        "mechanism of {strong}, and let two people judge blindly which output keeps more detail",
        "the judgements split about evenly",
    ),
    Difficulty(
        "fixed components",
        "joint training and adaptation while in use",
        tuple(
            """fixed frozen static adapt* separately update* updated stays refreshed
            unchanged topology""".split()
        ),
        "Find 30 inputs{data} on which the fixed component of {weak} causes a failure, and run them with the "
        "mechanism of {strong}",
        "fewer than a third succeed",
    ),
    Difficulty(
        "poor retrieval",
        "finding the relevant evidence",
        tuple("retriev* passage passages evidence* index search searches sources irrelevant".split()),
        "Take 50 questions{data} that {weak} gets wrong, and count how often the required passage is found "
        "with and without the mechanism of {strong}",
        "it is found for fewer than ten more questions",
    ),
    Difficulty(
        "lack of diversity",
        "keeping candidates diverse",
        tuple("variety divers* collapse* duplicat* repeat* repetitive exploration explore saturat*".split()),
        "Generate 100 outputs of {weak} with and without the mechanism of {strong}, and count how many "
        "differ from all others",
        "the count changes by less than a tenth",
    ),
)

GENERAL = Difficulty(
    "an open limitation",
    "a method that overcomes this limitation",
    (),
    "Collect 30 cases{data} that show the limitation of {weak}, and run them with and without the mechanism "
    "of {strong}",
    "fewer than a third improve",
)

SCOPE: Stems = tuple(
    """tested untested studied study examined unexamined covers covered coverage evidence experiments
    experiment shown demonstrated validation released unmeasured findings finding follow-up outside gains
    trail trails unexplored unclear doubtful uncertain confined evaluation evaluations baselines
    tried uncovered absent monolingual english benchmark benchmarks conceptual reported lagged
    scope tests improvement accuracy""".split()
)


def is_scope(clause: str) -> bool:
    """Return whether a clause is about how far something was tested rather than what goes wrong."""
    return any(_matches_stem(word, SCOPE) for word in words(clause))


def shared_difficulty(
    clause: str, other: str, without: frozenset[Difficulty] = frozenset()
) -> tuple[Difficulty, frozenset[str]] | None:
    """Return the kind of difficulty that both texts mention most, with the words, or None."""
    candidates = [
        (min(len(here), len(there)), -place, kind, here | there)
        for place, kind in enumerate(DIFFICULTIES)
        if kind not in without and (here := kind.found_in(clause)) and (there := kind.found_in(other))
    ]
    best = max(candidates, key=lambda candidate: candidate[:2], default=None)
    return None if best is None else (best[2], best[3])


def classify_difficulty(clause: str) -> Difficulty:
    """Return the kind that a clause mentions most, or ``GENERAL`` if it mentions none."""
    best = max(DIFFICULTIES, key=lambda kind: len(kind.found_in(clause)))
    return best if best.found_in(clause) else GENERAL


def find_difficulty_name(text: str) -> str | None:
    """Return the name of the first kind that a text names, or None."""
    return next((kind.name for kind in DIFFICULTIES if kind.name in text), None)
