"""Idea files of The AI Scientist, first and second version.

The first version has one text per idea, ``Experiment``, on what is built and how it is tested. It becomes
the method and, split into steps, the experiment plan. Seed ideas, which people wrote for a template, come
first in the output. They are recognised by a missing ``novel``, or as the seeds of a released template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ideagora.importing.fields import (
    join_fields,
    json_as_text,
    numeric_fields,
    optional_text,
    parse_experiment,
    required_text,
)
from ideagora.importing.records import Format, ParsedIdea, ParsedItem, Row, catch_field_errors, read_each

TEMPLATE_SEEDS = {
    "adaptive_block_size": "Adaptive Block Size: Dynamic Context Window Adjustment for Efficient Training",
    "layerwise_learning_rates": "Layer-wise Learning Rate Adaptation: Optimizing Training Dynamics in "
    "Transformer Models",
    "learning_rate_schedule": "Adaptive Learning Rate Schedules: Comparing different learning rate schedules "
    "for diffusion models.",
    "batch_size_grokking": "Batch Size Grokking: Assessing the impact of the training batchsize on the "
    "grokking phenomenon",
    "threshold_behavioral_response_seir": "Modeling Threshold-Based Behavioral Responses in SEIR Dynamics",
    "perceptual_adaptive_training": "Perceptual Adaptive Training for Realistic Scene Generation",
    "regional_attention_lstm": "Regional Spatial Attention LSTM for Earthquake Prediction",
    "global_attention_cnn_lstm": "Global Attention CNN-LSTM for Enhanced Earthquake Prediction",
    "universal_inverted_bottleneck": "Implementing and Evaluating the Universal Inverted Bottleneck (UIB) "
    "Block",
    "latent_space_decorrelation": "Enhancing Sketch Diversity through Latent Space Decorrelation",
    "temporal_smoothing_loss": "Enhancing Sketch Generation with Temporal Smoothing Loss",
    "attention_mechanism": "Enhancing Sketch Generation with Attention Mechanism",
    "number of interactions": "How Stability of MD Trajectory Depends on Number of Interactions Accounted in "
    "Equivariant Models.",
    "cut off radius and molecule size": "Automatic Cut Off Radius for Equivariant Neural Networks",
    "demean": "Demeaning the probes",
}
"""Name and title of the seed ideas in the templates of SakanaAI/AI-Scientist.
Releases have them checked for novelty too, so that nothing else tells them from the agent's own."""

RATINGS = ("Interestingness", "Feasibility", "Novelty", "novel")


def of_first_version(row: Row) -> ParsedIdea:
    """Return an idea with ``Title`` and ``Experiment`` (and ``Motivation``, for AI Idea Bench 2025)."""
    plan = json_as_text(row.value.get("Experiment"))
    return ParsedIdea(
        row=row,
        title=required_text(row.value, "Title"),
        motivation=optional_text(row.value, "Motivation"),
        method=plan or required_text(row.value, "Experiment"),
        experiment=parse_experiment(row.value.get("Experiment")),
        scores=numeric_fields(row.value, *RATINGS),
        notes={"method_from": "Experiment"},
        is_seed=TEMPLATE_SEEDS.get(str(row.value.get("Name"))) == row.value.get("Title"),
    )


def _is_first(value: Mapping[str, Any]) -> bool:
    return {"Name", "Title", "Experiment"} <= value.keys() and "Short Hypothesis" not in value


def _read_first(rows: Iterable[Row]) -> Iterator[ParsedItem]:
    all_rows = list(rows)
    is_run = any("novel" in row.value for row in all_rows)
    for row in all_rows:
        is_seed = is_run and "novel" not in row.value
        yield from catch_field_errors(lambda row, is_seed=is_seed: [_first_version(row, is_seed)], row)


def _first_version(row: Row, is_seed: bool) -> ParsedIdea:
    idea = of_first_version(row)
    return replace(idea, is_seed=idea.is_seed or is_seed)


def _is_second(value: Mapping[str, Any]) -> bool:
    return {"Title", "Short Hypothesis"} <= value.keys()


def _read_second(row: Row) -> Iterator[ParsedIdea]:
    yield ParsedIdea(
        row=row,
        title=required_text(row.value, "Title"),
        novelty=json_as_text(row.value.get("Related Work")),
        method=join_fields(row.value, "Short Hypothesis", "Abstract"),
        summary=optional_text(row.value, "Short Hypothesis"),
        experiment=parse_experiment(
            row.value.get("Experiments"), risks=row.value.get("Risk Factors and Limitations")
        ),
        scores=numeric_fields(row.value, *RATINGS),
        notes={"method_from": "Short Hypothesis, Abstract", "novelty_from": "Related Work"},
    )


FORMATS = (
    Format(
        name="ai-scientist",
        about="The AI Scientist: ideas.json of a template",
        looks_for="'Name', 'Title' and 'Experiment'",
        matches=_is_first,
        read=_read_first,
    ),
    Format(
        name="ai-scientist-v2",
        about="The AI Scientist v2: ideas from its ideation step",
        looks_for="'Title' and 'Short Hypothesis'",
        matches=_is_second,
        read=read_each(_read_second),
    ),
)
