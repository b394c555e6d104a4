"""Measures how the work of a pattern or a parser grows with hostile input.

``patterns()`` finds every regular expression of the package by itself: those that modules hold, also in
tables, and those written into a call of ``re``. ``hostile()`` derives from a pattern what could make it
backtrack: each of its repeats, branches and beginnings, said again and again, with a tail that fails.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import ideagora

METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
PLAIN = " \n\taA1-_.<"
SAMPLE = "aA1-/b"
"""What a function that makes patterns is given."""
TAILS = ("", "\x00!")
STEPS = (12, 20, 25, 31, 39, 61, 250, 2_000)
"""Lengths of texts: at first in small steps, so that exponential work is seen before it never ends."""
SMALL = 2_000
SIZES = (8_000, 32_000, 128_000)
MOST = 9.0
"""Times the work on four times the text: three times for each doubling. Work that is not linear at 128,000
characters is thousands of times too much, so it shows; a megabyte of each would only take longer."""
SLOW = 0.004
"""CPU seconds on at most ``SMALL`` characters from which on the growth is looked at."""


@dataclass(frozen=True)
class Used:
    """A pattern, where it stands, and the methods it is used with."""

    where: str
    pattern: re.Pattern[str]
    methods: tuple[str, ...]


def modules() -> Iterator[ModuleType]:
    """Every module of the package."""
    for module_info in pkgutil.walk_packages(ideagora.__path__, "ideagora."):
        if not module_info.name.endswith("__main__"):
            yield importlib.import_module(module_info.name)


@cache
def patterns() -> tuple[Used, ...]:
    """Every pattern of the package, once for each way it is used.

    Raises:
        AssertionError: a pattern is put together from local values that are not escaped, so that nobody can
            measure it.
    """
    everything = list(modules())
    trees = {module: _tree(module) for module in everything}
    anywhere = _methods(trees.values())
    by_pattern: dict[tuple[str, int, tuple[str, ...]], Used] = {}
    for module, tree in trees.items():
        own = _methods([tree])
        for used in [*_held(module, {**anywhere, **own}), *_written(module, tree)]:
            by_pattern.setdefault((used.pattern.pattern, used.pattern.flags, used.methods), used)
    return tuple(by_pattern.values())


def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))


def _methods(trees: Any) -> dict[str, set[str]]:
    """Name of a pattern -> the methods that are called on it, anywhere."""
    called: dict[str, set[str]] = defaultdict(set)
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            inner = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            if isinstance(inner, ast.Name):
                called[inner.id].add("sub" if node.attr == "subn" else node.attr)
    return called


def _held(module: ModuleType, methods: dict[str, set[str]]) -> Iterator[Used]:
    for name, value in vars(module).items():
        for pattern in _inside(value):
            used = tuple(sorted(methods.get(name) or {"search"}))
            yield Used(f"{module.__name__}.{name}", pattern, used)


def _inside(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, dict | list | tuple) and depth < 4:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _inside(item, depth + 1)


class _Escapes(ast.NodeTransformer):
    """Puts a word where a local value is escaped: it can then only stand for itself."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "escape":
            return ast.copy_location(ast.Constant("aA"), node)
        return self.generic_visit(node)


