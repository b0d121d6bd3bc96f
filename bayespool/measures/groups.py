"""Groups of topics: values by group, the mean of groups with equal weight, and its t test.

References
----------
B. L. Welch (1947). The generalization of 'Student's' problem when several different population variances are
involved. Biometrika 34(1–2).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from bayespool.arrays import AnyArray, FloatArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.attributes import COLUMN_NAME, gather_attributes
from bayespool.collection.collection import find_column
from bayespool.errors import InputError, some
from bayespool.tables.formatting import counted, some_of

MEAN_OF_GROUPS = "mean of groups"
ALL_TOPICS = "all topics"
_DECIMALS = 12  # so that equal judgments give equal numbers


@dataclass(frozen=True)
class Groups:
    """Groups of topics, such as forums, languages or collections.

    Draws, of shape (draw, run, topic), and scores as judged, of shape (run, topic), are taken alike: the
    topics are the last axis, in the order of ``labels``. The mean of groups gives every group the same
    weight, however many topics it has; the mean over all topics weights groups by their topics.

    Parameters
    ----------
    labels : tuple of str
        The group of each topic.

    Examples
    --------
    Two topics of a forum and four of another:

    >>> groups = Groups(("gis", "gis", "unix", "unix", "unix", "unix"))
    >>> scores = np.array([[1.0, 0.8, 0.2, 0.4, 0.2, 0.4]])
    >>> groups.names, groups.by_group(scores).round(2).tolist()
    (('gis', 'unix'), [[0.9, 0.3]])
    >>> groups.mean(scores).round(2).tolist(), scores.mean(axis=1).round(2).tolist()
    ([0.6], [0.5])
    """

    labels: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the groups, in the order of their first topics."""
        return tuple(dict.fromkeys(self.labels))

    @cached_property
    def topic_group(self) -> OrderArray:
        """Place among the names of each topic's group, shape (topic,)."""
        places = {name: place for place, name in enumerate(self.names)}
        return np.array([places[label] for label in self.labels], dtype=np.intp)

    @cached_property
    def n_topics(self) -> OrderArray:
        """Number of topics of each group, shape (group,)."""
        return np.bincount(self.topic_group)

    def by_group(self, values: AnyArray) -> FloatArray:
        """Return the mean over the topics of each group, from shape (..., topic) to (..., group)."""
        means = [values[..., self.topic_group == g].mean(axis=-1) for g in range(len(self.names))]
        return np.asarray(np.round(np.stack(means, axis=-1), _DECIMALS))

    def mean(self, values: AnyArray) -> FloatArray:
        """Return the mean of groups with equal weight, from shape (..., topic) to (...)."""
        return np.asarray(np.round(self.by_group(values).mean(axis=-1), _DECIMALS))

    def variances(self, values: AnyArray) -> FloatArray:
        """Return what the sample of each group's topics adds to the variance of the mean of groups,
        s²/n over the number of groups squared, from shape (..., topic) to (..., group).
        """
        parts = [values[..., self.topic_group == g].var(axis=-1, ddof=1) for g in range(len(self.names))]
        return np.stack(parts, axis=-1) / (self.n_topics * len(self.names) ** 2)

    def refuse_one_topic(self) -> None:
        """Raise `InputError` if a group has one topic, which says nothing of topics like it."""
        if alone := [name for name, n in zip(self.names, self.n_topics, strict=True) if n < 2]:
            reason = f"one topic says nothing about a population of topics, and of {some(alone)} there is one"
            raise InputError(reason, hint="join small groups, or ask about these topics alone")


def groups_text(groups: Groups) -> str:
    """Return groups as text: how many, how they are weighted, and their names.

    Examples
    --------
    >>> groups_text(Groups(("gis", "gis", "unix")))
    '2 groups with equal weight (gis, unix)'
    """
    return f"{len(groups.names)} groups with equal weight ({some_of(groups.names, 3)})"


