"""Reading and writing TREC runs, judgments and lists of organizations; nothing else opens an input file.

A file is plain, gzip, xz or zstd, whatever its name says. It is read as UTF-8, and as Latin-1 where that
fails. A line ends with LF, CRLF or CR; columns stand apart by ASCII white space. The first bad line is an
`InputError` with file, line and reason; with ``strict=False`` bad lines are skipped, counted (`Skipped`)
and told in one `InputWarning` per file.

+---------------------------------------------+-----------------+---------------------------------------+
| oddity                                      | ``strict=True`` | ``strict=False``                      |
+=============================================+=================+=======================================+
| blank lines, CRLF, tabs, several blanks,    | read            | read                                  |
| blanks at the ends of a line, no end of the |                 |                                       |
| last line                                   |                 |                                       |
+---------------------------------------------+-----------------+---------------------------------------+
| a byte order mark at the beginning, Latin-1 | read            | read                                  |
| text                                        |                 |                                       |
+---------------------------------------------+-----------------+---------------------------------------+
| a byte order mark or no-break space in a    | error           | taken off                             |
| topic, or at an end of a document           |                 |                                       |
+---------------------------------------------+-----------------+---------------------------------------+
| second column not ``Q0``, ranks from 0      | read            | read                                  |
+---------------------------------------------+-----------------+---------------------------------------+
| scores ``1e-3``, ``+1``, ``inf``            | read            | read                                  |
+---------------------------------------------+-----------------+---------------------------------------+
| rank that is no integer, ``ranks=False``    | read            | read                                  |
+---------------------------------------------+-----------------+---------------------------------------+
| rank that is no integer, ``ranks=True``     | error           | line skipped                          |
+---------------------------------------------+-----------------+---------------------------------------+
| too few columns                             | error           | line skipped                          |
+---------------------------------------------+-----------------+---------------------------------------+
| too many columns                            | error           | the first six (run) or four (qrels)   |
|                                             |                 | are used; no line is lost             |
+---------------------------------------------+-----------------+---------------------------------------+
| score or label that is no number, or NaN    | error           | line skipped                          |
+---------------------------------------------+-----------------+---------------------------------------+
| relevance that is no integer, or not within | error           | line skipped                          |
| -32,768 to 32,767                           |                 |                                       |
+---------------------------------------------+-----------------+---------------------------------------+
| document twice in a topic of a run          | error           | best score kept, in single precision, |
|                                             |                 | the first line of equals; with        |
|                                             |                 | ``ranks=True`` the lowest rank        |
+---------------------------------------------+-----------------+---------------------------------------+
| document twice in a topic of the qrels      | error           | last line kept                        |
+---------------------------------------------+-----------------+---------------------------------------+
| several tags, ``id_from="file"``            | read            | read                                  |
+---------------------------------------------+-----------------+---------------------------------------+
| several tags, ``id_from="tag"``             | error           | error                                 |
+---------------------------------------------+-----------------+---------------------------------------+
| most lines are those of another kind: of a  | error           | error                                 |
| run where qrels or labels are expected, of  |                 |                                       |
| qrels or labels where a run is, of labels   |                 |                                       |
| that are not whole where qrels are          |                 |                                       |
+---------------------------------------------+-----------------+---------------------------------------+
| no line, only blank lines, no usable line   | error           | error                                 |
+---------------------------------------------+-----------------+---------------------------------------+
| damaged, binary or missing file; a folder,  | error           | error                                 |
| a pipe or a device; more text than          |                 |                                       |
| ``max_file_size``, a line of more than 1 MiB|                 |                                       |
+---------------------------------------------+-----------------+---------------------------------------+
"""

from bayespool.trec.files import find_files
from bayespool.trec.frames import labels_from_frame, qrels_from_frame, run_from_frame
from bayespool.trec.readers import (
    id_of_file,
    read_labels,
    read_organizations,
    read_qrels,
    read_run,
    read_runs,
)
from bayespool.trec.records import Labels, Qrels, Run, Skipped
from bayespool.trec.run_types import read_run_types
from bayespool.trec.sources import (
    Judges,
    Judgments,
    Organizations,
    Reading,
    Runs,
    judges_of,
    organizations_of,
    qrels_of,
    runs_of,
)
from bayespool.trec.writers import qrels_text, write_organizations, write_qrels, write_run

__all__ = [
    "Judges",
    "Judgments",
    "Labels",
    "Organizations",
    "Qrels",
    "Reading",
    "Run",
    "Runs",
    "Skipped",
    "find_files",
    "id_of_file",
    "judges_of",
    "labels_from_frame",
    "organizations_of",
    "qrels_from_frame",
    "qrels_of",
    "qrels_text",
    "read_labels",
    "read_organizations",
    "read_qrels",
    "read_run",
    "read_run_types",
    "read_runs",
    "run_from_frame",
    "runs_of",
    "write_organizations",
    "write_qrels",
    "write_run",
]
