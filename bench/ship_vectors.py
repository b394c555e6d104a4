"""Make the vectors that ship with the package: starter papers, their sentences, names of research fields.

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
from ideagora.models.offline.text import sentences
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.hashing import paper_text as stored_text


def texts() -> list[str]:
    """Each text once: papers as the store and the offline model read them, their parts, names of fields."""
    papers = starter_corpus().papers
    read = [brief_text(paper_brief(paper)) for paper in papers]
    prototypes = [text for group in PROTOTYPES.values() for text in group]
    parts = [part for paper in papers for part in (paper.title, paper.abstract or paper.title)]
    every = [*map(stored_text, papers), *read, *parts, *[one for text in read for one in sentences(text)]]
    return list(dict.fromkeys([*every, *OTHER_FIELDS, *prototypes]))


def main() -> None:
    """Encode the texts and write the folder."""
    every = texts()
    rows = SentenceEmbedder(find_weights(MINILM)).encode(every).astype("<f4")
    write_vectors(SHIPPED, ((text_key(text), row.tobytes()) for text, row in zip(every, rows, strict=True)))
    print(f"{len(every)} vectors, {rows.nbytes / 2**20:.1f} MiB, in {SHIPPED.name}/")
