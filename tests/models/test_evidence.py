"""The evidence of a model, counted by hand."""

from __future__ import annotations

from graphs import evidence_of
from toys import toy_collection


def test_evidence_of_the_toy_is_what_one_counts_by_hand() -> None:
    evidence = evidence_of(toy_collection(), "u", cutoff=3)
    assert evidence.query_ids == ("1", "2", "3")
    assert evidence.organizations == ("north", "south")
    assert evidence.run_ids == ("n1", "n2", "s1", "s2", "u")
    assert evidence.n_pooled_runs == 4
    cells = list(
        zip(
            evidence.hidden_run.tolist(),
            evidence.hidden_topic.tolist(),
            evidence.hidden_organization.tolist(),
            evidence.n_hidden.tolist(),
            evidence.n_hidden_relevant.tolist(),
            (3 * evidence.hidden_residual).round(12).tolist(),
            strict=True,
        )
    )
    # run, topic, organization, documents credited, relevant ones, hidden or unjudged ranks of three
    assert cells == [
        (0, 0, 0, 1, 1, 2),  # n1 on topic 1: c; b is credited to n2, which ranks it first
        (1, 0, 0, 2, 1, 2),  # n2: b and f
        (1, 1, 0, 2, 2, 2),  # n2 on topic 2: p and r, for n1 too
        (1, 2, 0, 1, 0, 1),
        (2, 0, 1, 1, 0, 2),  # s1 on topic 1: i; h is credited to s2
        (2, 1, 1, 2, 1, 2),
        (3, 0, 1, 2, 1, 2),
        (3, 2, 1, 1, 0, 1),
    ]
    rankings = set(
        zip(
            evidence.judged_run.tolist(),
            evidence.judged_topic.tolist(),
            evidence.n_judged.tolist(),
            evidence.n_relevant.tolist(),
            strict=True,
        )
    )
    assert rankings == {
        (0, 0, 1, 1), (0, 1, 1, 0), (0, 2, 2, 0),
        (1, 0, 1, 1), (1, 1, 1, 0), (1, 2, 2, 0),
        (2, 0, 1, 1), (2, 1, 1, 0), (2, 2, 2, 0),
        (3, 2, 1, 0),  # s2 on topic 1: all hidden; on topic 2: nothing retrieved
        (4, 0, 1, 1), (4, 1, 2, 2),  # u on topic 3: nothing judged
    }  # fmt: skip
    assert len(evidence.judged_run) == 12


def test_run_to_score_is_not_its_own_evidence() -> None:
    evidence = evidence_of(toy_collection(), ["s1"], cutoff=3)
    assert evidence.run_ids == ("n1", "n2", "s2", "s1")
    assert evidence.n_pooled_runs == 3
    assert 3 not in evidence.hidden_run
    assert evidence.organizations == ("north", "south")
    alone = evidence_of(toy_collection(), ["s1", "s2"], cutoff=3)
    assert alone.organizations == ("north",)
    assert set(alone.hidden_organization.tolist()) == {0}
