"""Files by other tools: what they are is told from their lines, and what would mislead is refused."""

from __future__ import annotations

import pytest
from trec_files import Write, judgments_of, labels_of, refused, rows_of

from bayespool import reading as trec
from bayespool.errors import InputWarning

JUDGED = [("1", "a", 2), ("1", "b", 0), ("2", "a", 1)]
RANKED = [("1", "b", -1.0), ("1", "a", -2.0), ("2", "a", -1.0)]
SCORED = [("1", "b", 2.5), ("1", "a", 2.0), ("2", "a", 7.0)]


OF_JUDGMENTS = [
    "\n# of BEIR\nquery-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n2\ta\t1\n",
    "query-id corpus-id score\n1 a 2\n1 b 0\n2 a 1\n",
    "corpus-id,note,score,query-id\na,x y,2,1\nb,,0,1\na,,1,2\n",
    'query,docid,rating\n"1","a",2\n1,b,0\n2,a,1\n',
    "Topic;Doc;Rel\n1;a;2\n1;b;0\n2;a;1\n",
    "1,a,2\n1,b,0\n2,a,1\n",
    "1,0,a,2\n1,0,b,0\n2,0,a,1\n",
    "1\ta\t2\n1\tb\t0\n2\ta\t1\n",
    "# topic iteration document relevance\n1 0 a 2\n1 0 b 0\n2 0 a 1\n",
    "1 0 a 2.0\n1 0 b 0.\n2 0 a 1.00\n",
    "1 0 a L2\n1 0 b L0\n2 0 a L1\n",
    "1 0 a A\n1 0 b C\n2 0 a B\n",
    "1,a,L2\n1,b,L0\n2,a,L1\n",
]
OF_RUNS = {
    "1\tb\t1\n1\ta\t2\n2\ta\t1\n": RANKED,  # MS MARCO
    "1 b 0\n1 a 1\n2 a 0\n": [(t, d, s + 1) for t, d, s in RANKED],
    "qid\tdocno\tscore\n1\tmy doc\t0.5\n": [("1", "my doc", 0.5)],
    'qid,docno,score\n1,"a,""b""",0.5\n': [("1", 'a,"b"', 0.5)],
    "1\tb\t1\t2.5\n1\ta\t2\t2\n2\ta\t1\t7\n": SCORED,  # ColBERT
    "1 b 2.5\n1 a 2\n2 a 7\n": SCORED,
    "qid,docno,score,note\n1,b,2.5,x\n1,a,2,\n2,a,7,\n": SCORED,
    "qid\tdocno\trank\n1\tb\t1\n1\ta\t2\n2\ta\t1\n": RANKED,
    "1,Q0,b,1,2.5,t\n1,Q0,a,2,2,t\n2,Q0,a,1,7,t\n": SCORED,
    "topic Q0 document rank score tag\n1 Q0 b 1 2.5 t\n1 Q0 a 2 2 t\n2 Q0 a 1 7 t\n": SCORED,
}


def test_judgments_and_runs_of_other_tools(write: Write) -> None:
    for text in OF_JUDGMENTS:
        for strict in (True, False):
            assert judgments_of(trec.read_qrels(write(text.encode()), strict=strict)) == JUDGED, text
    for text in ("1\ta\n2\tb\n", "1 a\n2 b\n", "1,a\n2,b\n"):  # pairs are relevant documents
        assert judgments_of(trec.read_qrels(write(text.encode()))) == [("1", "a", 1), ("2", "b", 1)], text
    for text, rows in OF_RUNS.items():
        assert rows_of(trec.read_run(write(text.encode()))) == rows, text


def test_comments_are_kept(write: Write) -> None:
    metadata = b"# ir_metadata.start\n# tag: mine\n# ir_metadata.end\n"
    path = write(metadata + b"1 Q0 a 1 2.5 t\n #1 Q0 b 2 2 t\n1 Q0 c 3 1 t\n")
    for strict in (True, False):
        run = trec.read_run(path, strict=strict)
        assert rows_of(run) == [("1", "a", 2.5), ("1", "c", 1.0)]
        assert run.comments == ("ir_metadata.start", "tag: mine", "ir_metadata.end", "1 Q0 b 2 2 t")
    assert refused(trec.read_run, write(metadata + b"1 Q0 a 1 x t\n")).line == 4


