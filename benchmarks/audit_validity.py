"""Whether the intervals of audits hold, and how narrow they are, on simulated judgments with any model.

    python benchmarks/audit_validity.py [--audits 2000] [--measures P@10 nDCG@10 ...] [--spread 1.8]
    python benchmarks/audit_validity.py --runs 5 [--audits 2000] [--spread 1.8]

A run has 30 % of its ranks unjudged on each of 25 topics. The chance of a document falls with its rank, and
varies by topic and document (a standard deviation of --spread in log odds). The audit's model has these
chances (right), the same ones dealt out at random (useless), or one less the chance (adverse). Each audit
judges up to 200 documents.

Prints, by measure and model, the share of audits whose 95 % interval *ever* missed the value (at most .05),
that of audits with evidence of 20 against the model, the shares that miss after 10 and 20 judgments, mean
widths after 10, 20, 50, 100 and 200, and the judgments until a width of .05 and .02. Below it the same with
documents drawn uniformly: by the same betting, and with the normal interval of Horvitz & Thompson, which
holds at one time only (*ever* is from the tenth judgment on). A row *at one time* has the judgments until
four standard errors of the design-based estimate are .05 and .02: about the least for any interval.

``--runs`` audits instead whether the leader of so many runs is the best by P@10: each of 150 documents is in
the top of a run with a chance of .4. Prints, by model, the share of audits in which the interval of *any*
difference ever missed (at most .05), that called a leader the best that is not, whose leader is the best, and
of these that were told, and the mean number of judgments until then.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool import parse_measure
from bayespool.auditing import Audit, Urn, Walk, confidence_sequence, foretell, walk
from bayespool.auditing.urns import TopicOfRun, envelope
from bayespool.measures import Measure, Normalized, Tally

FloatArray = npt.NDArray[np.float64]
MEASURES = ("P@10", "DCG@10", "RBP(p=0.8)@10", "nDCG@10", "AP@100")
MODELS = ("right", "useless", "adverse")
STAGES = (10, 20, 50, 100, 200)
EVIDENCE = 20.0  # which a martingale reaches in 5 % of the audits
GOALS = (0.05, 0.02)
N_TOPICS, DEEP, UNJUDGED, ELSEWHERE, N_DOCUMENTS = 25, 20, 0.3, 12, 150
EPS = 1e-9


def simulate(measure: Measure, model: str, spread: float, rng: np.random.Generator) -> tuple[Urn, Any, float]:
    """Documents of an audit, their relevance, and the true value."""
    n_ranks = max(measure.cutoff, DEEP)
    rank = np.arange(n_ranks)
    topic_effect = rng.normal(0, 1, (N_TOPICS, 1))
    log_odds = topic_effect - 0.5 - 0.7 * np.log1p(rank / 3) + rng.normal(0, spread, (N_TOPICS, n_ranks))
    chance = 1 / (1 + np.exp(-log_odds))
    relevant = rng.random(chance.shape) < chance
    is_open = rng.random(chance.shape) < UNJUDGED
    others = rng.poisson(ELSEWHERE, N_TOPICS)  # judged relevant documents that the run does not have
    believed = chance.copy()
    if model == "useless":
        believed[is_open] = rng.permutation(chance[is_open])
    if model == "adverse":
        believed = 1 - chance
    parts, truth = [], 0.0
    for t in range(N_TOPICS):
        judged = (relevant[t] & ~is_open[t]).astype(np.int16)
        document = np.flatnonzero(is_open[t])
        shallow = document < measure.cutoff
        tally = Tally(np.array([[judged.sum() + others[t]]]), (1,))
        ideal = np.arange(len(document)) if isinstance(measure, Normalized) else np.zeros(0, dtype=np.intp)
        tops = np.flatnonzero(shallow), document[shallow]
        topic = TopicOfRun(judged[: measure.cutoff], *tops, ideal, tally, believed[t, document])
        parts.append(envelope(measure, topic))
        full = relevant[t].astype(np.int16)
        whole = Tally(np.array([[full.sum() + others[t]]]), (1,))
        truth += float(measure.values(full[None, None, : measure.cutoff], whole).means()[0])
    low, high = (np.concatenate([getattr(p, name) for p in parts]) / N_TOPICS for name in ("low", "high"))
    used = (np.abs(low) > 0) | (np.abs(high) > 0)
    base_low, base_high = (
        sum(getattr(p, name) for p in parts) / N_TOPICS for name in ("base_low", "base_high")
    )
    low, high, m = low[used], high[used], believed[is_open][used]
    names = tuple(map(str, range(len(low))))
    ends = base_low + np.minimum(low, 0).sum(), base_high + np.maximum(high, 0).sum()
    limits = *ends, 0.0, 1.0, (0.0, 1.0)
    chances = (m, np.sqrt(m * (1 - m)), np.zeros(len(low)))
    urn = Urn(names, names, low, high, *chances, base_low, base_high, *limits)
    return urn, relevant[is_open][used].astype(float), truth / N_TOPICS


def uniformly(urn: Urn, worth: FloatArray, order: npt.NDArray[np.intp]) -> Walk:
    """The payoffs of documents drawn uniformly, without a model."""
    n, n_all = len(order), len(urn)
    ends = {}
    for name, c in (("low", urn.low), ("high", urn.high)):
        judged = np.cumsum(c[order] * worth[order])
        before = judged - c[order] * worth[order]
        n_open = n_all - np.arange(n)
        ends[name] = before + n_open * c[order] * worth[order]
        ends[f"{name}_end"] = before + n_open * (min(c.min(), 0.0) if name == "low" else max(c.max(), 0.0))
        extreme = np.minimum(c, 0.0) if name == "low" else np.maximum(c, 0.0)
        ends[f"{name}_rest"] = judged + extreme.sum() - np.cumsum(extreme[order])
    names = ("low", "low_end", "high", "high_end", "low_rest", "high_rest")
    return Walk(order, 1 / (n_all - np.arange(n)), *(ends[name] for name in names))


def normal_interval(
    urn: Urn, worth: FloatArray, order: npt.NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Horvitz & Thompson's normal interval of a uniform sample without replacement, after each step."""
    x, n = ((urn.low + urn.high) / 2 * worth)[order], np.arange(1, len(order) + 1)
    mean = np.cumsum(x) / n
    variance = np.maximum(np.cumsum(x**2) / n - mean**2, 0) * n / np.maximum(n - 1, 1)
    center = (urn.base_low + urn.base_high) / 2 + len(urn) * mean
    half = 1.96 * len(urn) * np.sqrt(variance / n * (1 - n / len(urn)))
    return center - half, center + half


