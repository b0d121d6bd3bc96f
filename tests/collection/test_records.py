"""What has been read shows itself briefly."""

from __future__ import annotations

from trec_files import PLAIN, Write

from bayespool import collection as trec


def test_a_run_shows_itself_briefly(write: Write) -> None:
    assert repr(trec.read_run(write(PLAIN))) == "<Run a: 3 documents, 2 topics>"
    assert repr(trec.read_qrels(write(b"1 0 a 1\n"))) == "<Qrels: 1 judgments, 1 topic>"
    assert repr(trec.read_labels(write(b"1 0 a 0.5\n2 0 a 1\n"))) == "<Labels: 2 documents, 2 topics>"
