"""From files to a collection: what overlaps, what is missing, what is said, and files that describe one."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toys
from toys import toy_collection, toy_qrels, toy_runs

from bayespool.collection import Collection
from bayespool.collection.build import USER_ORGANIZATION
from bayespool.errors import InputError, InputWarning, OrganizationWarning, PoolWarning, StatedPoolWarning
from bayespool.experiments import simulate_example
from bayespool.pooling import PoolPlan, describe_pool, read_collection, read_collections, read_contributors
from bayespool.reading import run_from_frame, write_organizations, write_qrels, write_run

POOLED_ORGANIZATIONS = {run_id: toys.ORGANIZATIONS[run_id] for run_id in toys.POOLED}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The toy as files: its pooled runs in ``pool/``, the new one beside it."""
    (tmp_path / "pool").mkdir()
    for run in toy_runs():
        write_run(run, tmp_path / ("pool" if run.run_id in toys.POOLED else "") / f"input.{run.run_id}.gz")
    write_qrels(toy_qrels(), tmp_path / "qrels.txt")
    write_organizations(POOLED_ORGANIZATIONS, tmp_path / "organizations.csv")
    return tmp_path


def read(folder: Path, *runs: Any, **settings: Any) -> Collection:
    """The toy of the folder, with runs to score."""
    files = {"pool": folder / "pool", "organizations": POOLED_ORGANIZATIONS}
    return read_collection(folder / "qrels.txt", *runs, **files | settings)


def organization_of(collection: Collection) -> dict[str, str]:
    names = [collection.organizations[o] for o in collection.organization]
    return dict(zip(collection.run_ids, names, strict=True))


def test_run_that_lies_in_the_pool_too_is_read_once(folder: Path) -> None:
    """One that lies elsewhere is never pooled."""
    collection = read(folder, folder / "pool" / ".." / "pool" / "input.s1.gz")
    assert collection.given_run_ids == ("s1",)
    assert collection.run_ids == collection.pooled_run_ids == toys.POOLED  # it looks so
    (folder / "pool" / "input.s1.gz").rename(folder / "input.s1.gz")
    assert read(folder, folder / "input.s1.gz").pooled_run_ids == ("n1", "n2", "s2")


def test_pool_settings_are_passed_on(folder: Path) -> None:
    files = {"pool": [folder / "pool", folder / "input.u.gz"], "organizations": toys.ORGANIZATIONS}
    assert read(folder, **files).pooled_run_ids == toys.POOLED
    assert "u" in read(folder, **files, max_holes=2).pooled_run_ids
    assert read(folder, **files, known_depth=2).pool_depth == 2
    assert read(folder, **files, pooled_run_ids=["n1", "s1"]).pooled_run_ids == ("n1", "s1")


def test_the_strategy_of_the_pool_is_stated(folder: Path) -> None:
    """Nothing is discovered: the runs named contributed, and what the strategy chooses is the pool."""

    def stated(strategy: Any, **more: Any) -> Collection:
        return read(folder, folder / "input.u.gz", pool_strategy=strategy, **more)

    by_depth, same = read(folder, folder / "input.u.gz"), stated("depth(k=3)")
    assert same.pooled_run_ids == by_depth.pooled_run_ids == toys.POOLED
    assert np.array_equal(same.in_pool(), by_depth.in_pool())
    assert toys.judgments(same) == toys.judgments(by_depth)
    with pytest.warns(PoolWarning, match="4 of 17 judged documents in this pool"):
        named = stated("take(budget=4, run_depth=1)", pooled_run_ids=["n1", "s1"])
    firsts = named.document[named.run_index(["n1", "s1"]), :, 0]
    assert (named.pooled_run_ids, named.in_pool().sum()) == (("n1", "s1"), 4)
    assert set(np.flatnonzero(named.in_pool())) <= set(firsts.flat)
    assert str(describe_pool(named)).startswith(
        "2 of 5 runs pooled by take, budget 4, runs to rank 1 (2 organizations), 0 holes; "
    )
    plans = ("uniform(budget=8)", PoolPlan.of("uniform", 8), "uniform(budget=8, random_seed=2)")
    with pytest.warns(StatedPoolWarning, match="corrections for samples give no value"):
        one, again, other = (stated(plan).in_pool().tolist() for plan in plans)
    assert one == again != other
    with pytest.warns(StatedPoolWarning, match="combmnz, budget 9, global shares, relevance from 2"):
        assert stated("combmnz(budget=9, shares=global, rel=2)").score is not None


