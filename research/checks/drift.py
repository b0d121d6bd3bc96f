"""Drift of a judge: is a verdict ever wrong too often, and how soon is a change found?

    python -m research.checks.drift --streams 2000

Each stream has anchors in random order, with people's answers and labels of two dates, and topics with ten
documents of each date beside them. Verdicts are those of `bayespool.auditing.detect_drift`: on the judge
after each anchor, on the system after each tenth of anchors and topics. A verdict is wrong where the other
one, or none, is right; so is *better* where labels are worse.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayespool.auditing import judge_evidence, system_evidence

N_LOOKS, N_DOCUMENTS = 10, 10
NEEDED = np.log(40)  # at 95 %


@dataclass(frozen=True)
class Stream:
    """What a stream is simulated from.

    ``errors``: shares of relevant and other documents that the judge labels wrong at first. ``noise``: share
    of labels that differ when it is asked again. ``fall``: by which κ falls, as the later judge errs more;
    ``otherwise``: share of anchors that change toward people meanwhile. ``shift``: change of the share of
    relevant documents beside the anchors.
    """

    errors: tuple[float, float] = (0.2, 0.1)
    noise: float = 0.01
    fall: float = 0.0
    otherwise: float = 0.0
    shift: float = 0.0
    relevant: float = 0.3
    relevant_anchors: float = 0.3
    asked_twice: bool = False


NULLS = {
    "the same": Stream(),
    "the same, asked twice, noise 10 %": Stream(noise=0.1, asked_twice=True),
    "the same, few relevant": Stream(relevant=0.1, relevant_anchors=0.1),
    "judge changes, not the system": Stream(fall=0.1, otherwise=0.01),
    "judge changes by less, half of the anchors relevant": Stream(fall=0.05, relevant_anchors=0.5),
    "system changes, not the judge": Stream(shift=0.1),
}
POWER = {
    f"κ falls by .1, {otherwise:.0%} otherwise{', asked twice' * twice}": Stream(
        fall=0.1, otherwise=otherwise, noise=0.0, asked_twice=twice
    )
    for twice in (False, True)
    for otherwise in (0.0, 0.01, 0.05)
} | {"relevant + 20%": Stream(shift=0.2)}


def kappa(says: np.ndarray, relevant: np.ndarray) -> float:
    """Return Cohen's κ."""
    by_chance = says.mean() * relevant.mean() + (1 - says.mean()) * (1 - relevant.mean())
    return float(((says == relevant).mean() - by_chance) / (1 - by_chance))


def flip_shares(stream: Stream) -> tuple[float, float]:
    """Return the shares of right and wrong labels that change, so that κ of anchors falls as asked."""
    rng = np.random.default_rng(0)
    y = np.arange(200_000) < 200_000 * stream.relevant_anchors
    first = np.where(rng.random(len(y)) < np.where(y, *stream.errors), ~y, y)
    is_right, u = first == y, rng.random(len(y))
    toward = stream.otherwise / (~is_right).mean()

    def fallen(away: float) -> float:
        later = np.where(u < np.where(is_right, away, toward), ~first, first)
        return kappa(first, y) - kappa(later, y)

    low, high = 0.0, 0.6
    for _ in range(40):
        low, high = (
            ((low + high) / 2, high) if fallen((low + high) / 2) < stream.fall else (low, (low + high) / 2)
        )
    return low if stream.fall else 0.0, toward


def ask(stream: Stream, flips: tuple[float, float], seed: int, n: int, n_topics: int) -> dict[str, float]:
    """Return when verdicts are first given, in anchors; infinite for never."""
    rng = np.random.default_rng(seed)

    def label(y: np.ndarray) -> np.ndarray:
        return np.where(rng.random(y.shape) < np.where(y, *stream.errors), ~y, y)

    def asked_again(says: np.ndarray) -> np.ndarray:  # each of two has half of the noise
        return np.where(rng.random(says.shape) < stream.noise / 2, ~says, says)

    def changed(says: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(rng.random(y.shape) < np.where(says == y, *flips), ~says, says)

    y = rng.random(n) < stream.relevant_anchors
    first = label(y)
    later, *dates = (asked_again(says) for says in (changed(first, y), first, first))
    again = dates[1] if stream.asked_twice else None
    evidence = judge_evidence(y, dates[0], later, again, repeat_rate=max(stream.noise, 0.01))
    found = {}
    for name, log in evidence.items():
        at = np.flatnonzero(log >= NEEDED + np.log(1 if name == "judge" else 2))
        found[name] = at[0] + 1 if len(at) else np.inf
    for name in ("worse", "better"):  # said of a judge that changed alone
        found[name] = max(found[name], found["judge"])
    rate = rng.normal(stream.relevant, 0.1, (n_topics, 1))
    beside = [rng.random((n_topics, N_DOCUMENTS)) < rate + shift for shift in (0.0, stream.shift)]
    says = [asked_again(label(beside[0])), asked_again(changed(label(beside[1]), beside[1]))]
    change, moved = says[1].mean(axis=1) - says[0].mean(axis=1), later * 1.0 - dates[0]
    found["system"] = np.inf
    for look in range(1, N_LOOKS + 1):
        m, t = n * look // N_LOOKS, n_topics * look // N_LOOKS
        if evidence["judge"][m - 1] < NEEDED <= system_evidence(moved[:m], change[:t]):
            found["system"] = m
            break
    return found


def ask_streams(stream: Stream, n_streams: int, n: int, n_topics: int) -> pd.DataFrame:
    """Return when verdicts are first given, a row for each stream."""
    flips = flip_shares(stream)
    return pd.DataFrame([ask(stream, flips, seed, n, n_topics) for seed in range(n_streams)])


def is_wrong(stream: Stream, found: pd.DataFrame) -> pd.Series:
    """Return in which streams a verdict is ever wrong."""
    judge = np.isfinite(found["better"] if stream.fall else found["judge"])
    return judge if stream.shift else judge | np.isfinite(found["system"])


def summarize(n_streams: int, n: int = 300, n_topics: int = 100) -> pd.DataFrame:
    """Return shares of streams with a wrong verdict, and with each verdict, by what is simulated."""
    rows = []
    for what, stream in [*NULLS.items(), *POWER.items()]:
        found = ask_streams(stream, n_streams, n, n_topics)
        said = {name: np.isfinite(found[name]).mean() for name in ("judge", "worse", "system")}
        median = found["judge"].quantile(0.5, interpolation="lower")
        rows.append(
            {
                "stream": what,
                "ever wrong": is_wrong(stream, found).mean(),
                **said,
                "judge: median anchor": median,
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Print how often verdicts are wrong, and found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--anchors", type=int, default=300)
    parser.add_argument("--topics", type=int, default=100)
    asked = parser.parse_args()
    print(summarize(asked.streams, asked.anchors, asked.topics).round(4).to_string(index=False))


if __name__ == "__main__":
    main()
