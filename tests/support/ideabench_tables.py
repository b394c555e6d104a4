"""Figures of IdeaBench as published (arXiv 2411.02429, KDD 2025): Tables 1 to 4.

The tables of the eight domains, whose means Table 4 condenses, are not in the paper but in a notebook of the
authors' repository (data/idea_bench_topic_specific_results.ipynb).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

TARGETS, FILTERED_REFERENCES, RAW_REFERENCES = 2_374, 23_460, 29_408
"""Table 1."""
DOMAINS: Mapping[str, int] = {
    "Health & Medicine": 764,
    "Genetics & Molecular Biology": 760,
    "Environmental Sciences": 123,
    "Neuroscience & Cognitive Sciences": 248,
    "Technology & Engineering": 114,
    "Social & Behavioral Sciences": 181,
    "Materials Science": 55,
    "Public Health & Policy": 129,
}
"""Targets by domain (Table 2)."""
MEAN_FILTERED, MEAN_RAW = 9.882, 12.388
"""References per target (Table 3)."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "life": (
        "Health & Medicine",
        "Genetics & Molecular Biology",
        "Neuroscience & Cognitive Sciences",
        "Public Health & Policy",
    ),
    "physical": ("Environmental Sciences", "Materials Science"),
    "technology": ("Technology & Engineering", "Social & Behavioral Sciences"),
}
"""The domains of each category of Table 4 (section 4.2)."""


class Row(NamedTuple):
    """A row of Table 4."""

    category: str
    model: str
    resource: str
    similarity: float
    overlap: float
    novelty: float
    feasibility: float


TABLE_4: tuple[Row, ...] = (
    Row("life", "Llama 3.1 70B-Instruct", "low", 0.586, 4.805, 0.626, 0.141),
    Row("life", "Llama 3.1 70B-Instruct", "high", 0.600, 5.544, 0.599, 0.132),
    Row("life", "Llama 3.1 405B-Instruct", "low", 0.561, 5.206, 0.648, 0.119),
    Row("life", "Llama 3.1 405B-Instruct", "high", 0.584, 5.648, 0.689, 0.122),
    Row("life", "Gemini 1.5 Flash", "low", 0.603, 4.600, 0.440, 0.234),
    Row("life", "Gemini 1.5 Flash", "high", 0.608, 5.381, 0.581, 0.290),
    Row("life", "Gemini 1.5 Pro", "low", 0.620, 4.304, 0.508, 0.286),
    Row("life", "Gemini 1.5 Pro", "high", 0.630, 5.205, 0.652, 0.291),
    Row("life", "GPT-3.5 Turbo", "low", 0.640, 5.145, 0.409, 0.175),
    Row("life", "GPT-3.5 Turbo", "high", 0.646, 5.912, 0.211, 0.308),
    Row("life", "GPT-4o Mini", "low", 0.637, 4.943, 0.450, 0.148),
    Row("life", "GPT-4o Mini", "high", 0.649, 6.069, 0.535, 0.193),
    Row("life", "GPT-4o", "low", 0.619, 5.051, 0.623, 0.140),
    Row("life", "GPT-4o", "high", 0.627, 5.846, 0.777, 0.150),
    Row("physical", "Llama 3.1 70B-Instruct", "low", 0.578, 4.523, 0.602, 0.166),
    Row("physical", "Llama 3.1 70B-Instruct", "high", 0.584, 5.338, 0.575, 0.215),
    Row("physical", "Llama 3.1 405B-Instruct", "low", 0.547, 4.944, 0.621, 0.181),
    Row("physical", "Llama 3.1 405B-Instruct", "high", 0.566, 5.185, 0.655, 0.161),
    Row("physical", "Gemini 1.5 Flash", "low", 0.595, 4.343, 0.470, 0.251),
    Row("physical", "Gemini 1.5 Flash", "high", 0.598, 5.079, 0.558, 0.346),
    Row("physical", "Gemini 1.5 Pro", "low", 0.612, 4.000, 0.522, 0.408),
    Row("physical", "Gemini 1.5 Pro", "high", 0.623, 5.017, 0.634, 0.343),
    Row("physical", "GPT-3.5 Turbo", "low", 0.631, 4.787, 0.377, 0.228),
    Row("physical", "GPT-3.5 Turbo", "high", 0.638, 5.742, 0.092, 0.380),
    Row("physical", "GPT-4o Mini", "low", 0.632, 4.680, 0.420, 0.205),
    Row("physical", "GPT-4o Mini", "high", 0.640, 5.713, 0.494, 0.238),
    Row("physical", "GPT-4o", "low", 0.611, 4.961, 0.582, 0.161),
    Row("physical", "GPT-4o", "high", 0.615, 5.354, 0.697, 0.222),
    Row("technology", "Llama 3.1 70B-Instruct", "low", 0.585, 4.434, 0.619, 0.196),
    Row("technology", "Llama 3.1 70B-Instruct", "high", 0.593, 5.016, 0.640, 0.212),
    Row("technology", "Llama 3.1 405B-Instruct", "low", 0.547, 4.569, 0.657, 0.171),
    Row("technology", "Llama 3.1 405B-Instruct", "high", 0.564, 5.102, 0.606, 0.179),
    Row("technology", "Gemini 1.5 Flash", "low", 0.591, 4.384, 0.345, 0.285),
    Row("technology", "Gemini 1.5 Flash", "high", 0.594, 4.885, 0.489, 0.355),
    Row("technology", "Gemini 1.5 Pro", "low", 0.603, 3.775, 0.512, 0.367),
    Row("technology", "Gemini 1.5 Pro", "high", 0.613, 4.588, 0.614, 0.372),
    Row("technology", "GPT-3.5 Turbo", "low", 0.628, 4.698, 0.363, 0.261),
    Row("technology", "GPT-3.5 Turbo", "high", 0.636, 5.627, 0.198, 0.244),
    Row("technology", "GPT-4o Mini", "low", 0.627, 4.644, 0.431, 0.204),
    Row("technology", "GPT-4o Mini", "high", 0.634, 5.508, 0.502, 0.254),
    Row("technology", "GPT-4o", "low", 0.606, 4.831, 0.575, 0.155),
    Row("technology", "GPT-4o", "high", 0.609, 5.329, 0.735, 0.238),
)