def first(width: FloatArray, goal: float) -> int:
    """Judgments until a width."""
    found = np.flatnonzero(width <= goal)
    return int(found[0]) + 1 if len(found) else len(width)


def errors_of(walked: Walk, urn: Urn, truth: float) -> FloatArray:
    """Error of the design-based estimate after each of 200 steps (`bayespool.Audit.estimates`)."""
    n = len(walked.low)
    weight = 1.0 / np.arange(len(urn), len(urn) - n, -1.0) ** 2
    payoff = (urn.base_low + walked.low + urn.base_high + walked.high) / 2
    estimate = np.cumsum(weight * payoff) / np.cumsum(weight)
    within = np.clip(estimate, urn.base_low + walked.floor, urn.base_high + walked.ceiling)
    return np.pad(within - truth, (0, 200 - n))


def leaders(n_runs: int, n_audits: int, spread: float) -> None:
    """Audit the best of several runs, and print."""
    print("model ever_missed wrongly_best leader_best told judgments")
    for model in MODELS:
        rows = []
        for k in range(n_audits):
            rng = np.random.default_rng([k, n_runs])
            p = 1 / (1 + np.exp(-rng.normal(-0.5, spread, N_DOCUMENTS)))
            m = {"right": p, "useless": rng.permutation(p), "adverse": 1 - p}[model]
            relevance = (rng.random(N_DOCUMENTS) < p).astype(np.int64)
            places = (rng.random((n_runs, N_DOCUMENTS)) < 0.4) / (10 * N_TOPICS)
            places = places[np.argsort(-(places @ m), kind="stable")]
            used = (places[0] != places[1:]).any(axis=0)
            places, m, relevance = places[:, used], m[used], relevance[used]
            names = tuple(map(str, range(len(m))))
            common = (m, np.sqrt(m * (1 - m)), np.zeros(len(m)), 0.0, 0.0)
            urns = tuple(
                Urn(names, names, c, c, *common, float(np.minimum(c, 0).sum()), float(np.maximum(c, 0).sum()),
                    0.0, 1.0, (0.0, 1.0))
                for c in places[0] - places[1:]
            )  # fmt: skip
            found = Audit(urns, names[:n_runs], "P@10", relevance, np.arange(len(m)), k, 0.95, None, {})
            truth = (places[0] - places[1:]) @ relevance
            low, high = np.array([one.intervals for one in found.differences]).transpose(1, 0, 2)
            missed = (low > truth[:, None] + EPS).any() or (high < truth[:, None] - EPS).any()
            says = np.flatnonzero((low > EPS).all(axis=0))
            is_best = bool((truth > EPS).all())
            rows.append([missed, len(says) and not is_best, is_best, is_best and len(says) > 0,
                         says[0] + 1 if is_best and len(says) else np.nan])  # fmt: skip
        mean = np.nanmean(np.array(rows, dtype=float), axis=0)
        print(model, *(f"{x:.3f}" for x in mean[:3]), f"{mean[3] / mean[2]:.3f} {mean[4]:.0f}", flush=True)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=2000)
    parser.add_argument("--measures", nargs="+", default=MEASURES)
    parser.add_argument("--spread", type=float, default=1.8)
    parser.add_argument("--runs", type=int, default=1, help="audit whether the leader of so many is the best")
    asked = parser.parse_args()
    if asked.runs > 2:
        leaders(asked.runs, asked.audits, asked.spread)
        return
    heads = " ".join(f"w{s}" for s in STAGES)
    print(f"measure model draws_by documents ever_missed refuted miss10 miss20 {heads} to_05 to_02")
    for text in asked.measures:
        measure = parse_measure(text)
        for model in MODELS:
            rows: dict[str, list[list[float]]] = {"audit": [], "uniform": [], "normal": []}
            errors: dict[str, list[FloatArray]] = {"audit": [], "uniform": []}
            for k in range(asked.audits):
                rng = np.random.default_rng([k, len(text), ord(text[0])])
                urn, worth, truth = simulate(measure, model, asked.spread, rng)
                n = min(200, len(urn))
                walked = walk(urn.low, urn.high, urn.chance, worth, np.arange(n), rng.random(n))
                sum_of = (urn.least, urn.most, urn.base_low, urn.base_high, 0.95)
                evidence = foretell(urn, walked.documents, worth[walked.documents]).evidence.max()
                ends = {"audit": confidence_sequence(walked, *sum_of)}
                errors["audit"].append(errors_of(walked, urn, truth))
                if model == "right":
                    order = rng.permutation(len(urn))[:n]
                    by_chance = uniformly(urn, worth, order)
                    errors["uniform"].append(errors_of(by_chance, urn, truth))
                    ends["uniform"] = confidence_sequence(by_chance, *sum_of)
                    ends["normal"] = normal_interval(urn, worth, order)
                for name, (low, high) in ends.items():
                    missed = (low > truth + EPS) | (high < truth - EPS)
                    width = np.pad(high - low, (0, 200 - n), mode="edge")
                    ever = missed[9 if name == "normal" else 0 :].any()
                    refuted = evidence >= EVIDENCE if name == "audit" else np.nan
                    row = [len(urn), ever, refuted, missed[min(9, n - 1)], missed[min(19, n - 1)]]
                    row += [width[s - 1] for s in STAGES]
                    rows[name].append([*row, *(first(high - low, goal) for goal in GOALS)])
            for name, found in rows.items():
                if found:
                    mean = np.mean(found, axis=0)
                    cells = [f"{mean[0]:.0f}", *(f"{x:.3f}" for x in mean[1:-2])]
                    print(measure, model, name, *cells, *(f"{x:.0f}" for x in mean[-2:]), flush=True)
            for name, found_errors in errors.items():
                if found_errors:
                    width = 4 * np.sqrt(np.mean(np.square(found_errors), axis=0))
                    until = [int((width > goal).sum()) + 1 for goal in GOALS]
                    print(measure, model, name, "at_one_time", *until, flush=True)


if __name__ == "__main__":
    main()
