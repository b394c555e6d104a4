"""Records shared by all packages: frozen pydantic models that can be part of a graph's state.

A missing value is ``None``, or an empty list if the source explicitly has none; never a default that could
be mistaken for a measurement.
"""

from __future__ import annotations

from ideagora.schema.base import Record, last_day, stable_id
from ideagora.schema.chain import (
    FAR_FROM_TOPIC,
    Chain,
    ConsideredLimitation,
    ConsideredPairing,
    Direction,
    Link,
    Transition,
)
from ideagora.schema.experiment import Experiment
from ideagora.schema.idea import Candidate, Comparison, Idea, IdeaParent, Lineage, Rating, Source
from ideagora.schema.literature import Entity, Paper, Reading, ScoredPaper
from ideagora.schema.novelty import ClosestPaper, DroppedDraft, NoveltyCheck, Recollection, RememberedWork
from ideagora.schema.serialized import Serialized, deserialize, serialize
from ideagora.schema.topic import AVOIDED_SOURCE, OWN_SOURCE, Steering, Topic
from ideagora.schema.usage import Usage
from ideagora.schema.verdict import GRADED, PROBABILITIES, Verdict

__all__ = [
    "AVOIDED_SOURCE",
    "FAR_FROM_TOPIC",
    "GRADED",
    "OWN_SOURCE",
    "PROBABILITIES",
    "Candidate",
    "Chain",
    "ClosestPaper",
    "Comparison",
    "ConsideredLimitation",
    "ConsideredPairing",
    "Direction",
    "DroppedDraft",
    "Entity",
    "Experiment",
    "Idea",
    "IdeaParent",
    "Lineage",
    "Link",
    "NoveltyCheck",
    "Paper",
    "Rating",
    "Reading",
    "Recollection",
    "Record",
    "RememberedWork",
    "ScoredPaper",
    "Serialized",
    "Source",
    "Steering",
    "Topic",
    "Transition",
    "Usage",
    "Verdict",
    "deserialize",
    "last_day",
    "serialize",
    "stable_id",
]