FATAL = {
    "subtopics": (trec.read_qrels, "1 1 a 0\n1 1 b 1\n1 2 a 2\n", 3, "subtopics", "sort -k4,4nr"),
    "labels of a sample": (trec.read_labels, "1 0 a 1 0\n1 0 b 2 1\n", 1, "five columns", "awk"),
    "grades": (trec.read_qrels, "1 0 a 0\n1 0 b 0.5\n", 2, "not whole", "gains="),
    "blank in a document": (trec.read_run, "1 Q0 a 1 3 t\n1 Q0 my doc 2 2 t\n", 2, "blank", "CSV or JSON"),
    "blank in a topic": (trec.read_qrels, "1 0 a 1\nq 1 0 b 1\n", 2, "blank", "CSV or JSON"),
    "two runs": (trec.read_run, "1 Q0 a 1 3 t\n1 Q0 a 1 2 u\n", 2, "several runs", "awk"),
    "neither ranks nor scores": (trec.read_run, "1 a 3\n1 b 1\n", 1, "three columns", "first line"),
    "run as judgments": (trec.read_qrels, "1 a 1\n1 b 2\n1 c 3\n1 d 4\n1 e 5\n", 1, "like a run", "runs"),
    "judgments of BEIR as a run": (
        trec.read_run, "query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t1\n1\tc\t0\n", 1, "judgments", "--qrels",
    ),
    "no column of scores": (trec.read_run, "qid,docno,text\n1,a,x\n", 1, "no column score", "sim"),
    "two columns": (trec.read_qrels, "qid,doc,doc,rel\n1,a,b,1\n", 1, "'doc' twice", "keep one"),
    "quote left open": (trec.read_qrels, 'qid,doc,rel\n1,"a,1\n', 2, "proper text", "quotes"),
    "half lost": (trec.read_qrels, "1 0 a 1\n1 0 b x\n", 2, "", "four columns"),
    "twice": (trec.read_qrels, "1 0 a 1\n1 0 a 1\n", 2, "", "keep one line"),
}  # fmt: skip


def test_no_message_leads_astray(write: Write) -> None:
    """Lenient reading gives no wrong number, and is not named where it would not read the file."""
    for name, (read, text, line, said, remedy) in FATAL.items():
        path = write(text.encode())
        for strict in (True, False):
            error = refused(read, path, strict=strict)
            assert (error.path, error.line) == (path, line), name
            assert said in error.reason, name
            assert remedy in str(error.hint), name
            assert "lenient" not in str(error.hint), name


def test_ranks_alone_have_to_count_the_documents(write: Write) -> None:
    lines = "".join(f"1 d{i} {i}\n" for i in range(1, 150))
    assert len(trec.read_run(write(lines.encode())).doc_id) == 149
    error = refused(trec.read_run, write((lines + "1 x 500\n").encode()))
    assert "do not count" in error.reason
    for text in (b"1 a 0.5\n1 b 0.25\n", b'{"1": {"a": 0.5, "b": 0.25}}'):
        run = trec.read_run(write(text), ranks=True)
        assert (rows_of(run), run.rank) == ([("1", "a", 0.5), ("1", "b", 0.25)], None)
    scored = "".join(f"1 d{i} {i}.5\n" for i in range(12))
    with pytest.warns(InputWarning, match="best score"):
        run = trec.read_run(write(f"{scored}1 d0 9\n".encode()), ranks=True, strict=False)
    assert rows_of(run)[-1] == ("1", "d0", 9)


def test_a_tenth_of_the_lines_is_too_much_to_lose(write: Write) -> None:
    lines = [f"1 Q0 d{i} {i} 0.5 t\n" for i in range(19)]
    with pytest.warns(InputWarning, match="1 line skipped"):
        run = trec.read_run(write("".join([*lines[1:], "1 Q0 a\n"]).encode()), strict=False)
    assert len(run.doc_id) == 18
    error = refused(trec.read_run, write("".join([*lines[1:], "1\n", "2\n"]).encode()), strict=False)
    assert error.reason == "2 of 20 lines would be lost, a tenth or more (skipped, fewer than six columns)"


def test_failed_labels_are_none(write: Write) -> None:
    for text, said in (
        (b"1 0 a 3\n1 0 b None\n1 0 c null\n1 0 d 0\n", "2 lines"),
        (b"1 0 a 3\n1 0 b -1\n1 0 d 0\n", "1 line"),
    ):
        with pytest.warns(InputWarning, match=f"{said} without a label"):
            assert labels_of(trec.read_labels(write(text))) == [("1", "a", 3.0), ("1", "d", 0.0)]
    for text in (b"1 0 a 1\n1 0 b -1\n", b"1 0 a 0\n1 0 b -1\n1 0 c -2\n", b"1 0 a 0\n1 0 b -1\n1 0 c 0.5\n"):
        assert -1 in trec.read_labels(write(text)).label  # where it is a label like others
