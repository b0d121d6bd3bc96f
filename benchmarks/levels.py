"""Which model of graded relevance predicts held-out organizations best?

    python benchmarks/levels.py COLLECTIONS [--nuts-draws 500]

COLLECTIONS is the folder of the unpacked collections. Models learn from hidden documents and their levels, 0
to K; rung k asks documents of level k − 1 or more whether they are of level k. All have the predictors of the
evidence model, effects of topics and organizations, and the priors of that model:

- A: cumulative logits, one set of slopes and effects (proportional odds), by NUTS; predictors at relevance 1,
  differences of cut points HalfNormal(2);
- B: continuation ratios, one set of slopes and effects, an intercept for each rung;
- C: continuation ratios, each rung a model of its own; the first is the binary model;
- D: as C, but all rungs have the predictors at relevance 1;
- E: as C, but the rungs share their effects of topics and organizations;
- F: as B, but all rungs have the predictors at relevance 1, which is nearly what A knows.

B, C and E have predictors conditional on the rung. Predictors are centered on the documents of each rung, and
have the same units on all. B to F by the Laplace engine.

Organizations are dealt out to five folds; each fold is predicted by fits to the others. Three tables in
Markdown. First, log predictive densities of the levels: jointly for all documents of an organization, which
share its new effect, and summed over single documents; differences to the best model with standard errors
over organizations; and the Monte Carlo error of the joint one, as if draws were independent. Second, the same
of relevance k or more as one binary event, also for the binary model fitted to that event directly. Third,
the share of hidden documents that climb a rung beside that of judged documents in the runs' top 10; their
ratio; hidden documents that climb over those expected if they were as the judged ones of the same run and
topic (matched); quartiles of the ratio over organizations of ten hidden documents and more; and the posterior
of the factor C of the interpolated model under a flat prior.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from at_hand import read
from scipy.special import logsumexp, ndtri
from scipy.stats import qmc

from bayespool import Collection
from bayespool.errors import BayespoolWarning
from bayespool.evidence import (
    DocumentTable,
    document_table,
    held_out_counts,
    hidden_document_table,
    judgment_counts,
)
from bayespool.inference import NUTS, Laplace
from bayespool.models import EVIDENCE_SLOPES, LinearEvidence, Structure, gather_documents, model_named
from bayespool.models.evidence import gather_evidence
from bayespool.models.priors import LOG_ODDS, SCALE, SLOPE
from bayespool.models.structure import Block, Coefficient, Group, LinearPredictor

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]

SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "trec2011-medical": ("Medical 2011", {}),
    "dl21-passage": ("DL 2021 passages", {"order": "rank"}),
    "covid-round4": ("COVID round 4", {}),
}
MODELS = ("A", "B", "C", "D", "E", "F")
CUTOFF = 30  # depth of the evidence
TOP = 10  # of the judged documents in the third table
N_FOLDS = 5
N_EFFECTS = 32  # of a new organization, for each draw
SEED = 1
GAP = 2.0  # scale of the differences of cut points


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="COLLECTIONS")
    parser.add_argument("--collections", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--nuts-draws", type=int, default=500, help="per chain of two, after as many to tune")
    parser.add_argument("--draws", type=int, default=2000, help="of the Laplace engine")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", BayespoolWarning)
    of_levels, of_events, of_factors = [], [], []
    for name in arguments.collections:
        title, options = SETTINGS[name]
        hidden = Hidden(read(arguments.folder / name, **options))
        counted = ", ".join(f"{n:,} of {k}" for k, n in enumerate(np.bincount(hidden.level)))
        title = f"{title}: {counted}"
        tell(title)
        of_factors += factors(hidden, title)
        levels, events = densities(hidden, arguments)
        of_levels += rows(levels, hidden.n_organizations, title)
        for k, event in events.items():
            of_events += rows(event, hidden.n_organizations, f"{title}: {k} or more")
    head = ["organizations", "below the best", "documents", "below the best", "Monte Carlo"]
    print(table(["hidden documents: of level", "model", *head], of_levels))
    print()
    print(table(["hidden documents: event", "model", *head], of_events))
    print()
    columns = ["hidden", "climb", "judged climb", "ratio", "matched", "quartiles over organizations", "C"]
    print(table(["", "rung", *columns], of_factors))


def tell(text: str) -> None:
    """A line of progress."""
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


def table(head: list[str], lines: list[list[str]]) -> str:
    """A table in Markdown, the first two columns to the left."""
    rule = ["---", "---", *["---:"] * (len(head) - 2)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


@dataclass(frozen=True, eq=False)
class Hidden:
    """The hidden documents of a collection with their levels, and the evidence of each rung.

    Attributes
    ----------
    collection : Collection
    """

    collection: Collection

    @cached_property
    def rungs(self) -> tuple[tuple[int, int], ...]:
        """What relevance is given, and what is asked for."""
        return tuple(pairwise((0, *self.collection.levels)))

    @cached_property
    def documents(self) -> DocumentTable:
        """All hidden documents, with predictors at relevance 1."""
        return hidden_document_table(self.collection, cutoff=CUTOFF, rel=self.rungs[0][1])

    @cached_property
    def level(self) -> IndexArray:
        """How many rungs each document has climbed."""
        relevance = self.collection.relevance[self.documents.pair]
        return np.sum([relevance >= rel for _, rel in self.rungs], axis=0)

    @cached_property
    def organization(self) -> IndexArray:
        """Of each document, as an index into the organizations of the evidence."""
        return self.evidence[0].organization.astype(np.intp)

    @property
    def n_organizations(self) -> int:
        """How many organizations have a pooled run."""
        return len(self.evidence[0].organizations)

    def table(self, given: int, rel: int) -> DocumentTable:
        """All hidden documents with predictors at this rung, whether or not they are asked."""
        all_of = self.documents
        values = document_table(
            self.collection,
            all_of.run,
            all_of.topic,
            all_of.rank,
            all_of.pair,
            depth=CUTOFF,
            rel=rel,
            given=given,
        )
        relevant = (self.collection.relevance[all_of.pair] >= rel).astype(np.int64)
        return dataclasses.replace(all_of, predictors=values, relevant=relevant)

    @cached_property
    def tables(self) -> tuple[DocumentTable, ...]:
        """The former for each rung."""
        return tuple(self.table(*rung) for rung in self.rungs)

    @cached_property
    def evidence(self) -> tuple[LinearEvidence, ...]:
        """Of the documents that each rung asks, with predictors conditional on the rung."""
        found = []
        for k, (given, rel) in enumerate(self.rungs):
            asked = hidden_document_table(self.collection, cutoff=CUTOFF, rel=rel, given=given)
            assert (asked.pair == self.documents.pair[self.level >= k]).all()
            found.append(gather_documents(self.collection, asked, EVIDENCE_SLOPES))
        return tuple(found)

    @cached_property
    def evidence_at_first(self) -> tuple[LinearEvidence, ...]:
        """The same with predictors at relevance 1."""
        found = []
        for k in range(len(self.rungs)):
            asked = self.level >= k
            chosen = {
                field.name: getattr(self.documents, field.name)[asked]
                for field in dataclasses.fields(self.documents)
                if field.name != "names"
            }
            chosen["relevant"] = (self.level[asked] > k).astype(np.int64)
            part = dataclasses.replace(self.documents, **chosen)
            found.append(gather_documents(self.collection, part, EVIDENCE_SLOPES))
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Part:
    """Draws of what a fit says of held-out documents, but for the new effect of their organization.

    Attributes
    ----------
    log_odds : tuple of ndarray of float, shape (draw, document)
        Of climbing each of its rungs; with ``cumulative``, of being that high.
    scale : ndarray of float, shape (draw,)
        Of the new effect, which all of them share.
    first : int
        Its first rung.
    cumulative : bool
    """

    log_odds: tuple[FloatArray, ...]
    scale: FloatArray
    first: int = 0
    cumulative: bool = False


def densities(
    hidden: Hidden, arguments: argparse.Namespace
) -> tuple[dict[str, FloatArray], dict[int, dict[str, FloatArray]]]:
    """Log predictive densities of levels by model, and of events by number of rungs and model; each of shape
    (3, organization): joint, summed over documents, squared Monte Carlo error of the joint one.
    """
    n = hidden.n_organizations
    tops = range(2, len(hidden.rungs) + 1)
    levels = {model: np.zeros((3, n)) for model in arguments.models}
    events = {k: {name: np.zeros((3, n)) for name in ("direct", *arguments.models)} for k in tops}
    for fold in range(N_FOLDS):
        kept = np.arange(n) % N_FOLDS != fold
        rows = np.flatnonzero(~kept[hidden.organization])
        start = time.perf_counter()
        for model in arguments.models:
            parts = predict(hidden, model, kept, rows, fold, arguments)
            for part in parts:
                levels[model] += score([part], level_density(part, hidden.level[rows]), hidden, rows)
            for k in tops:
                found = event_density(parts, k, hidden.level[rows] >= k)
                events[k][model] += score(parts, found, hidden, rows)
            tell(f"  fold {fold}, {model}: {time.perf_counter() - start:.0f} s")
        for k in tops:
            part = direct(hidden, hidden.rungs[k - 1][1], kept, rows, fold, arguments.draws)
            found = event_density([part], 1, hidden.level[rows] >= k)
            events[k]["direct"] += score([part], found, hidden, rows)
    return levels, events


Density = Callable[[slice, list[FloatArray], IndexArray], FloatArray]


def score(parts: list[Part], density: Density, hidden: Hidden, rows: IndexArray) -> FloatArray:
    """Joint log density, sum of log densities of documents, and squared Monte Carlo error, by organization.

    Each part has new effects of its own, on the points of a Sobol sequence, some for each draw.
    """
    n_draws = min(len(part.scale) for part in parts)
    n_points = n_draws * N_EFFECTS
    points = qmc.Sobol(len(parts), rng=SEED).random_base2(int(np.ceil(np.log2(n_points))))
    standard = ndtri(points.clip(1e-9, 1 - 1e-9))[np.random.default_rng(SEED).permutation(len(points))]
    standard = standard[:n_points].reshape(n_draws, N_EFFECTS, len(parts))
    found = np.zeros((3, hidden.n_organizations))
    for organization in np.unique(hidden.organization[rows]):
        mine = np.flatnonzero(hidden.organization[rows] == organization)
        joint = np.empty((n_draws, N_EFFECTS))
        single = np.zeros(len(mine))
        for chunk in (slice(i, i + 40) for i in range(0, n_draws, 40)):
            new = [part.scale[chunk, None] * standard[chunk, :, i] for i, part in enumerate(parts)]
            log_chance = density(chunk, new, mine)
            joint[chunk] = log_chance.sum(axis=2)
            single += np.exp(log_chance).sum(axis=(0, 1))
        by_draw = logsumexp(joint, axis=1)
        share = np.exp(by_draw - logsumexp(by_draw)) * n_draws
        found[0, organization] = logsumexp(joint) - np.log(joint.size)
        found[1, organization] = np.log(single / joint.size).sum()
        found[2, organization] = share.var() / n_draws
    return found


def level_density(part: Part, level: IndexArray) -> Density:
    """Log chance of the levels, as far as they are the part's rungs, shape (draw, effect, document)."""

    def density(chunk: slice, new: list[FloatArray], mine: IndexArray) -> FloatArray:
        total = np.zeros((*new[0].shape, len(mine)))
        if part.cumulative:
            reached = [np.zeros_like(total)]
            for log_odds in part.log_odds:
                reached.append(log_odds[chunk, None][:, :, mine] + new[0][:, :, None])
            for k in range(len(reached)):
                of_level = level[mine] == k
                above = reached[k + 1][:, :, of_level] if k + 1 < len(reached) else None
                total[:, :, of_level] = between(reached[k][:, :, of_level] if k else None, above)
            return total
        for i, log_odds in enumerate(part.log_odds):
            asked = np.flatnonzero(level[mine] >= part.first + i)
            sign = np.where(level[mine[asked]] > part.first + i, 1.0, -1.0)
            total[:, :, asked] += log_expit(
                sign * (log_odds[chunk, None][:, :, mine[asked]] + new[0][:, :, None])
            )
        return total

    return density


