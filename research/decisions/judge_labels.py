"""Human labels until a judge's agreement is known to ±.05: documents drawn by `audit_judges`, and at random.

    python research/decisions/judge_labels.py [--repetitions 50]

DL 2021, whose judged documents people judge as the qrels say. The interval of random choice is of the same
kind: bets against each value of the share of labels that agree, without replacement, of the size that is best
for ±.05. The share of repetitions whose interval ever missed the true agreement stands behind the labels.
"""

from __future__ import annotations

import argparse

import numpy as np
from shared import place

from bayespool import audit_judges
from bayespool.reading import Labels, Qrels, read_labels, read_qrels

LOG, MARGIN, GRID = np.log(40), 0.05, np.linspace(0, 1, 401)


def random_choice(agrees: np.ndarray, seed: int) -> tuple[int, bool]:
    """Number of random documents until all judges' intervals are narrow, and whether one missed.

    ``agrees``: shape (judge, document).
    """
    rng, n = np.random.default_rng(seed), agrees.shape[1]
    order = rng.permutation(n)
    capital = np.ones((2, len(agrees), len(GRID)))
    left = np.ones(capital.shape[1:], dtype=bool)
    truth, missed = agrees.mean(axis=1), False
    for step, k in enumerate(order):
        seen = agrees[:, order[:step]].sum(axis=1)[:, None]
        share = (seen + 7) / (step + 10)
        horizon = max(2 * LOG * (share * (1 - share)).max() / MARGIN**2, step + 1)
        mean = np.clip((n * GRID - seen) / (n - step), 1e-9, 1 - 1e-9)  # of what is left, by the candidate
        bet = np.sqrt(2 * LOG / (share * (1 - share) * horizon))
        gain = agrees[:, k][:, None] - mean
        capital[0] *= 1 + np.minimum(bet, 0.9 / mean) * gain
        capital[1] *= 1 - np.minimum(bet, 0.9 / (1 - mean)) * gain
        left &= capital.max(axis=0) < 40
        lower = GRID[np.maximum(left.argmax(axis=1) - 1, 0)]
        upper = GRID[np.minimum(len(GRID) - left[:, ::-1].argmax(axis=1), len(GRID) - 1)]
        missed |= bool(((truth < lower) | (truth > upper)).any())
        if (upper - lower).max() <= 2 * MARGIN:
            return step + 1, missed
    return n, missed


def by_design(
    labels: dict[str, Labels], people: Qrels, rel: int, truth: np.ndarray, seed: int
) -> tuple[int, bool]:
    """Number of documents that are drawn until all intervals are narrow, and whether one missed."""
    audited = audit_judges(labels, people, f"P(rel={rel})@10", random_seed=seed)
    lower, upper = (
        audited.steps[f"agreement_{end}"].to_numpy().reshape(-1, len(labels)) for end in ("lower", "upper")
    )
    return audited.n_judged, bool(((truth < lower) | (truth > upper)).any())


def by_pair(lines: Labels | Qrels, values: np.ndarray) -> dict[tuple[str, str], float]:
    """Values by topic and document."""
    pairs = zip(lines.query_id.to_pylist(), lines.doc_id.to_pylist(), strict=True)
    return dict(zip(pairs, values.tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=50)
    folder, seeds = place("dl21-passage"), range(1, parser.parse_args().repetitions + 1)
    labels = {file.stem: read_labels(file) for file in sorted((folder / "judges").iterdir())}
    people = read_qrels(folder / "qrels.txt")
    judged = by_pair(people, people.relevance)
    print("level  judge             random        drawn by audit_judges")
    for rel in (1, 2, 3):
        for names in (*((name,) for name in labels), tuple(labels)):
            given = {name: labels[name] for name in names}
            values = [by_pair(one, one.label) for one in given.values()]
            pairs = [pair for pair in values[0] if all(pair in one for one in values)]
            relevant = np.array([judged[pair] >= rel for pair in pairs])
            says = [np.array([one[pair] for pair in pairs]) for one in values]
            agrees = np.array([(x >= (rel if x.max() > 1 else 1)) == relevant for x in says])
            truth = agrees.mean(axis=1)
            arms = [
                [random_choice(agrees, seed) for seed in seeds],
                [by_design(given, people, rel, truth, seed) for seed in seeds],
            ]
            means = [np.mean(arm, axis=0) for arm in arms]
            name = names[0] if len(names) == 1 else "all three"
            print(
                f"{rel}      {name:<16}",
                *(f"{labels_needed:5.0f} ({missed:.2f})" for labels_needed, missed in means),
                f" {means[1][0] / means[0][0]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
