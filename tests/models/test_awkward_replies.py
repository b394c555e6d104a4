"""Every role's typed answer against a table of replies as real models give them.

An awkward reply may be accepted only with exactly the right value; what cannot be read is refused
with a reason, and nothing is filled in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from ideagora.agents.role import ROLES, answer_format
from ideagora.config import Settings
from ideagora.errors import UnreadableAnswer
from ideagora.models.call import Answer
from ideagora.models.chat_models import ScriptedChatModel
from ideagora.models.client import MAX_TURNS, LLMClient
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.model_registry import ModelRegistry
from ideagora.models.parsing.structured_output import UnreadableReply, parse_answer
from ideagora.models.recorder import CallLog
from tests.support.each import each_case
from tests.support.role_samples import NAMES, SAMPLES

Fields = dict[str, Any]
Make = Callable[[str, Fields], str | list[str]]
"""A role's name and a valid answer of it -> the reply, or several, or none where it does not apply."""


# --- ways to write an answer --------------------------------------------------------------------


def dumped(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def fenced(text: str, language: str = "json") -> str:
    return f"```{language}\n{text}\n```"


def keys(value: Any, change: Callable[[str], str]) -> Any:
    """The same with every key passed through a function."""
    if isinstance(value, dict):
        return {change(key): keys(item, change) for key, item in value.items()}
    return [keys(item, change) for item in value] if isinstance(value, list) else value


def leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same with every text, number and truth value passed through a function."""
    if isinstance(value, dict):
        return {key: leaves(item, change) for key, item in value.items()}
    return [leaves(item, change) for item in value] if isinstance(value, list) else change(value)


def texts(value: Any, change: Callable[[str], Any]) -> Any:
    """The same with every text of its own words passed through a function (choices stay)."""
    return leaves(value, lambda leaf: change(leaf) if isinstance(leaf, str) and not is_choice(leaf) else leaf)


def numbers(value: Any, change: Callable[[int], Any]) -> list[str]:
    """As JSON with every number changed; nothing where there is none."""
    return only_if_changed(value, leaves(value, lambda leaf: change(leaf) if type(leaf) is int else leaf))


def truths(value: Any, change: Callable[[bool], Any]) -> list[str]:
    return only_if_changed(value, leaves(value, lambda leaf: change(leaf) if type(leaf) is bool else leaf))


def choices(value: Any, change: Callable[[str], Any]) -> list[str]:
    return only_if_changed(value, leaves(value, lambda leaf: change(leaf) if is_choice(leaf) else leaf))


def only_if_changed(value: Any, changed: Any) -> list[str]:
    return [dumped(changed)] if dumped(changed) != dumped(value) else []


CHOICES = frozenset(
    [
        "builds on",
        "not novel",
        *"first second tie same related different baseline model dataset motivation method".split(),
        *"keyword_query similar_papers references feasible infeasible unclear".split(),
    ]
)


def is_choice(value: Any) -> bool:
    return isinstance(value, str) and value in CHOICES


def written(value: Any, key: Callable[[str], str] = dumped, comma: str = ",", last: str = "") -> str:
    """JSON by hand: how keys are written, what stands between items and after the last one."""
    if isinstance(value, dict):
        parts = [f"{key(name)}: {written(item, key, comma, last)}" for name, item in value.items()]
        return "{" + comma.join(parts) + (last if parts else "") + "}"
    if isinstance(value, list):
        return "[" + comma.join(written(i, key, comma, last) for i in value) + (last if value else "") + "]"
    return dumped(value)


def schema_of(name: str) -> str:
    return json.dumps(ROLES[name].answer.model_json_schema())


def always(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def draft(answer: Fields) -> str:
    """Another complete answer of the same form."""
    return dumped(texts(answer, lambda text: f"draft of: {text}"))


def calling(name: str, arguments: Any) -> str:
    return dumped({"name": ROLES[name].answer.__name__, "arguments": arguments})


def optional(name: str, answer: Fields, empty: Any) -> list[str]:
    """The answer with each of its fields that is null left as something else that says nothing."""
    return [dumped({**answer, field: empty}) for field, value in answer.items() if value is None]


READ: dict[str, Make] = {
    "plain": lambda n, a: dumped(a),
    "compact": lambda n, a: json.dumps(a, ensure_ascii=False, separators=(",", ":")),
    "indented": lambda n, a: dumped(a, 4),
    "indented as a code block": lambda n, a: re.sub("^", "    ", dumped(a, 1), flags=re.MULTILINE),
    "Windows line ends": lambda n, a: fenced(dumped(a, 2)).replace("\n", "\r\n"),
    "hard spaces for indentation": lambda n, a: dumped(a, 2).replace("\n  ", "\n\u00a0\u00a0"),
    "byte order mark": lambda n, a: "\ufeff" + dumped(a),
    "zero-width spaces at line ends": lambda n, a: dumped(a, 1).replace("\n", "\u200b\n"),
    "unicode escapes": lambda n, a: json.dumps(a, ensure_ascii=True),
    "json fence": lambda n, a: fenced(dumped(a, 2)),
    "bare fence": lambda n, a: fenced(dumped(a), ""),
    "fence of another language": lambda n, a: fenced(dumped(a), "javascript"),
    "tildes": lambda n, a: f"~~~json\n{dumped(a)}\n~~~",
    "fence never closed": lambda n, a: f"```json\n{dumped(a)}",
    "single backquotes": lambda n, a: f"`{dumped(a)}`",
    "preamble": lambda n, a: f"Sure! Here's the JSON you asked for:\n\n{fenced(dumped(a, 2))}",
    "preamble with a heading": lambda n, a: f"## Analysis\n**Answer** 👉\n{dumped(a)}",
    "afterword": lambda n, a: f"{dumped(a)}\n\nI hope this helps! Shall I {{go on}}?",
    "the word json before": lambda n, a: f"json\n{dumped(a)}",
    "draft, then the answer": lambda n, a: f"{fenced(draft(a))}\nOn reflection:\n{fenced(dumped(a))}",
    "contradicting drafts, the last one counts": lambda n, a: f"{draft(a)}\n{draft(a)}\n{dumped(a)}",
    "twice the same": lambda n, a: f"{dumped(a)}\n{dumped(a)}",
    "another object after it": lambda n, a: f'{dumped(a)}\nUsage: {{"calls": 1, "notes": null}}',
    "the schema before it": lambda n, a: f"{fenced(schema_of(n))}\n{fenced(dumped(a))}",
    "the schema after it": lambda n, a: f"{dumped(a)}\nIt fits {schema_of(n)}",
    "the form before it": lambda n, a: f"{answer_format(ROLES[n].answer)}\n\n{dumped(a)}",
    "thinking": lambda n, a: f"<think>\nLet me see. {{Not}} easy.\n</think>\n\n{dumped(a)}",
    "thinking in one line": lambda n, a: f"<think>ok</think>{dumped(a)}",
    "thinking with a draft": lambda n, a: f"<thinking>\nMaybe {draft(a)}\n</thinking>\n{dumped(a)}",
    "thinking without its first tag": lambda n, a: f"Perhaps {draft(a)}?\n</think>\n{dumped(a)}",
    "thinking after it": lambda n, a: f"{dumped(a)}\n<reflection>\nOr {draft(a)}?\n</reflection>",
    "answer tags": lambda n, a: f"<reasoning>It's {{so}}.</reasoning>\n<answer>\n{dumped(a)}\n</answer>",
    "channels": lambda n, a: (
        f"<|channel|>analysis<|message|>First {draft(a)}<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{dumped(a)}<|return|>"
    ),
    "end tokens": lambda n, a: f"<s>[/INST] {dumped(a)}</s><|im_end|>",
    "boxed": lambda n, a: f"\\boxed{{{dumped(a)}}}",
    "assigned": lambda n, a: f"const answer = {dumped(a, 2)};",
    "one brace too many at the end": lambda n, a: dumped(a) + "}",
    "braces around it": lambda n, a: "{" + dumped(a) + "}",
    "quotes around it": lambda n, a: f'"{dumped(a)}"',
    "encoded twice": lambda n, a: dumped(dumped(a)),
    "encoded three times": lambda n, a: dumped(dumped(dumped(a))),
    "line breaks inside texts": lambda n, a: dumped(a).replace("\\n", "\n"),
    "line breaks inside texts, fenced": lambda n, a: fenced(dumped(a).replace("\\n", "\n")),
    "quotes inside texts": lambda n, a: dumped(a).replace('\\"', '"'),
    "quotes inside texts, fenced": lambda n, a: fenced(dumped(a, 2).replace('\\"', '"')),
    "escaped underscores": lambda n, a: dumped(a).replace("_", "\\_"),
    "trailing commas": lambda n, a: written(a, last=","),
    "trailing commas on lines of their own": lambda n, a: written(a, comma=",\n", last="\n,"),
    "commas forgotten between lines": lambda n, a: written(a, comma="\n"),
    "one comma forgotten": lambda n, a: dumped(a, 1).replace(",\n", "\n", 1),
    "keys without quotes": lambda n, a: written(a, key=str),
    "keys in single quotes": lambda n, a: written(a, key=repr),
    "keys in camel case": lambda n, a: dumped(keys(a, camel)),
    "keys in capitals": lambda n, a: dumped(keys(a, str.upper)),
    "keys as words": lambda n, a: dumped(keys(a, lambda key: key.replace("_", " ").title())),
    "keys with hyphens": lambda n, a: dumped(keys(a, lambda key: key.replace("_", "-"))),
    "keys with spaces around": lambda n, a: dumped(keys(a, lambda key: f" {key} ")),
    "keys in bold": lambda n, a: dumped(keys(a, lambda key: f"**{key}**")),
    "keys in another order": lambda n, a: dumped(dict(reversed(a.items()))),
    "extra keys": lambda n, a: dumped({"confidence": 0.9, "explanation": "none", **a, "_meta": {"x": [1]}}),
    "the same key twice, the same value": lambda n, a: f"{dumped(a)[:-1]}, {dumped(a)[1:]}",
    "wrapped in answer": lambda n, a: dumped({"answer": a}),
    "wrapped in answer beside a thought": lambda n, a: dumped({"thought": "hm", "answer": a}),
    "wrapped in answer as text": lambda n, a: dumped({"answer": dumped(a)}),
    "wrapped in the role's name": lambda n, a: dumped({n: a}),
    "wrapped in a list": lambda n, a: dumped([a]),
    "wrapped in properties": lambda n, a: dumped({"properties": a}),
    "wrapped in an object's properties": lambda n, a: dumped({"type": "object", "properties": a}),
    "tool call": lambda n, a: calling(n, a),
    "tool call with arguments as text": lambda n, a: calling(n, dumped(a)),
    "tool call in tags": lambda n, a: f"<tool_call>\n{calling(n, a)}\n</tool_call>",
    "function tag": lambda n, a: f"<function={n}>{dumped(a)}</function>",
    "parameter tags": lambda n, a: (
        f'<invoke name="{n}"><parameter name="answer">{dumped(a)}</parameter></invoke>'
    ),
    "HTML entities in texts": lambda n, a: dumped(texts(a, lambda t: t.replace('"', "&quot;"))),
    "lists as text": lambda n, a: dumped({k: dumped(v) if isinstance(v, list) else v for k, v in a.items()}),
    "numbers as text": lambda n, a: numbers(a, str),
    "numbers with a point": lambda n, a: numbers(a, float),
    "numbers with a full stop": lambda n, a: numbers(a, lambda number: f" {number}. "),
    "yes and no": lambda n, a: truths(a, lambda truth: "Yes" if truth else "No."),
    "true and false as text": lambda n, a: truths(a, str),
    "one and zero": lambda n, a: truths(a, int),
    "choices in capitals": lambda n, a: choices(a, str.upper),
    "choices with underscores": lambda n, a: choices(a, lambda choice: f"{choice.replace(' ', '_')} "),
    "choices with punctuation": lambda n, a: choices(a, lambda choice: f"**{choice.capitalize()}**."),
    "null as text": lambda n, a: optional(n, a, "null"),
    "nothing as empty text": lambda n, a: optional(n, a, "  "),
    "none as text": lambda n, a: optional(n, a, "None."),
    "not applicable": lambda n, a: optional(n, a, "N/A"),
    "texts as lists of their lines": lambda n, a: dumped(
        {k: v.split("\n") if isinstance(v, str) and "\n" in v else v for k, v in a.items()}
    ),
    "numbers as the prompt writes them": lambda n, a: (
        numbers(a, lambda number: f"[{number}]") + numbers(a, lambda number: [number])
    ),
}
"""What has to be read, with exactly the right value."""


def cuts(text: str) -> list[str]:
    """A reply that broke off: at every tenth of it, and before the last character."""
    return [text[: len(text) * part // 10] for part in range(1, 10)] + [text[:-1]]


def without(answer: Fields, value: Any, kinds: type | tuple[type, ...] = object) -> list[str]:
    """The answer with each of its fields of a kind in turn replaced."""
    return [dumped({**answer, field: value}) for field, old in answer.items() if isinstance(old, kinds)]


def required(name: str, answer: Fields, value: Any, kind: type | tuple[type, ...] = (str, list)) -> list[str]:
    """The same for the fields that have to say something."""
    fields = ROLES[name].answer.model_fields
    optional = [field for field in answer if type(None) in get_args(fields[field].annotation)]
    told = {field: old for field, old in answer.items() if field not in optional}
    return [dumped({**answer, field: value}) for field, old in told.items() if isinstance(old, kind)]


def skeleton(name: str) -> Fields:
    found: Fields = json.loads(answer_format(ROLES[name].answer).partition("\n")[2])
    return found


def schemas(name: str) -> list[Any]:
    schema = json.loads(schema_of(name))
    bare = {key: value for key, value in schema.items() if key != "$defs"}
    return [schema, bare, schema["properties"], {"answer": schema}, [schema], {"schema": schema}]


REFUSED: dict[str, Make] = {
    "empty": lambda n, a: ["", " \n\t ", "\ufeff", "```json\n```", "<think>hm</think>", '""', '" "'],
    "nothing": lambda n, a: ["null", "{}", "[{}]", "undefined", "None", "…", "true", "42", fenced("{}")],
    "broken off": lambda n, a: cuts(dumped(a)),
    "broken off in a fence": lambda n, a: cuts(f"Here it is:\n```json\n{dumped(a, 2)}"),
    "broken off, yet the fence is closed": lambda n, a: [fenced(text) for text in cuts(dumped(a, 2))],
    "broken off with keys unquoted": lambda n, a: cuts(written(a, key=str)),
    "broken off in Python's form": lambda n, a: cuts(repr(a)),
    "broken off after a complete draft": lambda n, a: [f"{draft(a)}\n{t}" for t in cuts(dumped(a))],
    "broken off in thinking": lambda n, a: [f"<think>\nMaybe {dumped(a)}", f"<think>{dumped(a)} or so"],
    "refusal": lambda n, a: [
        "I'm sorry, but I can't help with that.",
        "As an AI language model, I cannot judge research.",
        "Unfortunately, I'm unable to do so {yet}.",
        fenced("I cannot assist with this request.", ""),
    ],
    "refusal as an object": lambda n, a: ['{"error": "I cannot do this"}', '{"refusal": true}'],
    "refusal in a text": lambda n, a: required(n, a, "I'm sorry, but I can't help with that.", str),
    "error of a server": lambda n, a: '{"error": {"message": "overloaded", "type": "server_error"}}',
    "prose": lambda n, a: ["The first is better, I think.", "1. one\n2. two\n3. three", "**queries**: a, b"],
    "Markdown list": lambda n, a: "\n".join(f"- **{key}**: 1. one, 2. two" for key in a),
    "XML": lambda n, a: "".join(f"<{key}><item>one</item></{key}>" for key in a),
    "YAML": lambda n, a: "\n".join(f"{key}: {key} of the answer" for key in a),
    "record of a language": lambda n, a: repr(ROLES[n].answer.model_validate(a)),
    "fields with equals signs": lambda n, a: f"{ROLES[n].answer.__name__}({', '.join(f'{k}=…' for k in a)})",
    "schema": lambda n, a: [dumped(schema) for schema in schemas(n)],
    "schema in a fence": lambda n, a: [fenced(dumped(schema, 2)) for schema in schemas(n)],
    "form": lambda n, a: [answer_format(ROLES[n].answer), dumped(skeleton(n))],
    "a field is missing": lambda n, a: [dumped({k: v for k, v in a.items() if k != key}) for key in a],
    "half of it in each of two objects": lambda n, a: [
        f"{dumped({k: a[k] for k in list(a)[:cut]})}\n{dumped({k: a[k] for k in list(a)[cut:]})}"
        for cut in range(1, len(a))
    ],
    "a field is null": lambda n, a: required(n, a, None),
    "a text is empty": lambda n, a: [
        reply for nothing in ("", "  \n", "null", "...") for reply in required(n, a, nothing, str)
    ],
    "all texts are placeholders": lambda n, a: [
        dumped(texts(a, always(form))) for form in ("...", "<text>", "string")
    ],
    "a text is an object": lambda n, a: without(a, {"text": "x"}, str),
    "a text is a list of objects": lambda n, a: without(a, [{"part": 1, "of": ["it"]}], str),
    "a text is a truth value": lambda n, a: without(a, True, str),
    "a list is a text": lambda n, a: without(a, "some text\nand more of it", list),
    "a list is a number": lambda n, a: without(a, 7, list),
    "a list is an object": lambda n, a: without(a, {"0": "x"}, list),
    "a list of nulls": lambda n, a: required(n, a, [None], list),
    "a list of lists": lambda n, a: without(a, [["x"]], list),
    "numbers in words": lambda n, a: numbers(a, lambda _: "two"),
    "numbers with halves": lambda n, a: numbers(a, lambda number: number + 0.5),
    "numbers that are none": lambda n, a: [
        t.replace('"@"', nan)
        for t in numbers(a, lambda _: "@")
        for nan in ("NaN", "Infinity", "'nan'", '"NaN"')
    ],
    "numbers of papers that nobody showed": lambda n, a: numbers(a, lambda number: number + 100),
    "numbers below zero": lambda n, a: numbers(a, lambda number: -1 - number),
    "truth values for numbers": lambda n, a: numbers(a, lambda _: True),
    "maybe": lambda n, a: [t for x in ("maybe", "partly", None, 2, 0.5, "") for t in truths(a, always(x))],
    "choices nobody offered": lambda n, a: [
        t
        for x in ("neither", "first | second | tie", "same or related", "", None, 1, ["first"])
        for t in choices(a, always(x))
    ],
    "the same key twice, different values": lambda n, a: [
        f'{{"{key}": "other", {dumped(a)[1:]}' for key in a
    ],
    "the same key in two spellings": lambda n, a: [
        dumped({key.title(): "other", key.upper(): a[key], **{k: v for k, v in a.items() if k != key}})
        for key in a
    ],
}
"""What has to be refused: there is no answer in it, or more than one reading."""


def replies(row: Make, name: str) -> list[str]:
    made = row(name, SAMPLES[name].answer)
    return [made] if isinstance(made, str) else made


def cases(table: Mapping[str, Make]) -> list[tuple[str, str]]:
    """Every row with every role that it applies to."""
    return [(row, name) for row, make in table.items() for name in sorted(NAMES) if replies(make, name)]


def taken(name: str, reply: str, finish_reason: str | None = "stop") -> Answer:
    """The typed answer as the door takes it: readable, and nothing for the role to complain of.

    Raises:
        Unreadable: there is none.
    """
    role = ROLES[name]
    answer: Answer = parse_answer(reply, role.answer, finish_reason)
    complaint = role.check(SAMPLES[name].inputs, answer) if role.check is not None else None
    if complaint is not None:
        raise UnreadableReply(complaint)
    return answer


@each_case("row, name", cases(READ))
def test_what_can_be_read_is_read_exactly(row: str, name: str) -> None:
    wanted = ROLES[name].answer.model_validate(SAMPLES[name].answer)
    for reply in replies(READ[row], name):
        assert taken(name, reply) == wanted, reply


@each_case("row, name", cases(REFUSED))
def test_what_is_no_answer_is_refused_with_a_reason(row: str, name: str) -> None:
    for reply in replies(REFUSED[row], name):
        with pytest.raises(UnreadableReply) as caught:
            pytest.fail(f"{reply}\nwas read as {taken(name, reply)!r}")
        assert caught.value.reason
        assert "\n" not in caught.value.reason


@each_case("finish_reason", ["length", "max_tokens", "content_filter"])
@each_case("name", sorted(NAMES))
def test_a_reply_that_was_stopped_short_is_refused_though_it_looks_whole(
    name: str, finish_reason: str
) -> None:
    with pytest.raises(UnreadableReply):
        taken(name, dumped(SAMPLES[name].answer), finish_reason)


# --- through the door ---------------------------------------------------------------------------


def door_to(chat: ScriptedChatModel, folder: Path) -> LLMClient:
    models = ModelRegistry(Settings(model="scripted", home=folder), HashEmbedder, {"scripted": chat})
    return LLMClient(models, CallLog("test", raw_folder=folder / "raw"))


@pytest.mark.parametrize("name", ["query_planner", "reader", "ideator", "idea_judge"])
@pytest.mark.parametrize(
    "row", ["thinking with a draft", "trailing commas", "tool call with arguments as text"]
)
async def test_the_door_takes_an_awkward_reply_at_once(name: str, row: str, tmp_path: Path) -> None:
    role, sample = ROLES[name], SAMPLES[name]
    chat = ScriptedChatModel(replies={name: replies(READ[row], name)})
    client = door_to(chat, tmp_path)
    assert await client.ask(role.call(sample.inputs)) == role.answer.model_validate(sample.answer)
    assert len(chat.calls) == 1
    await client.aclose()


@pytest.mark.parametrize("name", ["relevance_judge", "forecaster", "novelty_judge", "experiment_refiner"])
@pytest.mark.parametrize("row", ["empty", "broken off", "refusal", "schema", "a field is missing"])
async def test_the_door_gives_up_after_three_replies_and_keeps_them(
    name: str, row: str, tmp_path: Path
) -> None:
    role, sample = ROLES[name], SAMPLES[name]
    said = (replies(REFUSED[row], name) * MAX_TURNS)[:MAX_TURNS]
    chat = ScriptedChatModel(replies={name: list(said)})
    client = door_to(chat, tmp_path)
    with pytest.raises(UnreadableAnswer) as caught:
        await client.ask(role.call(sample.inputs))
    assert caught.value.raw == said
    assert str(caught.value).startswith(f"{name}: none of {MAX_TURNS} replies of scripted could be read")
    assert "\n" not in str(caught.value)
    kept = next((tmp_path / "raw").iterdir()).read_text(encoding="utf-8")
    assert all(reply in kept for reply in said)
    await client.aclose()


async def test_the_door_tells_a_role_what_was_wrong_and_takes_the_better_answer(tmp_path: Path) -> None:
    role, sample = ROLES["relevance_judge"], SAMPLES["relevance_judge"]
    beside = {**sample.answer["judgements"][0], "paper": 7}
    wrong = {**sample.answer, "judgements": [*sample.answer["judgements"], beside]}
    chat = ScriptedChatModel(replies={role.name: ["no idea", wrong, sample.answer]})
    client = door_to(chat, tmp_path)
    answer = await client.ask(role.call(sample.inputs))
    assert answer == role.answer.model_validate(sample.answer)
    last = [text for _, text in chat.calls[2].messages]
    assert "it contained no readable JSON object" in last[-3]
    assert last[-2] == json.dumps(wrong, ensure_ascii=False)
    assert "papers are numbered 0 to 2, got a judgement of 7" in last[-1]
    await client.aclose()