def event_density(parts: list[Part], k: int, happened: npt.NDArray[np.bool_]) -> Density:
    """Log chance of having climbed k rungs or not, shape (draw, effect, document)."""

    def density(chunk: slice, new: list[FloatArray], mine: IndexArray) -> FloatArray:
        log_chance = np.zeros((*new[0].shape, len(mine)))
        for part, effect in zip(parts, new, strict=True):
            for i, log_odds in enumerate(part.log_odds):
                counts = part.first + i == k - 1 if part.cumulative else part.first + i < k
                if counts:
                    log_chance += log_expit(log_odds[chunk, None][:, :, mine] + effect[:, :, None])
        of = happened[mine]
        log_chance[:, :, ~of] = np.log(-np.expm1(np.minimum(log_chance[:, :, ~of], -1e-12)))
        return log_chance

    return density


def log_expit(x: FloatArray) -> FloatArray:
    """Log of the logistic function."""
    found: FloatArray = -np.log1p(np.exp(np.minimum(-x, 700)))
    return found


def between(reached: FloatArray | None, above: FloatArray | None) -> FloatArray | float:
    """Log of the chance of being so high and no higher, from both log odds."""
    log_chance: FloatArray | float = 0.0
    if reached is not None:
        log_chance = log_chance + log_expit(reached)
    if above is not None:
        log_chance = log_chance + log_expit(-above)
    if reached is not None and above is not None:
        log_chance = log_chance + np.log(-np.expm1(np.minimum(above - reached, -1e-12)))
    return log_chance


