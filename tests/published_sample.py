"""A small stratified sample and a run, and what published tools print for them.

The figures are of NIST's sample_eval.pl and Pavlu's statAP_MQ_eval (versions 3 and 4), run by Perl on these
lines with twelve decimals.
"""

from __future__ import annotations

from pathlib import Path

INF_AP = (0.152778124995, 0.485714000009, 0.457821170127)
INF_NDCG = (0.352654242909, 1.164638662905, 0.852896032904)
STAT_AP = (0.044444444444, 0.321428571429, 0.404081632653)


def write_sample(folder: Path) -> tuple[Path, Path, Path]:
    """Write qrels of five columns, prels and a run of three topics of 24 documents."""
    qrels, prels, run = [], [], []
    for t in (1, 2, 3):
        for i in range(24):
            stratum = 1 if i < 4 else 2 if i < 12 else 3
            relevance = (2, 0, 1, 1, 0, 2, 0)[(i * t + t) % 7]
            sampled = stratum == 1 or (i * 5 + t) % (2, 5)[stratum - 2] == 0
            qrels.append(f"{t} 0 d{i:02d} {stratum} {relevance if sampled else -1}\n")
            if sampled:
                probability = (1.0, 0.5, 0.2)[stratum - 1]
                prels.append(f"{t} d{i:02d} {relevance} {(1, 0, 1, 2, 1)[i % 5]} {probability}\n")
        order = sorted(range(24), key=lambda i: (i * 7 + 3 * t) % 24)[:18]
        for rank, i in enumerate(order):
            run.append(f"{t} Q0 {f'd{i:02d}' if rank % 6 != 4 else f'x{rank}'} {rank + 1} {100 - rank} r\n")
    paths = folder / "sampled.txt", folder / "prels.txt", folder / "r.run"
    for path, lines in zip(paths, (qrels, prels, run), strict=True):
        path.write_text("".join(lines))
    return paths
