"""Fit a JSON value to the types of a pydantic model, where only one reading is possible.

Every function returns the value in the form that the type asks for, or leaves it as it is so that
pydantic refuses it. ``None`` stands for "nothing was said" (null, empty text, NaN, "N/A"). A
placeholder says neither something nor nothing: it is left, for the reader of the answer to refuse.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ideagora.models.parsing.json_extract import exact, html_unescaped

Metadata = tuple[Any, ...]

_NOTHING = re.compile(
    r"""[\s("'*`\[]*+
        (none | null | undefined | n/a | n\.a | not[ ](available|applicable) | [-–—]++)?
        [\s)"'*`\]]*+\.?\s*+""",
    re.I | re.X,
)
_FORM = re.compile(r"<[^<>\n]*>|\.\.\.|…|string")
"""What a text that is to be put together with others must not be: it could be the form's own words."""
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#\d{2,6}|#x[0-9a-fA-F]{2,5});")
_PERCENT = re.compile(r"([-+]?\d++(?:\.\d++)?)\s*+%")
_OUT_OF = re.compile(r"([-+]?\d++(?:\.\d++)?)\s*+(?:/|out of)\s*+(\d++(?:\.\d++)?)")
_JOINT = re.compile(r"(?:\\?[\s_-])+")
_ANY_JOINT = r"[\\s_-]++"
"""What joins the words of an option, as ``re.escape`` writes it, and what may join them instead."""
_LONGEST_NAME, _LONGEST_NUMBER = 200, 300
"""Characters of a field's name that is remembered, and of a text that may be a number."""
_LISTS = (list, tuple, set, frozenset, Sequence, Iterable)

_DIGITS = re.compile(r"\d+")
_INTEGER = re.compile(r"(?<![\w.,−–-])(\d+)(?![\w/%+]|[.,]\d)")
_MORE = re.compile(r"\b(and|to|through|zero|one|two|three|four|five|six|seven|eight|nine|ten)\b|&", re.I)
"""Words around a number that speak of another one."""
_TURNS = re.compile(
    r"""\b(not|no|non|none|nor|neither|never|cannot|without|than|but|or|if|unless|except|although|though
        |almost|nearly|partly|partially|somewhat|maybe|perhaps|possibly|probably|unclear|unsure
        |versus|vs|against|over|beats|worse|weaker|loses|fails|lacks|of\ all|glance|sight
        |about|around|least|most|more|less|up|between|before|after|later)\b
      | n['’]t\b | [?~<>≤≥±≈]""",
    re.I | re.X,
)
"""Words around a choice or a number that turn it into another one, or into a doubt."""
_FILLERS = frozenset(
    """the a an i my it it's its is are they this that answer choice choose decision idea option paper pick
    relation result verdict winner clearly closely directly""".split()
)
"""Words that may stand before a choice without changing it."""

_MARKER = re.compile(
    r"""(?P<indent>\s*)
        (?: (?P<number>\d{1,3})[.)] | \((?P<round>\d{1,3})\) | step\s+(?P<step>\d{1,3})[.):]
          | (?P<bullet>[-*•‣▪·–—]) )
        \s+(?=\S)""",
    re.I | re.X,
)
_ONE, _TWO = (re.compile(rf"(?:^|\s)\(?{number}[.)]\s") for number in (1, 2))
_COUNT = re.compile(r"(?:step\s*+)?#?\s*+(\d{1,3})[.)]?", re.I)
_COUNTER = re.compile(
    r"""(step|item|query|suggestion|risk|metric|baseline|ablation|dataset)?
        (number|num|no|nr|index|idx|id|order|rank|position|priority)?""",
    re.X,
)
_LABELS = frozenset(
    """ablation action answer baseline benchmark change claim component content dataset description detail
    details evaluation explanation how item justification label limitation mechanism method metric mitigation
    name objective outcome part phrase problem purpose query question rationale reason risk solution step
    suggestion summary system task technique term text title topic value what why""".split()
)
"""Keys that say what kind of text they hold; any other key may be a part of what is told."""


def coerce_object(value: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The model's fields out of an object, under the model's own names; unknown keys fall away."""
    told: dict[str, Any] = {}
    for name, key in fields_named(value, model).items():
        field = model.model_fields[name]
        said = coerce_value(value[key], field.annotation, tuple(field.metadata))
        if said is None and not field.is_required() and not _takes_none(field.annotation):
            continue
        told[field.alias or name] = said
    return told


def fields_named(value: Mapping[str, Any], model: type[BaseModel]) -> dict[str, str]:
    """Field name -> the object's key that names it: exactly, or alone up to case and punctuation."""
    named: dict[str, str] = {}
    for name, field in model.model_fields.items():
        exactly = [key for key in (name, field.alias) if key is not None and key in value]
        nearly = [key for key in value if fold_name(key) == fold_name(name)]
        if exactly:
            named[name] = exactly[0]
        elif len(nearly) == 1 and nearly[0] not in model.model_fields:
            named[name] = nearly[0]
    return named


def list_field(model: type[BaseModel]) -> str | None:
    """The model's one list field, when a bare list can only be that: no other field is required."""
    lists = [name for name, field in model.model_fields.items() if _is_list(field.annotation)]
    others = [n for n, f in model.model_fields.items() if f.is_required() and n not in lists]
    return lists[0] if len(lists) == 1 and not others else None


def fold_name(name: str) -> str:
    """A name without case, spaces and punctuation."""
    return _folded_name(name) if len(name) <= _LONGEST_NAME else _folded(name)


@lru_cache(maxsize=4096)  # the same few names of fields, for every reply
def _folded_name(name: str) -> str:
    return _folded(name)


def _folded(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def coerce_value(value: Any, kind: Any, metadata: Metadata = ()) -> Any:
    """A value in the form that a type annotation asks for."""
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *more = get_args(kind)
        return coerce_value(value, inner, metadata + _flat(more))
    if origin in (Union, UnionType):
        return _fitted_union(value, get_args(kind), metadata)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if origin is Literal:
        return _choice(value, get_args(kind))
    if origin in _LISTS or kind in _LISTS:
        return _fitted_list(value, origin, get_args(kind))
    if origin in (dict, Mapping):
        return _fitted_mapping(value, get_args(kind))
    return _fitted_plain(value, kind, metadata) if isinstance(kind, type) else value


def _flat(metadata: Iterable[Any]) -> Metadata:
    """Bounds as such: inside ``Annotated`` pydantic leaves them in a ``Field``."""
    return tuple(
        part for item in metadata for part in (item.metadata if isinstance(item, FieldInfo) else [item])
    )


def _fitted_plain(value: Any, kind: type, metadata: Metadata) -> Any:
    if issubclass(kind, BaseModel):
        return _fitted_model(value, kind)
    if issubclass(kind, Enum):
        return _choice(value, tuple(member.value for member in kind))
    if kind is str:
        return _prose(value)
    if kind is bool:
        return _truth(value)
    if kind in (int, float):
        return _number(value, kind, metadata)
    return value


def _fitted_union(value: Any, kinds: tuple[Any, ...], metadata: Metadata) -> Any:
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) == 1:
        return coerce_value(value, others[0], metadata)
    return value


def _fitted_model(value: Any, model: type[BaseModel]) -> Any:
    value = _decoded(value)
    if not isinstance(value, Mapping):
        return value
    known = coerce_object(value, model)
    return known if known or not model.model_fields else None


def _fitted_list(value: Any, origin: Any, kinds: tuple[Any, ...]) -> Any:
    value = _decoded(value)
    of_any_length = origin is not tuple or Ellipsis in kinds
    if kinds and of_any_length and _is_text(kinds[0]):
        return _texts(_enumerated(value) if isinstance(value, str) else value)
    if not isinstance(value, list) or not kinds:
        return value
    if not of_any_length:
        if len(kinds) != len(value):
            return value
        return [coerce_value(item, kind) for item, kind in zip(value, kinds, strict=True)]
    return [coerce_value(item, kinds[0]) for item in value]


def _is_text(kind: Any) -> bool:
    return kind is str or (get_origin(kind) is Annotated and get_args(kind)[0] is str)


def _fitted_mapping(value: Any, kinds: tuple[Any, ...]) -> Any:
    value = _decoded(value)
    if not isinstance(value, Mapping) or not kinds:
        return value
    if value.get("type") == "object" and {"properties", "additionalProperties"} & value.keys():
        return None  # a schema sent back
    keys = [coerce_value(key, kinds[0]) for key in value]
    if len(set(keys)) < len(keys):
        return value
    return {key: coerce_value(item, kinds[1]) for key, item in zip(keys, value.values(), strict=True)}


def _decoded(value: Any) -> Any:
    """A list or an object that came as JSON text inside the JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        inner = exact(value)
        return value if inner is None else inner
    return value


def _says_nothing(value: Any) -> bool:
    said = value.strip() if isinstance(value, str) else None
    return said is not None and len(said) <= 30 and _NOTHING.fullmatch(said) is not None


def _text(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return value
    if _says_nothing(value):
        return None
    return html_unescaped(value) if _ENTITY.search(value) else value


def _prose(value: Any) -> Any:
    """A text; a list of texts becomes its lines."""
    if not isinstance(value, list):
        return _text(value)
    lines = _texts(value)
    if any(not isinstance(line, str) or _FORM.fullmatch(line.strip()) for line in lines):
        return value
    return "\n".join(lines) or None


def _texts(value: Any) -> Any:
    """A list of texts without the items that say nothing; objects become "name: reason"."""
    if not isinstance(value, list):
        return value
    objects = [item for item in value if isinstance(item, Mapping)]
    counters = _counters(objects)
    labelled = _are_labelled(objects)
    told = [_labelled(i, counters) if labelled and isinstance(i, Mapping) else i for i in value]
    return [_text(item) for item in told if not _says_nothing(item)]


def _labelled(item: Mapping[str, Any], counters: frozenset[str]) -> Any:
    """The one or two texts of an object; the object itself when it holds anything else."""
    values = [value for key, value in item.items() if key not in counters and value is not None]
    if not 1 <= len(values) <= 2 or any(not isinstance(v, str) or _FORM.fullmatch(v.strip()) for v in values):
        return item
    if all(_says_nothing(value) for value in values):
        return ""
    return ": ".join(value.strip() for value in values if value.strip())


def _are_labelled(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Whether keys are labels: known ones, or the same in all objects. ``{"GSM8K": "why"}`` has none."""
    keys = {key for item in objects for key in item}
    if all(fold_name(key) in _LABELS or _COUNTER.fullmatch(fold_name(key)) for key in keys):
        return True
    return len(objects) > 1 and all(item.keys() == keys for item in objects)


def _counters(objects: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The keys that only count the objects, from 0 or 1."""
    keys = {key for item in objects for key in item if _COUNTER.fullmatch(fold_name(key))}
    length = len(objects)
    counts = (list(range(length)), list(range(1, length + 1)))
    return frozenset(key for key in keys if [_counted(item.get(key)) for item in objects] in counts)


def _counted(value: Any) -> int | None:
    found = _COUNT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found:
        return int(found[1])
    return value if type(value) is int else None


def _enumerated(text: str) -> Any:
    """The items of a text whose lines are numbered or have bullets; a text of one line is one item."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or text.strip().casefold() in ("null", "undefined"):
        return None
    if len(lines) == 1 and _is_run_together(text):
        return text
    if first := _MARKER.match(lines[0]):
        return _marked(lines, first) or text
    return [text.strip()] if len(lines) == 1 else text


def _is_run_together(text: str) -> bool:
    """Whether a line holds several items: "1. one 2. two"."""
    one = _ONE.search(text)
    numbered = one is not None and _TWO.search(text, one.end() - 1) is not None
    return numbered or len(re.findall("[•‣▪]", text)) > 1


def _marked(lines: Sequence[str], first: re.Match[str]) -> list[str] | None:
    """What stands behind the numbers or bullets; ``None`` when the numbers do more than count."""
    items, numbers = list[list[str]](), list[int]()
    for line in lines:
        mark = _MARKER.match(line)
        if mark is None or mark["bullet"] != first["bullet"]:
            items[-1].append(line.strip())  # goes on, or has points of its own
        elif mark["indent"] != first["indent"]:
            return None
        else:
            items.append([line[mark.end() :].strip()])
            numbers.append(int(mark["number"] or mark["round"] or mark["step"] or len(numbers)))
    start = numbers[0]
    told = ["\n".join(item) for item in items]
    return told if start in (0, 1) and numbers == list(range(start, start + len(numbers))) else None


def _choice(value: Any, options: tuple[Any, ...]) -> Any:
    """The option that is meant, up to case, punctuation and words around it; a doubtful one is left."""
    if any(value == option and type(value) is type(option) for option in options):
        return value
    if not isinstance(value, str | int) or isinstance(value, bool):
        return value
    meant = [option for option in options if fold_name(str(option)) == fold_name(str(value)) != ""]
    if len(meant) == 1:
        return meant[0]
    if _says_nothing(value):
        return None
    return _spoken_of(value, options) if isinstance(value, str) else value


def _spoken_of(text: str, options: tuple[Any, ...]) -> Any:
    """The one option that occurs in the text as whole words, at its beginning or after mere fillers."""
    spelled = {option: _spelling(str(option)).search(text) for option in options}
    found = [(option, match) for option, match in spelled.items() if match]
    if len(found) != 1:
        return text
    option, match = found[0]
    if not isinstance(option, str) or len(option) == 1:  # "A close call" is not for A
        return text
    before = set(re.findall(r"[\w'’]+", text[: match.start()].casefold()))
    around = _spelling(option).sub(" ", text)
    return option if before <= _FILLERS and not _TURNS.search(around) else text


def _spelling(option: str) -> re.Pattern[str]:
    """The option as whole words, in any case, however they are joined."""
    return re.compile(rf"(?<![\w-]){_JOINT.sub(_ANY_JOINT, re.escape(option))}(?![\w-])", re.I)


def _truth(value: Any) -> Any:
    if isinstance(value, str):
        if _says_nothing(value):
            return None
        return {"true": True, "yes": True, "false": False, "no": False}.get(fold_name(value), value)
    return value


def _number(value: Any, kind: type, metadata: Metadata) -> Any:
    """A number, also one written as text; ``80%`` and ``8/10`` only where the bound says of what."""
    if isinstance(value, bool):
        return str(value)  # pydantic would read true as 1
    if kind is int and isinstance(value, list) and [type(item) for item in value] == [int]:
        return value[0]  # the prompts write numbers of papers as [0]
    if not isinstance(value, str) or len(value) > _LONGEST_NUMBER:
        return value
    text = value.strip().rstrip(".")
    if _says_nothing(value) or text.casefold() in ("nan", "inf", "-inf", "infinity", "-infinity"):
        return None
    most = next((bound.le for bound in metadata if isinstance(bound, Le)), None)
    if (percent := _PERCENT.fullmatch(text)) and most in (1, 100):
        return float(percent[1]) * float(str(most)) / 100
    if (fraction := _OUT_OF.fullmatch(text)) and most == float(fraction[2]):
        return float(fraction[1])
    return _only_integer(text or value) if kind is int else text or value


def _only_integer(text: str) -> str:
    """The one integer in words like "paper 0"; the text itself when there are more, or a doubt."""
    found = _INTEGER.search(text)
    alone = len(_DIGITS.findall(text)) == 1 and not (_TURNS.search(text) or _MORE.search(text))
    if found and alone:
        return found[1]
    return f"({text})" if re.match(r"[+-]?0\d*[+-]", text) else text  # pydantic would read 0-2 as -2


def _takes_none(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)


def _is_list(kind: Any) -> bool:
    kinds = [part for part in get_args(kind) if part is not NoneType] if _takes_none(kind) else [kind]
    return any(get_origin(part) in _LISTS or part in _LISTS for part in kinds)