def predict(
    hidden: Hidden,
    model: str,
    kept: npt.NDArray[np.bool_],
    rows: IndexArray,
    fold: int,
    arguments: argparse.Namespace,
) -> list[Part]:
    """What a model fitted to some organizations says of the other ones' documents."""
    if model == "A":
        return [cumulative(hidden, kept, rows, fold, arguments.nuts_draws)]
    evidence = hidden.evidence_at_first if model in "DF" else hidden.evidence
    seen = [one.of_organizations(kept) for one in evidence]
    tables = [hidden.documents] * len(seen) if model in "DF" else hidden.tables
    topic = hidden.documents.topic[rows]
    x = [one.standardize(table)[rows] for one, table in zip(evidence, tables, strict=True)]
    if model in "CD":
        parts = []
        for k, one in enumerate(seen):
            draws = laplace(model_named("evidence").structure(one), one.coords, fold, arguments.draws)
            parts.append(Part((log_odds(draws, topic, x[k]),), new_scale(draws, kept), k))
        return parts
    structure = sharing(seen) if model == "E" else stacked(seen)
    rungs = tuple(str(k + 1) for k in range(len(seen)))
    draws = laplace(structure, seen[0].coords | {"rung": rungs}, fold, arguments.draws)
    own = (
        [{"mu": draws[f"mu_{k}"], "beta": draws[f"beta_{k}"]} for k in range(len(seen))]
        if model == "E"
        else [{"mu": draws["rung_mu"][:, k]} for k in range(len(seen))]
    )
    found = tuple(log_odds(draws | mine, topic, x[k]) for k, mine in enumerate(own))
    return [Part(found, new_scale(draws, kept))]