def _written(module: ModuleType, tree: ast.Module) -> Iterator[Used]:
    """Patterns in calls of ``re``; a function that gives a pattern is asked for the one of a sample."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    makers = [one for one in functions if one.returns and ast.unparse(one.returns).startswith("re.Pattern")]
    for maker in makers:
        made = vars(module)[maker.name](*[SAMPLE for _ in maker.args.args])
        yield Used(f"{module.__name__}.{maker.name}", made, ("search",))
    made_there = {node for maker in makers for node in ast.walk(maker)}
    inside = {node for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)) or node in made_there:
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
            continue
        is_compiled = node.func.attr == "compile"
        if node.func.attr in METHODS or (is_compiled and node in inside):  # the module holds the others
            where = f"{module.__name__}:{node.lineno}"
            yield Used(where, _evaluated(module, node, where), ("search" if is_compiled else node.func.attr,))


def _evaluated(module: ModuleType, call: ast.Call, where: str) -> re.Pattern[str]:
    flags = [item.value for item in call.keywords if item.arg == "flags"]
    at = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(call.func.attr, 2)  # type: ignore[attr-defined]
    flags += call.args[at : at + 1]
    try:
        text = _value(module, _Escapes().visit(call.args[0]))
        return (
            text
            if isinstance(text, re.Pattern)
            else re.compile(text, _value(module, flags[0]) if flags else 0)
        )
    except NameError as error:
        raise AssertionError(
            f"{where}: a pattern made of the local value {error.name!r}. Compile it where the module begins, "
            "put the value through re.escape inside the call, or let a function return the pattern, so that "
            "its growth can be measured."
        ) from None


def _value(module: ModuleType, node: ast.expr) -> Any:
    expression = ast.fix_missing_locations(ast.Expression(node))
    return eval(compile(expression, "<pattern>", "eval"), vars(module))  # our own source


# --- what could make a pattern backtrack --------------------------------------------------------------


def hostile(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """(beginning, what is said again and again) for a pattern, most telling first."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    alphabet = _alphabet(tree)
    pumped = dict.fromkeys(_repeats(tree, "", alphabet))
    starts = list(dict.fromkeys(["", *(start for start, _ in pumped)]))[:8]
    bodies = list(dict.fromkeys(body for _, body in pumped if body))
    wholes = [_sample(tree, alphabet, pick) for pick in range(4)]
    beginnings = [whole[:length] for whole in wholes[:2] for length in range(1, min(len(whole), 12) + 1)]
    again = dict.fromkeys([*bodies[:30], *starts, *wholes, *alphabet, *beginnings])
    pairs = ["".join(pair) for pair in product(alphabet[:9], repeat=2)]
    texts = [*pumped, *(("", body) for body in again), *(("", pair) for pair in pairs)]
    texts += [(start, body) for start in starts[1:] for body in [*bodies[:6], *alphabet[:10]]]
    yield from ((start, body) for start, body in dict.fromkeys(texts) if body)


def _alphabet(tree: Any) -> str:
    """Characters that the pattern speaks of, and some of each kind; the pattern's own ones first."""
    own = dict.fromkeys(_characters(tree))
    return "".join(dict.fromkeys([*islice(own, 24), *PLAIN]))


def _characters(tree: Any) -> Iterator[str]:
    for kind, value in tree:
        if kind in (op.LITERAL, op.NOT_LITERAL):
            yield chr(value)
        elif kind is op.IN:
            yield from (chr(v if k is op.LITERAL else v[0]) for k, v in value if k in (op.LITERAL, op.RANGE))
        else:
            for inner in _inner(kind, value):
                yield from _characters(inner)


REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def _inner(kind: Any, value: Any) -> list[Any]:
    if kind is op.BRANCH:
        return list(value[1])
    if kind is op.SUBPATTERN:
        return [value[3]]
    if kind in REPEATS:
        return [value[2]]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    if kind is op.GROUPREF_EXISTS:
        return [part for part in value[1:] if part is not None]
    return [value] if kind is op.ATOMIC_GROUP else []


def _repeats(tree: Any, before: str, alphabet: str) -> Iterator[tuple[str, str]]:
    """For each repeat: what leads to it, and what it may repeat."""
    for place, (kind, value) in enumerate(tree):
        start = before + _sample(tree[:place], alphabet, 0)
        if kind in REPEATS and value[1] > 3:
            yield from ((start, _sample(value[2], alphabet, pick)) for pick in range(6))
            if len(value[2]) == 1:
                yield from ((start, c) for c in alphabet if _fits(value[2][0], c))
        for inner in _inner(kind, value):
            yield from _repeats(inner, start, alphabet)