def test_what_a_strategy_does_not_explain_is_told(folder: Path) -> None:
    with pytest.warns(
        StatedPoolWarning, match=r"not made as stated \(take, budget 6\): .*could have chosen: \d+; look at"
    ):
        collection = read(folder, pool_strategy="take(budget=6)")
    report = describe_pool(collection)
    assert report.n_judged - report.n_unexplained == 6 - report.n_holes


def test_settings_that_do_not_go_together(folder: Path) -> None:
    take = {"pool_strategy": "take(budget=5)"}
    for settings, message in (
        (take | {"known_depth": 3}, "known_depth cannot be combined with pool_strategy"),
        (take | {"max_holes": 0}, "max_holes cannot be combined with pool_strategy"),
        ({"pool_strategy": "take"}, "give a budget"),
        ({"pool_strategy": "give(budget=5)"}, "no strategy 'give'"),
        (take | {"pooled_run_ids": ["x"]}, "no run 'x'"),
        ({"pool_strategy": "depth(k=3)", "pool": None}, "no pooled runs"),
    ):
        with pytest.raises(InputError, match=message):
            read(folder, folder / "input.u.gz", **settings)


def test_pooled_run_without_an_organization_is_an_error_unless_lenient(folder: Path) -> None:
    listed = folder / "organizations.csv"
    write_organizations({"n1": "north", "n2": "north"}, listed)
    with pytest.raises(InputError, match=r"organizations.csv: 2 runs of the pool have no organization, 's1'"):
        read(folder, organizations=listed)
    with pytest.warns(OrganizationWarning, match="2 runs of the pool have no organization, 's1' for one"):
        collection = read(folder, organizations=listed, strict=False)
    assert organization_of(collection) == {"n1": "north", "n2": "north", "s1": "s1", "s2": "s2"}


@pytest.mark.filterwarnings("ignore::bayespool.errors.OrganizationWarning")
def test_runs_to_score_are_of_one_organization_unless_listed(folder: Path) -> None:
    """In files whose names do not sort as they are given."""
    for run_id in ("zeta", "alpha"):
        write_run(run_from_frame(toys.RUNS["u"], run_id), folder / f"{run_id}.run")
    files = [folder / name for name in ("zeta.run", "alpha.run", "input.u.gz", "pool/input.s1.gz")]
    listed, yours = POOLED_ORGANIZATIONS, dict.fromkeys(("zeta", "alpha", "u"), USER_ORGANIZATION)
    collection = read(folder, files)
    assert organization_of(collection) == {**listed, **yours}
    assert collection.organizations[collection.user_organization] == USER_ORGANIZATION
    assert collection.given_run_ids == ("zeta", "alpha", "u", "s1")
    assert collection.run_ids == ("alpha", "n1", "n2", "s1", "s2", "u", "zeta")
    # one that the list names stays where it is
    some = read(folder, files, organizations={**listed, "u": "north"})
    assert organization_of(some) == {**listed, **yours, "u": "north"}
    # without a list s1, a run of the pool, is an organization of its own as the others there
    assert organization_of(read(folder, files, organizations=None)) == {r: r for r in toys.POOLED} | yours
    # as they were asked to be
    each = read(folder, files, each_its_own=True)
    assert organization_of(each) == {**listed, "zeta": "zeta", "alpha": "alpha", "u": "u"}
    assert each.user_organization == -1
    # without a pool apart, unless they are said to be of one
    alone = read_collection(folder / "qrels.txt", files[:3])
    assert organization_of(alone) == {run: run for run in yours}
    assert alone.user_organization == -1
    assert organization_of(read_collection(folder / "qrels.txt", files[:3], each_its_own=False)) == yours
    # a list that has the name
    taken = read(folder, files, organizations={**listed, "s2": USER_ORGANIZATION})
    assert taken.organizations[taken.user_organization] == f"{USER_ORGANIZATION}'"
    assert organization_of(taken)["s2"] == USER_ORGANIZATION