def direct(
    hidden: Hidden, rel: int, kept: npt.NDArray[np.bool_], rows: IndexArray, fold: int, n_draws: int
) -> Part:
    """The binary model of documents of some relevance or more."""
    documents = hidden_document_table(hidden.collection, cutoff=CUTOFF, rel=rel)
    assert (documents.pair == hidden.documents.pair).all()
    evidence = gather_documents(hidden.collection, documents, EVIDENCE_SLOPES)
    seen = evidence.of_organizations(kept)
    draws = laplace(model_named("evidence").structure(seen), seen.coords, fold, n_draws)
    return Part((log_odds(draws, documents.topic[rows], evidence.predictors[rows]),), new_scale(draws, kept))


def laplace(structure: Structure, coords: dict[str, Any], fold: int, n_draws: int) -> dict[str, FloatArray]:
    """Draws by the Laplace engine: it asks a model for its structure, and the evidence for coordinates."""
    spec: Any = SimpleNamespace(structure=lambda *_: structure)
    evidence: Any = SimpleNamespace(coords=coords)
    fit = Laplace(draws=n_draws).fit(spec, evidence, SEED + fold)
    for problem in fit.diagnostics.problems:
        tell(f"    {problem}")
    return fit.draws()


def log_odds(draws: dict[str, FloatArray], topic: IndexArray, x: FloatArray) -> FloatArray:
    """Log odds without the effect of the organization, shape (draw, document)."""
    found: FloatArray = draws["mu"][:, None] + draws["topic_effect"][:, topic] + draws["beta"] @ x.T
    return found