def _fits(node: tuple[Any, Any], character: str) -> bool:
    kind, value = node
    if kind is op.ANY:
        return True
    if kind in (op.LITERAL, op.NOT_LITERAL):
        return (chr(value) == character) is (kind is op.LITERAL)
    if kind is not op.IN:
        return False
    negated = value[0][0] is op.NEGATE
    fits = any(_item_fits(item, character) for item in value)
    return bool(fits is not bool(negated))


def _item_fits(item: tuple[Any, Any], character: str) -> bool:
    kind, value = item
    if kind is op.LITERAL:
        return chr(value) == character
    if kind is op.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    if kind is op.CATEGORY:
        name = str(value)
        inside = {"SPACE": character.isspace(), "DIGIT": character.isdigit()}.get(
            name.rsplit("_", 1)[1], character.isalnum() or character == "_"
        )
        return inside is not ("_NOT_" in name)
    return False


def _sample(tree: Any, alphabet: str, pick: int) -> str:
    """A short text that the pattern could match; ``pick`` varies branches, classes and counts."""
    return "".join(_sample_of(kind, value, alphabet, pick) for kind, value in tree)


def _sample_of(kind: Any, value: Any, alphabet: str, pick: int) -> str:
    if kind is op.LITERAL:
        return chr(value)
    if kind in (op.IN, op.NOT_LITERAL, op.ANY):
        fitting = [c for c in alphabet if _fits((kind, value), c)]
        return str(fitting[pick % len(fitting)]) if fitting else ""
    if kind is op.BRANCH:
        return _sample(value[1][pick % len(value[1])], alphabet, pick)
    if kind in REPEATS:
        times = max(value[0], min(value[1], pick % 3))
        return _sample(value[2], alphabet, pick) * int(min(times, 40))
    if kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
        return _sample(_inner(kind, value)[0], alphabet, pick)
    return ""


# --- measuring ------------------------------------------------------------------------------------------


def seconds(work: Callable[[], object], tries: int = 1) -> float:
    """CPU seconds of this thread, the best of some tries."""
    best = float("inf")
    for _ in range(tries):
        begun = time.thread_time()
        work()
        best = min(best, time.thread_time() - begun)
    return best


def long_text(start: str, body: str, tail: str, length: int) -> str:
    """``start``, as much of ``body`` as makes the length, ``tail``."""
    return start + body * max(1, length // len(body)) + tail


def applied(used: Used, method: str, text: str) -> Callable[[], object]:
    """The call of a method, consumed."""
    if method in ("sub", "subn"):
        return lambda: used.pattern.sub("", text)
    if method == "finditer":
        return lambda: sum(1 for _ in used.pattern.finditer(text))
    return lambda: getattr(used.pattern, method)(text)


Work = Callable[[int], Callable[[], object]]
"""What is to be done with a text of some length."""


def grows(work: Work, sizes: Sequence[int], slow: float) -> bool:
    """Whether somewhere twice the text costs more than three times the work; sizes are four times the last.

    Work below ``slow`` seconds is not compared, and what looks too long is measured again.
    """
    for size in sizes:
        if seconds(work(size)) <= MOST * slow:
            continue
        before, after = seconds(work(size // 4), 3), seconds(work(size), 3)
        if after > MOST * max(before, slow):
            return True
    return False


def worst_of(used: Used, method: str) -> tuple[float, tuple[str, str, str]]:
    """The hostile text on which a pattern works longest, with its seconds at ``SMALL`` characters.

    Raises:
        AssertionError: the work grows out of proportion.
    """
    worst = (0.0, ("", "a", ""))
    for parts in ((start, body, tail) for start, body in hostile(used.pattern) for tail in TAILS):
        elapsed = 0.0
        for size in STEPS:
            elapsed = seconds(applied(used, method, long_text(*parts, size)))
            if elapsed > SLOW and size < SMALL:
                elapsed = seconds(applied(used, method, long_text(*parts, size)), 3)
                assert elapsed <= SLOW, (
                    f"{used.where}, {method}: {elapsed:.3f} s on {size} characters of {parts}"
                )
        worst = max(worst, (elapsed, parts))
    return worst
