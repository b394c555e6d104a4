"""Make the vectors that ship with the package: starter papers and names of research fields.

Writes ``ideagora/models/embeddings/shipped/``. Run it again after a change of the starter corpus
or of the texts below; a text without a shipped vector is encoded when it is needed.
"""

from __future__ import annotations

from ideagora.agents.literature import paper_text as brief_text
from ideagora.agents.views import paper_brief
from ideagora.models.embeddings.embedder import text_key
from ideagora.models.embeddings.sentence_embedder import SentenceEmbedder
from ideagora.models.embeddings.vector_files import SHIPPED, write_vectors
from ideagora.models.embeddings.weights import MINILM, find_weights
from ideagora.models.offline.extractive_model import PROTOTYPES
from ideagora.models.offline.research_fields import OTHER_FIELDS
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.hashing import paper_text as stored_text


def texts() -> list[str]:
    """Each text once: papers as the store and the offline model read them, abstracts, names of fields."""
    papers = starter_corpus().papers
    read = [text for paper in papers for text in (stored_text(paper), brief_text(paper_brief(paper)))]
    abstracts = [paper.abstract for paper in papers if paper.abstract]
    prototypes = [text for group in PROTOTYPES.values() for text in group]
    return list(dict.fromkeys([*read, *abstracts, *OTHER_FIELDS, *prototypes]))


def main() -> None:
    """Encode the texts and write the folder."""
    every = texts()
    rows = SentenceEmbedder(find_weights(MINILM)).encode(every).astype("<f4")
    write_vectors(SHIPPED, ((text_key(text), row.tobytes()) for text, row in zip(every, rows, strict=True)))
    print(f"{len(every)} vectors, {rows.nbytes / 2**20:.1f} MiB, in {SHIPPED.name}/")