def new_scale(draws: dict[str, FloatArray], kept: npt.NDArray[np.bool_]) -> FloatArray:
    """Standard deviation of a new organization's effect about the mean of those that were seen."""
    found: FloatArray = draws["sigma_organization"] * np.sqrt(1 + 1 / kept.sum())
    return found


def effects(one: LinearEvidence) -> dict[str, Group]:
    """The factors of all models."""
    return {
        "topic": Group(SCALE, len(one.query_ids), "topic"),
        "organization": Group(SCALE, len(one.organizations), "organization"),
    }


def stacked(seen: list[LinearEvidence]) -> Structure:
    """Models B and F: rungs one below the other, with an intercept each."""
    rung = np.repeat(np.arange(len(seen)), [len(one.topic) for one in seen])
    predictor = LinearPredictor(
        {"rung_mu": np.eye(len(seen))[rung], "beta": np.vstack([one.predictors for one in seen])},
        {
            "topic": np.concatenate([one.topic for one in seen]),
            "organization": np.concatenate([one.organization for one in seen]),
        },
    )
    successes = np.concatenate([one.n_hidden_relevant for one in seen])
    trials = np.concatenate([one.n_hidden for one in seen])
    slopes = Coefficient(SLOPE, len(seen[0].predictor_names), "predictor", shift=seen[0].expected)
    return Structure(
        {"rung_mu": Coefficient(LOG_ODDS, len(seen), "rung"), "beta": slopes},
        effects(seen[0]),
        (Block(successes, trials, (predictor,)),),
    )


def sharing(seen: list[LinearEvidence]) -> Structure:
    """Model E: rungs with intercepts and slopes of their own and common effects."""
    coefficients, blocks = {}, []
    for k, one in enumerate(seen):
        coefficients[f"mu_{k}"] = Coefficient(LOG_ODDS)
        coefficients[f"beta_{k}"] = Coefficient(
            SLOPE, len(one.predictor_names), "predictor", shift=one.expected
        )
        predictor = LinearPredictor(
            {f"mu_{k}": np.ones(len(one.topic)), f"beta_{k}": one.predictors},
            {"topic": one.topic, "organization": one.organization},
        )
        blocks.append(Block(one.n_hidden_relevant, one.n_hidden, (predictor,)))
    return Structure(coefficients, effects(seen[0]), tuple(blocks))