LABELS = {"1": {"a": 2.5, "l": 0}, "2": {"nobody's": 3, "z": 1}}


def read_with_judges(folder: Path, judges: Any, **settings: Any) -> dict[str, dict[str, dict[str, float]]]:
    """Labels of the toy's documents by judge."""
    collection = read(folder, folder / "input.u.gz", judges=judges, **settings)
    assert toys.judgments(collection) == toys.judgments(toy_collection())
    found: dict[str, dict[str, dict[str, float]]] = {}
    for judge in collection.judges:
        labels = found.setdefault(judge.name, {})
        for pair in np.flatnonzero(judge.is_labeled):
            query_id = collection.query_ids[collection.pair_topic[pair]]
            labels.setdefault(query_id, {})[collection.doc_id(int(pair))] = float(judge.label[pair])
    return found


@pytest.fixture
def labeled(folder: Path) -> Path:
    """The toy with labels of two judges, and of one document that nobody retrieves."""
    (folder / "llm.txt").write_text("1 0 a 2.5\n1 0 l 0\n2 0 z 1\n2 0 nobody's 3\n")
    (folder / "input.gpt-4.qrels.gz").write_bytes(gzip.compress(b"3 0 e 1\n3 0 f 0\n"))
    return folder


SECOND = {"3": {"e": 1.0, "f": 0.0}}
FORMS: dict[str, tuple[Callable[[Path], Any], dict[str, Any]]] = {
    "none": (lambda folder: None, {}),
    "text": (lambda folder: str(folder / "llm.txt"), {"llm": LABELS}),
    "list": (
        lambda folder: [folder / "input.gpt-4.qrels.gz", str(folder / "llm.txt")],
        {"gpt-4.qrels": SECOND, "llm": LABELS},
    ),
    "mapping": (
        lambda folder: dict.fromkeys(("one", "other"), folder / "llm.txt"),
        {"one": LABELS, "other": LABELS},
    ),
}


def test_judges_are_called_like_their_files_or_as_one_says(labeled: Path) -> None:
    for judges, expected in FORMS.values():
        found = read_with_judges(labeled, judges(labeled))
        assert (found, list(found)) == (expected, list(expected))


def test_labels_that_cannot_be_used_are_told_by_file(labeled: Path) -> None:
    more = "".join(f"9 0 d{i} 1\n" for i in range(9))
    (labeled / "bad.txt").write_text("1 0 a 1\n1 0 b yes\n2 0 z 0\n" + more)
    with pytest.warns(InputWarning, match=r"bad\.txt: 1 line skipped"):
        found = read_with_judges(labeled, labeled / "bad.txt", strict=False)
    assert found == {"bad": {"1": {"a": 1.0}, "2": {"z": 0.0}}}
    (labeled / "others.txt").write_text("99 0 a 1\n")
    for name, message in (
        ("bad.txt", r"bad\.txt, line 2: label 'yes'"),
        ("others.txt", r"others\.txt: none of the labels of judge 'others' is of"),
        ("nowhere.txt", r"nowhere\.txt"),
    ):
        with pytest.raises(InputError, match=message):
            read_with_judges(labeled, [labeled / name])


