"""Notes have kinds: what changes the reading comes first, bookkeeping is counted, notes alike become one."""

from __future__ import annotations

import copy
import pickle

from hypothesis import example, given, strategies as st

from bayespool.notes import SEVERITIES, Note, likeness, merged, noted
from bayespool.report.terminal import brief_notes
from bayespool.scoring.score_tables import note_lines

UNLIKE = "unlike the pool (distance {:.1f}; {:.3f} if what is unjudged is as relevant)"


def test_bookkeeping_is_counted_after_the_gravest() -> None:
    nothing = [Note("nothing-unjudged", f"{run}: nothing unjudged") for run in "uub"]
    notes = [*nothing, Note("scope", "judged twice: 2 documents"), Note("no-pool", "no pool: priors")]
    counted = "2 minor notes left out; files have them"
    assert brief_notes(notes) == ["no pool: priors", "judged twice: 2 documents", counted]


def test_ranges_stand_for_numbers_and_names_stay() -> None:
    notes = [Note("unlike-pool", UNLIKE, *numbers) for numbers in ((3.7, 0.454), (10.1, 0.4), (4.5, 0.5))]
    said = "unlike the pool (distance 3.7 to 10.1; 0.400 to 0.500 if what is unjudged is as relevant)"
    assert merged(notes) == said
    of_estimator = [note.of("posterior-ratio(seed={1})") for note in notes]
    assert merged(of_estimator) == f"posterior-ratio(seed={{1}}): {said}"
    labels = [Note("judge", "judge {} labels {} of 9", name, 3) for name in ("gpt-4", "gpt-5")]
    assert len(set(map(likeness, labels))) == 2  # a name is no number


@given(st.text(min_size=1), st.sampled_from(sorted(SEVERITIES)))
@example("refuted-bm25: nothing unjudged", "ties")
def test_names_never_change_the_severity_of_a_note(name: str, kind: str) -> None:
    """A run called "refuted: nothing unjudged" has notes as grave as one called "a", and keeps its name."""
    note = Note(kind, "labels {} of {:,}", 3, 1000)  # type: ignore[arg-type]
    (line,) = note_lines({(name, "P@10"): [note.of(name)]}, [name], ["P@10"])
    assert line.severity == note.severity == SEVERITIES[kind]
    assert line == f"{name}: {name}: labels 3 of 1,000"


def test_copies_keep_the_kind() -> None:
    note = Note("topics-missing", "{} of {} missing", 2, 50)
    for again in (copy.deepcopy(note), pickle.loads(pickle.dumps(note))):
        assert (again, again.kind, again.values) == (note, note.kind, note.values)
    assert [each.kind for each in noted([note, "text"], "scope")] == ["topics-missing", "scope"]