def cumulative(
    hidden: Hidden, kept: npt.NDArray[np.bool_], rows: IndexArray, fold: int, n_draws: int
) -> Part:
    """Model A."""
    import pymc as pm
    import pytensor.tensor as pt

    from bayespool.models.graphs import group_effect

    evidence = hidden.evidence[0]
    seen = evidence.of_organizations(kept)
    level = hidden.level[kept[hidden.organization]]
    n_rungs = len(hidden.rungs)
    with pm.Model(coords=seen.coords):
        mu = LOG_ODDS.variable("mu")
        gap = pm.HalfNormal("gap", GAP, shape=n_rungs - 1)
        beta = pm.Deterministic(
            "beta", seen.expected + seen.rotation @ pm.Normal("standard_beta", shape=len(seen.expected))
        )
        topic = group_effect("topic", SCALE, "topic", centered=False)
        organization = group_effect("organization", SCALE, "organization", centered=False)
        common = topic[seen.topic] + organization[seen.organization] + seen.predictors @ beta
        cut = pt.concatenate([mu[None], mu - pt.cumsum(gap)])
        for k in range(n_rungs + 1):
            of_level = np.flatnonzero(level == k)
            log_chance = 0.0
            if k > 0:
                log_chance -= pt.softplus(-(cut[k - 1] + common[of_level])).sum()
            if k < n_rungs:
                log_chance -= pt.softplus(cut[k] + common[of_level]).sum()
            if 0 < k < n_rungs:
                log_chance += len(of_level) * pt.log(-pt.expm1(-gap[k - 1]))
            pm.Potential(f"level_{k}", log_chance)
        engine = NUTS(draws=n_draws, tune=n_draws, chains=2, cores=1)
        fit = engine.compile(pm.modelcontext(None)).sample(random_seed=SEED + fold)
    for problem in fit.diagnostics.problems:
        tell(f"    {problem}")
    draws = fit.draws()
    first = log_odds(draws, hidden.documents.topic[rows], evidence.predictors[rows])
    below = np.cumsum(draws["gap"], axis=1)
    higher = (first - below[:, k, None] for k in range(n_rungs - 1))
    return Part((first, *higher), new_scale(draws, kept), cumulative=True)


def rows(found: dict[str, FloatArray], n_organizations: int, title: str) -> Iterator[list[str]]:
    """A row of the table for each model."""
    best = [max(found.values(), key=lambda one: one[kind].sum())[kind] for kind in (0, 1)]
    for i, (model, one) in enumerate(found.items()):
        cells = [title if i == 0 else "", model]
        for kind in (0, 1):
            less = one[kind] - best[kind]
            error = np.sqrt(n_organizations) * less.std(ddof=1)
            apart = f"{less.sum():.1f} ± {error:.1f}".replace("-", "−") if less.any() else "0"
            cells += [f"{one[kind].sum():.1f}".replace("-", "−"), apart]
        yield [*cells, f"{np.sqrt(one[2].sum()):.1f}"]


def factors(hidden: Hidden, title: str) -> Iterator[list[str]]:
    """A row for each rung: shares of hidden and of judged documents that climb it, and their ratio."""
    collection = hidden.collection
    for k, (given, rel) in enumerate(hidden.rungs):
        held_out = held_out_counts(collection, cutoffs=TOP, rel=rel, given=given)
        n, relevant = held_out.n_credited[:, :, 0], held_out.n_credited_relevant[:, :, 0]
        n_relevant = held_out.n_relevant[:, :, 0]
        judged = n_relevant + held_out.n_nonrelevant[:, :, 0]
        ours, theirs = relevant.sum() / n.sum(), n_relevant.sum() / judged.sum()
        matched = relevant.sum() / (n * (n_relevant + theirs) / (judged + 1)).sum()
        each = []
        for o in np.unique(held_out.organization):
            mine = held_out.organization == o
            if n[mine].sum() >= 10 and n_relevant[mine].any():
                share = n_relevant[mine].sum() / judged[mine].sum()
                each.append(relevant[mine].sum() / n[mine].sum() / share)
        low, middle, high = np.quantile(each, [0.25, 0.5, 0.75])
        nobody = judgment_counts(collection, [], cutoffs=TOP, rel=rel, given=given)
        evidence = gather_evidence(held_out, nobody, TOP)
        structure = model_named("interpolated").with_priors({"c": "Beta(1, 1)"}).structure(evidence)
        c = laplace(structure, evidence.coords, 0, 2000)["c"]
        yield [
            title if k == 0 else "",
            f"{rel} given {given}",
            f"{n.sum():,}",
            f"{ours:.2f}",
            f"{theirs:.2f}",
            f"{ours / theirs:.2f}",
            f"{matched:.2f}",
            f"{low:.2f}, {middle:.2f}, {high:.2f} ({len(each)})",
            f"{c.mean():.2f} ± {c.std():.2f}",
        ]


if __name__ == "__main__":
    main()