@pytest.fixture(scope="module")
def example_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with labels of a judge on all documents that are judged, or at the top of a new run."""
    folder, example = tmp_path_factory.mktemp("example"), simulate_example()
    example.write(folder)
    collection, truth = example.collection, example.truth
    keys = zip(truth.query_id.to_pylist(), truth.doc_id.to_pylist(), strict=True)
    known = dict(zip(keys, truth.relevance.tolist(), strict=True))
    asked = np.zeros(len(collection.relevance) + 1, dtype=bool)
    asked[collection.document[collection.run_index(["new-a", "new-b"]), :, :10]] = True
    for name, of in (("all", collection.judged | asked[:-1]), ("new", ~collection.judged & asked[:-1])):
        lines = ""
        for i, pair in enumerate(np.flatnonzero(of)):
            key = collection.query_ids[collection.pair_topic[pair]], collection.doc_id(int(pair))
            lines += f"{key[0]} 0 {key[1]} {known[key] if i % 5 else 1 - min(known[key], 1)}\n"  # it errs
        (folder / f"{name}.txt").write_text(lines)
    return folder


def read_example(folder: Path, qrels: str, judge: str, **more: Any) -> Collection:
    files = {"pool": folder / "pool", "organizations": folder / "organizations.csv"}
    return read_collection(folder / qrels, folder / "new", **files, judges={"llm": folder / judge}, **more)


def test_labels_and_judgments_that_are_swapped_are_refused(example_files: Path) -> None:
    for labels in ("all.txt", "new.txt"):
        with pytest.raises(InputError, match=r"qrels\.txt: judge 'llm' .* the two look swapped"):
            read_example(example_files, labels, "qrels.txt")
        (judge,) = read_example(example_files, "qrels.txt", labels).judges
        assert judge.is_labeled.any()
    with pytest.raises(InputError, match=r"qrels\.txt: the labels of judge 'llm' are the judgments"):
        read_example(example_files, "qrels.txt", "qrels.txt")


def test_a_run_is_neither_judgments_nor_labels_nor_judgments_a_run(example_files: Path) -> None:
    run, name = r"new-a\.run, line 1: looks like a run .*, not like ", "new/new-a.run"
    for strict in (True, False):
        for qrels, judge, more, what in (
            (name, "all.txt", {}, "judgments"),
            ("qrels.txt", name, {}, "labels of a judge"),
            ("qrels.txt", "all.txt", {"own_judgments": example_files / name}, "judgments"),
        ):
            with pytest.raises(InputError, match=run + what):
                read_example(example_files, qrels, judge, strict=strict, **more)
        with pytest.raises(InputError, match=r"qrels\.txt, line 1: looks like judgments .*, not like a run"):
            read_collection(example_files / "qrels.txt", example_files / "qrels.txt", strict=strict)


def test_contributors_without_judgments(folder: Path) -> None:
    collection = read_contributors(folder / "pool", organizations=POOLED_ORGANIZATIONS)
    assert (collection.pooled_run_ids, collection.query_ids) == (toys.POOLED, ("1", "2", "3"))
    assert not collection.judged.any()
    assert toys.ranking(collection, "n2", "1") == list(toys.RANKINGS["n2", "1"])


LINES = ['qrels = "qrels.txt"', 'pool = "pool"', 'organizations = "organizations.csv"']


@pytest.fixture
def toml(example_files: Path) -> Callable[..., Path]:
    """A file of lines below those that are always needed."""

    def write(*lines: str, name: str = "example.toml", first: list[str] = LINES) -> Path:
        (example_files / name).write_text("\n".join([*first, *lines]))
        return example_files / name

    return write


def test_a_file_has_the_arguments_of_read_collection(
    toml: Callable[..., Path], example_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")  # paths are those of the file
    read = read_collections([toml(), toml('name = "to depth 5"', "known_depth = 5", name="other.toml")])
    assert list(read) == ["example", "to depth 5"]
    files = {"pool": example_files / "pool", "organizations": example_files / "organizations.csv"}
    assert read["example"].fingerprint == read_collection(example_files / "qrels.txt", **files).fingerprint
    assert read["to depth 5"].pool_depth == 5


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_several_runs_and_judges_may_be_named(toml: Callable[..., Path], example_files: Path) -> None:
    lines = [LINES[0], 'pool = ["pool/north-*.run", "pool/west-1.run", "pool/east-1.run"]']
    lines_of_qrels = (example_files / "qrels.txt").read_text().splitlines(keepends=True)
    (example_files / "labels.txt").write_text("".join(lines_of_qrels[:40]).replace(" 0\n", " 5\n"))
    path = toml("[judges]", 'llm = "labels.txt"', name="few.toml", first=lines)
    collection = read_collections(path)["few"]
    assert set(collection.run_ids) == {"north-1", "north-2", "west-1", "east-1"}
    assert [judge.name for judge in collection.judges] == ["llm"]


@pytest.mark.filterwarnings("ignore::bayespool.errors.PoolWarning")
def test_options_hold_for_files_that_say_nothing(toml: Callable[..., Path]) -> None:
    plain, other = toml(), toml("known_depth = 7", name="other.toml")
    read = read_collections([plain, other], reading={"known_depth": 6})
    assert [collection.pool_depth for collection in read.values()] == [6, 7]


def test_what_a_file_cannot_say_is_told_with_its_line(toml: Callable[..., Path]) -> None:
    for line, message in (
        (
            'orders = "rank"',
            r"example\.toml, line 4: unknown key 'orders'; did you mean 'order'\? known: name, ",
        ),
        ("pool_seed = 3", r"line 4: unknown key 'pool_seed'; .* pool_strategy, .*take\(random_seed=3\)"),
        ('runs = "pool"', r"line 4: unknown key 'runs'; known: name, measure, qrels, pool, "),
        ('order = "date"', r"line 4: order cannot be 'date'; known: score, single-precision, rank"),
        ("known_depth = 0", r"line 4: known_depth cannot be 0; at least 1"),
        ('strict = "no"', r"line 4: strict cannot be 'no'; true or false"),
        ("pool_strategy = 3", r"line 4: pool_strategy cannot be 3; a text in quotes"),
        ("pooled_run_ids = [1]", r"line 4: pooled_run_ids cannot be 1; a text in quotes"),
        ('name = "a/b"', r"line 4: a collection cannot be called 'a/b'; take letters"),
        (
            'judges = "no.txt"',
            r"line 4: judges cannot be 'no\.txt': .*no\.txt: no such file or folder; paths",
        ),
        ("[judges]\nllm = 3", r"line 4: judges cannot be 3; a text in quotes"),
        ("known_depth 10", r"example\.toml, line 4: is no TOML: .*; write lines such as key"),
        ("a." * 20_000 + "b = 1", r"is no TOML: a key has more than a hundred parts"),
        ("a" * 500_000, r"is no TOML: Expected '='"),  # found in a time that grows with the length
        ('max_holes = "few"', "max_holes cannot be 'few'; a number"),
    ):
        with pytest.raises(InputError, match=message):
            read_collections(toml(line))


def test_files_that_are_not_there_are_told_before_any_is_read(
    toml: Callable[..., Path], example_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayespool.pooling.loading.read_collection", None)
    wrong = toml(first=['qrels = "no.txt"', *LINES[1:]], name="wrong.toml")
    with pytest.raises(InputError, match=r"wrong\.toml, line 1: qrels cannot be 'no\.txt': .*no such file"):
        read_collections([toml(), wrong])
    with pytest.raises(InputError, match=r'wrong\.toml: pool is missing; add a line pool = "runs"'):
        read_collections(toml(first=LINES[:1], name="wrong.toml"))
    with pytest.raises(InputError, match=r"nothing\.toml: no such file"):
        read_collections(example_files / "nothing.toml")
    again = toml('name = "Example"', name="again.toml")
    with pytest.raises(InputError, match="two collections are called 'Example'; give one another name"):
        read_collections([toml(), again])
    with pytest.raises(InputError, match="two collections are called 'example'"):
        read_collections([toml(), toml()])


def test_an_unusable_collection_is_told_with_its_file(toml: Callable[..., Path], example_files: Path) -> None:
    path = toml(first=['qrels = "pool/west-1.run"', *LINES[1:]])
    with pytest.raises(InputError, match="looks like a run") as caught:
        read_collections(path)
    assert caught.value.__notes__ == [f"in the collection that {path} describes"]


def test_unknown_users_folder_is_no_folder(folder: Path) -> None:
    (folder / "x.toml").write_text('qrels = "~nobody-of-that-name/q"\npool = "pool"\n')
    with pytest.raises(InputError, match="~nobody-of-that-name/q: no such file or folder"):
        read_collections(folder / "x.toml")
    with pytest.raises(InputError, match=r"^~nobody-of-that-name/r: no such file or folder"):
        read_collection(folder / "qrels.txt", "~nobody-of-that-name/r")
