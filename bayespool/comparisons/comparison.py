"""A comparison of runs as a result: tables, sentences, figures, notes and citations."""

from __future__ import annotations

from bayespool.comparisons.compared import Compared
from bayespool.comparisons.contrast_sentences import contrast_sentences
from bayespool.comparisons.draws import groups_with_shared_draws, is_compared_across
from bayespool.comparisons.sentences import comparison_sentence, comparison_sentences
from bayespool.comparisons.stored import comparison_figures
from bayespool.comparisons.tables import citations_with_tests, comparison_tables
from bayespool.errors import InputError
from bayespool.notes import Note
from bayespool.report.result import Figure, Result
from bayespool.scoring.score_tables import FAR_NOTE, notes_of
from bayespool.tables import Citation
from bayespool.tables.formatting import counted, some_of
from bayespool.tables.markup import Arrangement, TextTable, one_line
from bayespool.tables.table import Table

_RELIABILITY_CITED = ("brennan-2001", "bodoff-li-2007", "urbano-marrero-martin-2013")


class Comparison(Compared, Result):
    """Comparison of pairs of runs, created by `bayespool.compare`.

    A matrix of shape (run, run) has the row's run against the column's, in the order of `run_ids`; the frames
    have each pair once.

    Attributes
    ----------
    scores : Scores
        The runs' bounds and estimates; the first estimator is the uncorrected scores, ``as-judged``.
    draws : mapping of (Measure, estimator, scope) to DrawComparison
        For estimators with draws, by scope (`bayespool.compare`).
    p_values : mapping of (Measure, estimator, test) to ndarray of float, shape (run, run)
        Unadjusted, of each estimator's per-topic values, which are taken as known.
    p_adjusted : mapping of (Measure, estimator, test) to ndarray of float, shape (run, run)
        Adjusted for the family of pairs compared; NaN for others; Tukey's are so by themselves.
    significant : mapping of (Measure, estimator, test) to SignificantDraws
        For estimators with draws and the tests that are repeated in every draw (``paired-t``, ``tukey-hsd``).
    tests : tuple of str
    control : str
        Of the p-values over the pairs compared, ``tukey-hsd`` excepted.
    level, rope, ci_prob : float
    metadata : dict
        Version, fingerprint, pool and settings, to quote with a result.
    announce : float
        Least share of draws that declares a difference significant.
    systems : tuple of (run, system)
    baseline : tuple of str
        Runs that all others are compared with; none: every pair.
    bounds : mapping of Measure to (ndarray of float, ndarray of float), shape (pair,) each
        Least and greatest difference on these topics of each pair, over all completions of the judgments
        (`bayespool.evidence.difference_bounds`).
    common : mapping of (Measure, estimator, test) to CommonTopics
        Differences and p-values on the topics that both runs of a pair have.
    contrasts : Contrasts or None
        What is compared by group of topics or by system, if they are asked for.
    is_named : bool
        Whether the posteriors were asked for by name: on priors alone only such give verdicts.
    arrangement : Arrangement
        Order and number of the pairs that readers see; the frames have all.
    """

    command = "compare"
    title = "Comparison of runs"
    begins_with_sentences = True

    def __repr__(self) -> str:
        pairs = counted(self.n_pairs, "pair")
        runs = f"{pairs} of {counted(len(self.run_ids), 'run')} ({some_of(self.run_ids, 3)})"
        topics = counted(len(self.scores.query_ids), "topic")
        return one_line("Comparison", f"{some_of(self.measures, 3)} of {runs} on {topics}")

    def tables(self) -> tuple[Table, ...]:
        """Return all tables of the comparison, with every pair of runs."""
        return comparison_tables(self, Arrangement())

    def read(self, arrangement: Arrangement | None = None) -> tuple[TextTable, ...]:
        """Return tables formatted for reading, with the arranged columns and pairs."""
        arranged = self.arrangement if arrangement is None else arrangement
        width = Arrangement(width=arranged.width)
        return tuple(self.marked(t) for table in comparison_tables(self, arranged) for t in table.read(width))

    def marked(self, text: TextTable) -> TextTable:
        """Return a table with a dagger after runs that are unlike the pool."""
        return text.marked(self.far_runs, "†", FAR_NOTE)

    def sentences(self, *pair: str) -> tuple[str, ...]:
        """Return sentences on up to three pairs of runs, per measure and across measures.

        Parameters
        ----------
        *pair : str
            Two runs: then a sentence on this pair for each measure, however many runs there are.

        Raises
        ------
        InputError
            One run, more than two, or one that is not in the comparison.
        """
        if pair and len(pair) != 2:
            raise InputError(f"a pair is two runs, not {len(pair)}")
        if pair:
            run_a, run_b = pair
            return tuple(comparison_sentence(self, run_a, run_b, measure) for measure in self.measures)
        parts = (comparison_sentences(self), contrast_sentences(self))
        return tuple(text for part in parts[:: -1 if self.compares_systems else 1] for text in part)

    def figures(self) -> tuple[Figure, ...]:
        """Return plots of differences or rank probabilities, and a leaderboard for three or more runs."""
        return comparison_figures(self)

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the estimators, tests, multiplicity control and reliability coefficients."""
        cited = (*_RELIABILITY_CITED, *["welch-1947"] * (self.contrasts is not None))
        return citations_with_tests(self.metadata, (*self.tests, self.control), *cited)

    def notes(self) -> tuple[Note, ...]:
        """Return notes on the pool, the runs and measures that share no draws."""
        scores = self.scores
        notes = notes_of(scores.metadata, scores.run_notes, scores.run_ids, scores.measures)
        for estimator in dict.fromkeys(estimator for _, estimator, _ in self.draws):
            estimates = [
                e for e in scores.estimates if e.estimator == estimator and is_compared_across(e.measure)
            ]
            joint = {id(e) for group in groups_with_shared_draws(estimates) for e in group}
            apart = [str(e.measure) for e in estimates if id(e) not in joint]
            if len(apart) > 1 or (apart and joint):
                text = (
                    f"{estimator}: draws of {', '.join(apart)} come from completed judgments of their own, "
                    "so that nothing is said across measures; posterior_settings='joint=True' completes "
                    "them together"
                )
                notes.append(Note("estimator", text))
        return tuple(notes)
