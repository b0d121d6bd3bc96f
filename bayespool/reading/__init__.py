"""Readers and writers of runs, judgments, labels and tables: source → `Run`, `Qrels` or `Labels`.

Files may be plain, gzip, xz, zstd, bzip2, lz4 or zip, whatever their names; formats of other tools are told
by their lines (`bayespool.reading.formats`). Text is UTF-8, else Latin-1; lines end with LF, CRLF or CR;
ASCII white space separates columns of TREC files. The first bad line raises an `InputError` with file, line
and reason; with ``strict=False`` bad lines are skipped, counted (`Skipped`) and reported in one
`InputWarning` per file.

===============  ====================================  =======================================================
``strict=True``  ``strict=False``                      content
===============  ====================================  =======================================================
read             read                                  blank lines, CRLF, tabs, several blanks, blanks at the
                                                       ends of a line, no end of the last line
read             read                                  a byte order mark at the beginning, Latin-1 text
error            taken off                             a byte order mark or no-break space in a topic, or at
                                                       an end of a document
read             read                                  second column not ``Q0``, ranks from 0
read             read                                  scores ``1e-3``, ``+1``, ``inf``
read             read                                  rank that is no integer, ``ranks=False``
error            line skipped                          rank that is no integer, ``ranks=True``
error            line skipped                          too few columns
error            first six (run) or four (qrels) used  too many columns, where the value can stand in no other
error            error                                 too many columns, where the value can: a blank in an id
error            line skipped                          other lines of too many columns
error            line skipped                          score or label that is no number, or NaN
error            line skipped                          relevance that is no integer (1.0 is one), or not
                                                       within -32,768 to 32,767
error            error                                 relevance that is not whole
error            error                                 a document of a topic with two tags (of a run) or two
                                                       iterations (of qrels: subtopics)
left out         left out                              label that is null or None, or -1 beside whole labels
                                                       from 0
read             read                                  lines that begin with ``#``: comments
error            error                                 a tenth of the lines or more that would be lost
error            best score kept, the first line of    document twice in a topic of a run
                 equals; with ``ranks=True`` the
                 lowest rank
error            last line kept                        document twice in a topic of the qrels
read             read                                  several tags, ``id_from="file"``
error            error                                 several tags, ``id_from="tag"``
error            error                                 most lines are those of another kind: of a run where
                                                       qrels or labels are expected, of qrels or labels where
                                                       a run is
error            error                                 no line, only blank lines, no usable line
error            error                                 damaged, binary or missing file; a folder, a pipe or a
                                                       device; more text than ``max_file_size``, a line of
                                                       more than 1 MiB
===============  ====================================  =======================================================
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
