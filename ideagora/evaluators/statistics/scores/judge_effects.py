"""How harsh judges are: an additive model of ratings by least squares.

rating = quality of the subject + effect of the judge + error. Only subjects with several judges say anything
about the judges, so an agent's quality is not taken for its judges' mildness, whoever drew which judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def judge_effects(
    ratings: NDArray[np.float64], subjects: NDArray[np.int64], judges: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The effect of each judge (judges,), positive for a lenient one; 0 on average.

    Judges that no chain of common subjects connects are compared with their own group only, whose mean is 0.

    Args:
        ratings: one per answer (n,).
        subjects: what was rated, as numbers from 0 (n,).
        judges: who rated it, as numbers from 0 (n,).
    """
    count, subject_count = int(judges.max()) + 1, int(subjects.max()) + 1
    share = np.zeros((subject_count, count))
    np.add.at(share, (subjects, judges), 1.0)
    sizes = share.sum(axis=1)
    means = np.bincount(subjects, ratings, subject_count) / np.maximum(sizes, 1.0)
    # The normal equations of the judges once the subjects are eliminated: a weighted Laplacian.
    weighted = share / np.sqrt(np.maximum(sizes, 1.0))[:, None]
    laplacian = np.diag(share.sum(axis=0)) - weighted.T @ weighted
    right = np.bincount(judges, ratings - means[subjects], count)
    effects: NDArray[np.float64] = np.linalg.pinv(laplacian, hermitian=True) @ right
    return effects