def find_groups(collection: Collection, given: str | os.PathLike[str] | Mapping[str, str]) -> Groups:
    """Return the groups of a collection's topics, by a mapping from topics to groups, a CSV or Parquet file
    with a column ``group`` beside the topics, or the name of a column of the table of topics.

    Raises
    ------
    InputError
        No such file or column; a topic without a group; fewer than two groups.
    """
    path, where = None, "the groups"
    if isinstance(given, Mapping):
        of = {str(topic): str(group) for topic, group in given.items()}
    elif COLUMN_NAME.fullmatch(str(given)) and not Path(given).is_file():
        kind, table, _ = find_column(collection, str(given))
        if kind != "topic":
            raise InputError(
                f"{given} is a column of {kind}s", hint="groups are a column of topics, or a file"
            )
        of, where = dict(table.columns[str(given)]), f"the column {given}"
    else:
        path, hint = Path(given), "begin with the line topic,group, and add a line for each topic"
        try:
            columns = gather_attributes(path, "topic").columns
        except InputError as error:
            if not error.reason.startswith("no column"):
                raise
            raise InputError("the first line names no column of topics", path=path, hint=hint) from None
        if not columns:
            raise InputError("no groups", path=path, hint=hint)
        if "group" not in columns and len(columns) != 1:
            hint = f"call it group; there are {', '.join(columns)}"
            raise InputError("no column of groups", path=path, hint=hint)
        of, where = dict(columns["group" if "group" in columns else next(iter(columns))]), "the file"
    if lacking := [topic for topic in collection.query_ids if not of.get(topic)]:
        reason = f"{counted(len(lacking), 'topic')} without a group: {some(lacking)}"
        raise InputError(reason, path=path, hint=f"{where} has groups of {some(list(of))}")
    groups = Groups(tuple(of[topic] for topic in collection.query_ids))
    if len(groups.names) < 2:
        raise InputError(f"one group of topics, {groups.names[0]!r}", path=path, hint="name two or more")
    if taken := {MEAN_OF_GROUPS, ALL_TOPICS} & {*groups.names}:
        raise InputError(f"a group is called {min(taken)!r}", path=path, hint="call it by another name")
    return groups


def welch_degrees(variances: FloatArray, degrees: AnyArray) -> FloatArray:
    r"""Return the degrees of freedom of a sum of independent variances, from shape (..., part) to (...).

    Parameters
    ----------
    variances : ndarray of float, shape (..., part)
    degrees : ndarray, shape (part,) or (..., part)
        Degrees of freedom of each; where there is no variance at all these add up.

    Notes
    -----
    :math:`\nu = (\sum_g V_g)^2 / \sum_g V_g^2 / \nu_g` (Welch 1947).

    Examples
    --------
    >>> welch_degrees(np.array([[1.0, 1.0], [2.0, 0.0]]), np.array([9, 4])).round(2).tolist()
    [11.08, 9.0]
    """
    whole, parts = variances.sum(axis=-1), (variances**2 / degrees).sum(axis=-1)
    all_degrees = np.array(np.broadcast_to(degrees, variances.shape).sum(axis=-1), dtype=np.float64)
    return np.asarray(np.divide(whole**2, parts, out=all_degrees, where=parts > 0))


@dataclass(frozen=True, eq=False)
class MeanTest:
    """A mean difference with its standard error and the t test of no difference, each of shape (...).

    Attributes
    ----------
    difference, standard_error, degrees : ndarray of float
    p : ndarray of float
        Two-sided; NaN where difference and standard error are 0.
    """

    difference: FloatArray
    standard_error: FloatArray
    degrees: FloatArray

    @property
    def p(self) -> FloatArray:
        """P-values."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(2 * stdtr(self.degrees, -np.abs(self.difference / self.standard_error)))


def t_test_of_groups(
    differences: AnyArray, groups: Groups, added: tuple[FloatArray, FloatArray] | None = None
) -> MeanTest:
    """Test whether the mean of groups of differences on topics is 0, topics being a sample within groups.

    Parameters
    ----------
    differences : ndarray, shape (..., topic)
        Scores of a run minus those of another on each topic.
    groups : Groups
        Of two topics or more each.
    added : (ndarray of float, ndarray of float), optional
        Variance of the mean difference beside that of topics, shape (...), and its degrees of freedom.

    Notes
    -----
    The variance is the sum of `Groups.variances`, with the degrees of freedom of `welch_degrees`. With one
    group this is the paired t test, with two Welch's test of the differences of one group against those of
    the other with the sign turned.

    Examples
    --------
    >>> from scipy.stats import ttest_ind
    >>> first, second = np.array([0.3, 0.1, 0.4]), np.array([0.1, -0.1, 0.2, 0.0])
    >>> groups = Groups(("a",) * 3 + ("b",) * 4)
    >>> test = t_test_of_groups(np.concatenate([first, second]), groups)
    >>> bool(np.isclose(test.p, ttest_ind(first, -second, equal_var=False).pvalue))
    True
    """
    groups.refuse_one_topic()
    differences = np.round(differences, _DECIMALS)
    variances = groups.variances(differences)
    degrees: AnyArray = groups.n_topics - 1
    if added is not None:
        variances = np.concatenate([variances, added[0][..., None]], axis=-1)
        shape = (*variances.shape[:-1], len(degrees))
        of_added = np.broadcast_to(added[1], shape[:-1])[..., None]
        degrees = np.concatenate([np.broadcast_to(degrees, shape), of_added], axis=-1)
    degrees = welch_degrees(variances, degrees)
    return MeanTest(groups.mean(differences), np.sqrt(variances.sum(axis=-1)), degrees)
