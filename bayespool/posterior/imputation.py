"""From draws of a model to completed judgments: one relevance per unjudged document and draw."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayespool.compiled import compiled

__all__ = ["LogOdds", "impute", "new_organization_effect"]

_CHUNK = 2**24  # (draw, document) log odds held at a time


class LogOdds(Protocol):
    """Draws of log odds, as many as its length says, of which a slice is an array; an array is one.

    Draws × documents may be more than fits into memory. Slices are taken once each, from the first draw on,
    with a start; what is drawn in them may depend on where they begin.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, draws: slice, /) -> npt.NDArray[np.float64]: ...


def new_organization_effect(
    sigma: npt.NDArray[np.float64],
    n_organizations: int,
    organization: npt.NDArray[Any],
    rng: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Effects of organizations outside the evidence, drawn, never zero; shape (draw, run).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of the standard deviation between organizations.
    n_organizations : int
        How many organizations the intercept is the mean of: their mean is off the population's by σ/√J. 0
        without evidence, when the intercept is the population's.
    organization : ndarray of int, shape (run,)
        Runs with one number share one effect.
    rng : numpy.random.Generator
    """
    distinct, inverse = np.unique(organization, return_inverse=True)
    scale = sigma * np.sqrt(1 + (1 / n_organizations if n_organizations else 0))
    effect: npt.NDArray[np.float64] = (scale[:, None] * rng.normal(size=(len(sigma), len(distinct))))[
        :, inverse
    ]
    return effect


def impute(
    n_relevant: npt.NDArray[np.int32],
    documents: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.int32]],
    log_odds: LogOdds,
    rng: np.random.Generator,
) -> npt.NDArray[np.int32]:
    """Draws of the number of relevant documents in the top n, one relevance per unjudged (topic, document)
    and draw.

    Parameters
    ----------
    n_relevant : ndarray of int32, shape (run, topic)
        Judged relevant documents in the top n.
    documents : tuple of ndarray
        Run, topic and pair of each unjudged document, in the order of `bayespool.counts.unjudged_documents`.
    log_odds : ndarray of float or LogOdds, shape (draw, run, topic) or (draw, document)
        Log odds that an unjudged document is relevant, by its run and topic or for each entry of
        ``documents``; a document of several runs has the mean of theirs.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int32, shape (draw, run, topic)
        Between ``n_relevant`` and ``n_relevant`` plus the number of unjudged documents, always.
    """
    run, topic, pair = documents
    completed = np.repeat(n_relevant[None].astype(np.int32), len(log_odds), axis=0)
    if len(pair) == 0:
        return completed
    _, document, n_runs = np.unique(pair, return_inverse=True, return_counts=True)
    begins = np.append(True, (run[1:] != run[:-1]) | (topic[1:] != topic[:-1]))
    cell, cell_start = np.cumsum(begins) - 1, np.flatnonzero(begins)
    step = max(1, _CHUNK // len(pair))
    for first in range(0, len(log_odds), step):
        part = log_odds[first : first + step]
        if part.ndim == 3:
            part = part[:, run, topic]
        noise = rng.logistic(size=(len(part), len(n_runs)))
        n_found = np.zeros((len(part), len(cell_start)), dtype=np.int32)
        _count_relevant(part, noise, document, n_runs, cell, n_found)
        completed[first : first + step, run[cell_start], topic[cell_start]] += n_found
    return completed


@compiled
def _count_relevant(
    log_odds: npt.NDArray[np.float64],
    noise: npt.NDArray[np.float64],
    document: npt.NDArray[np.intp],
    n_runs: npt.NDArray[np.intp],
    cell: npt.NDArray[np.intp],
    n_found: npt.NDArray[np.int32],
) -> None:
    """Count the documents whose mean log odds over their runs exceed the noise, draw by draw and cell;
    compiled, because gathers in numpy take several times as long.
    """
    mean = np.empty(len(n_runs))
    for i in range(len(log_odds)):
        mean[:] = 0.0
        for j in range(len(document)):
            mean[document[j]] += log_odds[i, j]
        for d in range(len(n_runs)):
            mean[d] /= n_runs[d]
        for j in range(len(document)):
            if noise[i, document[j]] < mean[document[j]]:
                n_found[i, cell[j]] += 1
