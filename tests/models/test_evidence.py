"""The evidence of a model, counted by hand."""

from __future__ import annotations

from each import cases
from graphs import MODELS, build, evidence_of
from toys import EDGE_CASES, toy_collection

from bayespool.evidence import held_out_counts, judgment_counts
from bayespool.experiments import load_example
from bayespool.models import gather_evidence


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


def test_sums_of_the_evidence_are_those_of_the_counts() -> None:
    example = load_example()
    held_out = held_out_counts(example, cutoffs=[5, 10])
    counts = judgment_counts(example, ["new-a", "new-b"], cutoffs=[10, 5])
    for cutoff, h, t in ((5, 0, 1), (10, 1, 0)):
        evidence = gather_evidence(held_out, counts, cutoff)
        assert evidence.n_hidden.sum() == held_out.n_credited[:, :, h].sum()
        assert evidence.n_hidden_relevant.sum() == held_out.n_credited_relevant[:, :, h].sum()
        judged = held_out.n_relevant + held_out.n_nonrelevant
        of_targets = counts.n_relevant + counts.n_nonrelevant
        assert evidence.n_judged.sum() == judged[:, :, h].sum() + of_targets[:, :, t].sum()
        assert (
            evidence.n_relevant.sum() == held_out.n_relevant[:, :, h].sum() + counts.n_relevant[:, :, t].sum()
        )


# Nothing hidden and no organization; no ranking of the run judged; little and enough of everything.
WITH_A_GRAPH = ("no pool", "nothing judged", "missing topic")


@cases("case", EDGE_CASES)
@cases("cutoff", [1, 5])
def test_evidence_of_edge_cases_is_sound(case: str, cutoff: int) -> None:
    collection, run = EDGE_CASES[case]()
    evidence = evidence_of(collection, run, cutoff=cutoff)
    assert evidence.run_ids[-1] == run
    assert len(evidence.run_ids) == evidence.n_pooled_runs + 1
    assert (evidence.n_hidden >= 1).all()
    assert (evidence.n_judged >= 1).all()
    assert ((evidence.n_hidden_relevant >= 0) & (evidence.n_hidden_relevant <= evidence.n_hidden)).all()
    assert ((evidence.n_relevant >= 0) & (evidence.n_relevant <= evidence.n_judged)).all()
    assert (evidence.hidden_residual > 0).all()
    assert (evidence.hidden_residual <= 1).all()
    assert (evidence.n_hidden <= cutoff * evidence.hidden_residual + 1e-9).all()
    for name, size in (("topic", evidence.query_ids), ("run", evidence.run_ids)):
        for table in ("hidden", "judged"):
            index = getattr(evidence, f"{table}_{name}")
            assert ((index >= 0) & (index < len(size))).all()
    assert (
        (evidence.hidden_organization >= 0) & (evidence.hidden_organization < len(evidence.organizations))
    ).all()
    sizes = {
        "topic": len(collection.query_ids),
        "organization": len(evidence.organizations),
        "run": len(evidence.run_ids),
    }
    assert {d: len(c) for d, c in evidence.coords.items()} == sizes
    if cutoff == 5 and case in WITH_A_GRAPH:
        for model in MODELS:
            assert {d: len(c) for d, c in build(model, evidence).coords.items()} == sizes
