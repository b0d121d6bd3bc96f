"""A file in another's place: a run, judgments or labels that were given for one another."""

from __future__ import annotations

from trec_files import PLAIN, Write, refused

from bayespool import collection as trec


def test_qrels_given_as_a_run_and_the_reverse(write: Write) -> None:
    """Neither is taken for the other, however bad lines are read."""
    for strict in (True, False):
        path = write(b"\n1 0 a 1\n1 0 b 0.5\n")
        error = refused(trec.read_run, path, strict=strict)
        assert (error.path, error.line) == (path, 2)
        assert error.reason.startswith("looks like judgments or labels (query_id iteration doc_id")
        assert "--qrels" in str(error.hint)
        for text in (PLAIN, PLAIN.replace(b" ", b"\t"), b"1 Q0 a 1 0.5\n", b"1 Q0 a 1 0.5 my tag\n"):
            path = write(text)
            for read, what in ((trec.read_qrels, "judgments"), (trec.read_labels, "labels of a judge")):
                error = refused(read, path, strict=strict)
                assert (error.path, error.line) == (path, 1), (text, what)
                assert error.reason.startswith("looks like a run ("), (text, what)
                assert error.reason.endswith(f"not like {what}"), (text, what)


def test_a_few_lines_of_another_kind_are_bad_lines(write: Write) -> None:
    run = write(b"1 Q0 a 1 0.5 t\n1 Q0 b 2 0.4 t\n1 0 c 1\n")
    assert refused(trec.read_run, run).reason == "expected 6 columns, found 4"
    qrels = write(b"1 0 a 1\n1 0 b 0\n1 Q0 c 3 0.5 t\n")
    assert refused(trec.read_qrels, qrels).reason.startswith("expected 4 columns, found 6")
    error = refused(trec.read_qrels, qrels, strict=False)  # 3 is a rank
    assert (error.line, error.reason[:41]) == (3, "expected 4 columns, found 6: a topic or a")


def test_labels_that_are_not_whole_are_no_judgments(write: Write) -> None:
    path = write(b"1 0 a 1.0\n1 0 b 0.25\n1 0 c 2\n")
    for strict in (True, False):
        error = refused(trec.read_qrels, path, strict=strict)
        assert (error.path, error.line, error.reason) == (path, 2, "relevance '0.25' is not whole")
        assert "nDCG(gains={1:0.25,2:0.5,3:1})@10" in str(error.hint)
        assert "--judge" in str(error.hint)
        assert trec.read_labels(path, strict=strict).label.tolist() == [1.0, 0.25, 2.0]
    whole = write(b"1 0 a 1.0\n1 0 b 0.0\n")  # as some tools write them
    assert trec.read_qrels(whole).relevance.tolist() == [1, 0]
