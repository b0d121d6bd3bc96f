"""Parser for measure names and ir_measures objects, with the reason if one is not supported."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

from bayespool.errors import InputError, known_names
from bayespool.measures.base import MEASURES, Measure

_WHOLE = "it is of the whole ranking, and no cutoff says how deep judgments are completed"
_NAMES_BY_REASON = {
    "it needs judgments of subtopics, and bayespool reads one relevance per document": (
        "AP_IA ERR_IA MAP_IA NRBP P_IA StRecall alpha_DCG alpha_nDCG nERR_IA nNRBP α_DCG α_nDCG"
    ),
    "it is a number of things in the files, and no measure of a ranking": "NumQ NumRel num_q num_rel",
    "its weights depend on the gains that a reader has found, for which there are no bounds here": (
        "BPM NERR10 NERR11 NERR8 NERR9"
    ),
    "it passes over unjudged documents, so that there is nothing to complete": "BPref Bpref bpref",
    "it is an estimator itself, for judgments that were sampled from the pool": "infAP",
    "it is of pairs of documents, a diagnosis of training, for which there are no bounds here": "Accuracy",
    "it is of the whole ranking: what stands behind the @ is a recall, and no cutoff": "IPrec",
    "its cutoff is the number of relevant documents, which differs from completion to completion": (
        "RPrec Rprec r-precision"
    ),
    "its cutoffs are numbers of relevant documents, which differ from completion to completion": "Rprec_mult",
    "it is a geometric mean over topics; write AP@1000 for the arithmetic one": "gm_map",
    _WHOLE: "Compat INSQ",
    f"{_WHOLE}; write P@n or R@n": "NumRelRet NumRet num_rel_ret num_ret",
    f"{_WHOLE}; write P@n and R@n": "SetF SetRelP set_F set_relative_P",
    f"{_WHOLE}; write P@n": "SetP set_P",
    f"{_WHOLE}; write R@n": "SetR set_recall",
    f"{_WHOLE}; write AP@n": "SetAP set_map",
    "it is of the whole ranking at a recall, and has no cutoff": "11pt_avg iprec_at_recall",
    "it is n times P@n; write P@n": "hits",
    "it is made of P@n and R@n; write both": "f1",
    "it is R@n over the most that n documents can reach; write R@n": "R_cap",
    "it is 1 − Judged@n; write Judged@n": "Hole hole unj",
    "it stands for several measures; write those that you want": "all_qrels all_trec official",
}

UNSUPPORTED = {name: reason for reason, names in _NAMES_BY_REASON.items() for name in names.split()}
"""Reason for not supporting a measure from ir_measures or trec_eval, keyed by name."""

_ALIASES = {"MAP": "AP", "MRR": "RR", "NDCG": "nDCG", "Precision": "P", "Recall": "R"}
_ALIASES |= {"map": "AP", "mrr": "RR", "ndcg": "nDCG", "precision": "P", "recall": "R", "recip_rank": "RR"}
_ALIASES |= {"success": "Success", "hit_rate": "Success", "judged": "Judged"}
_ALIASES |= {"context_precision": "ContextPrecision"}
_TREC_EVAL_FAMILIES = {"P": "P", "map_cut": "AP", "ndcg_cut": "nDCG"}
_WRITING = re.compile(  # of ir_measures
    r"(?P<name>[^\W\d]\w*)\s*(?:\((?P<inside>.*)\)\s*)?(?:@\s*(?P<cutoff>0+|[1-9][0-9]*))?", re.DOTALL
)
_OTHER_WRITING = re.compile(  # trec_eval's P_10 and P.10, mteb's map_at_10, ranx's map@10-l2
    r"(?P<name>[A-Za-z_]+?)(?:(?:_at_|[_.])(?P<n>[0-9]+)|@(?P<cutoff>[0-9]+)-l(?P<rel>[0-9]+))"
)
_RANX_RBP = re.compile(r"rbp\.(?P<p>[0-9]+)(?:-l(?P<rel>[0-9]+))?")
_BURGES = re.compile(r"(?P<name>n?dcg)_burges(?=[@-]|$)")
_CUTOFFS = re.compile(r"(?P<name>[A-Za-z_]+[_.])[0-9]+")
_OF_JUDGED = {  # parameters of ir_measures and of rank_eval that take unjudged documents out of rankings
    "judged_only": "ask for the condensed-list estimator of the measure without it; precision over the rated "
    "hits alone is P@n over Judged@n on each topic",
    "ignore_unlabeled": "on each topic it is P@n over Judged@n; write both, or ask for a posterior of P@n",
}
_TEXTS = {"dcg", "ideal"}  # parameters that need no quotes
_MAX_CHARACTERS = 1000  # more than any measure has; Python's parser may fail on longer texts


class _ParsedText(NamedTuple):
    """Name, cutoff and parameters parsed from a measure string."""

    name: str
    cutoff: int | None
    parameters: dict[str, Any]


def parse_measure(measure: object) -> Measure:
    """Return the `Measure` for a string, an ir_measures object or a `Measure`.

    Parameters
    ----------
    measure : object
        A `Measure`, or anything whose ``str`` reads ``P@10``, ``nDCG(dcg='exp-log2')@10``, ``ndcg@10-l2`` as
        in ranx, ``ndcg_at_10`` as in mteb or, as in trec_eval, ``ndcg_cut_10`` and ``ndcg_cut.10``.

    Raises
    ------
    InputError
        The text names no measure that bayespool estimates. Other measures of ir_measures and trec_eval are
        refused with the reason.

    Examples
    --------
    >>> parse_measure("P(rel=2)@10")
    Precision(cutoff=10, rel=2)
    >>> str(parse_measure("ndcg_cut_10")), str(parse_measure("RBP"))
    ('nDCG@10', 'RBP(p=0.8)')
    """
    if isinstance(measure, Measure):
        return measure
    text = str(measure)
    name, cutoff, parameters = _parse_text(text)
    if name in UNSUPPORTED and name not in MEASURES:
        raise InputError(
            f"unsupported measure {text!r}: bayespool does not have {name}, since {UNSUPPORTED[name]}"
        )
    family = MEASURES.get(name) or MEASURES.get(_ALIASES.get(name, ""))
    if family is None:
        raise _unknown(text)
    fields = _fields(text, family, parameters)
    try:
        return family.without_cutoff(**fields) if cutoff is None else family(cutoff, **fields)
    except InputError as error:
        if cutoff is not None:
            raise
        raise InputError(f"measure {text!r}: {error.reason}", hint=error.hint) from error
    except (TypeError, ValueError) as error:
        raise InputError(f"unknown measure {text!r}: {error}") from error


_COUNTED_BY_TREC_EVAL = {"P", "AP", "R", "RR", "Success"}


def is_trec_eval_measure(measure: object) -> bool:
    """Return whether trec_eval can compute a measure, with -l for ``rel`` and -M for the RR cutoff.

    Examples
    --------
    >>> [is_trec_eval_measure(text) for text in ("P(rel=2)@10", "nDCG@10", "nDCG(rel=2)@10", "ERR@20")]
    [True, True, False, False]
    """
    try:
        parsed = parse_measure(measure)
    except InputError:  # of a stored result, and registered no longer
        return False
    return parsed.name in _COUNTED_BY_TREC_EVAL or (
        parsed.name == "nDCG" and set(parsed.parameters()) <= {"ideal"}
    )


def parse_measures(measures: object) -> tuple[Measure, ...]:
    """Return the distinct measures in a string, an object or an iterable of them, in order.

    Examples
    --------
    >>> [str(measure) for measure in parse_measures("ndcg_cut.10,20 P@5")]
    ['nDCG@10', 'nDCG@20', 'P@5']
    """
    items = measures if isinstance(measures, Iterable) and not isinstance(measures, str) else [measures]
    each = (part for item in items for part in (split_measures(item) if isinstance(item, str) else [item]))
    parsed = tuple(dict.fromkeys(map(parse_measure, each)))
    if not parsed:
        raise InputError("no measure given", hint="for example P@10")
    return parsed


def refuse_judgment_measures(measures: Iterable[Measure]) -> None:
    """Raise `InputError` for a measure that describes the judgments, not rankings."""
    for measure in measures:
        if measure.describes_judgments:
            raise InputError(
                f"{measure} describes the judgments, and there is nothing to estimate",
                hint="score shows it; here name measures of the rankings",
            )


def parse_ranking_measures(measures: object) -> tuple[Measure, ...]:
    """Parse measures, or raise `InputError` for one that describes the judgments."""
    parsed = parse_measures(measures)
    refuse_judgment_measures(parsed)
    return parsed


def parse_sole_measure(measures: object) -> Measure:
    """Parse a single measure of rankings, or raise `InputError` for several."""
    parsed = parse_ranking_measures(measures)
    if len(parsed) != 1:
        raise InputError(f"{len(parsed)} measures", hint="choose one")
    return parsed[0]


def split_measures(text: str) -> list[str]:
    """Split a string at blanks and commas outside parentheses, unless it is a single measure.

    Numbers behind a name of trec_eval are further cutoffs.

    Examples
    --------
    >>> split_measures("P@10 nDCG(dcg='exp-log2', rel=2)@20"), split_measures("P.5,10")
    (['P@10', "nDCG(dcg='exp-log2', rel=2)@20"], ['P.5', 'P.10'])
    """
    return [text] if _is_measure(text) else _parts(text)


def _parts(text: str) -> list[str]:
    """Return the parts of a string between blanks and commas outside parentheses."""
    parts: list[str] = []
    for part in re.findall(r"(?:\([^()]*\)|[^\s,])+", text):
        before = _CUTOFFS.fullmatch(parts[-1]) if parts and part.isdecimal() else None
        parts.append(f"{before['name']}{part}" if before else part)
    return parts if len(parts) > 1 else [text]


def _unknown(text: str) -> InputError:
    parts = _parts(text)
    if len(parts) > 1 and all(_is_measure(part) for part in parts):
        return InputError(
            f"{text!r} is {len(parts)} measures",
            hint=f"give each by itself: {' '.join(f'-m {parse_measure(part)}' for part in parts)}",
        )
    by_lower = {name.lower(): name for name in MEASURES}
    name, at, cutoff = text.partition("@")
    if at and cutoff.isdecimal() and name.lower() in by_lower and name not in MEASURES:
        return InputError(
            f"unknown measure {text!r}", hint=f"did you mean {by_lower[name.lower()]}@{cutoff}?"
        )
    hint = known_names(re.split(r"[(@_]", text)[0], MEASURES, before="write P@10 or P(rel=2)@10; known are ")
    return InputError(f"unknown measure {text!r}", hint=hint)


def _is_measure(text: str) -> bool:
    """Return whether a string can be parsed as one measure."""
    try:
        parse_measure(text)
    except InputError:
        return False
    return True


def _fields(text: str, family: type[Measure], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a string's parameters, keyed by field names of the measure family."""
    keywords, fields = family.keywords(), {}
    for name, value in parameters.items():
        if name in _OF_JUDGED and value is False:
            continue
        if name in _OF_JUDGED:
            raise InputError(
                f"unsupported measure {text!r}: {name} takes unjudged documents out of the ranking",
                hint=_OF_JUDGED[name],
            )
        if name not in keywords:
            raise InputError(
                f"unknown measure {text!r}: {family.name} has no parameter {name!r}",
                hint=known_names(name, keywords or ["none"], before="parameters are "),
            )
        fields[keywords[name]] = value
    return fields


def _parse_text(text: str) -> _ParsedText:
    """Return name, cutoff and parameters from a string, or raise `InputError` for invalid syntax."""
    bare = text.strip()
    if len(bare) > _MAX_CHARACTERS:
        raise _unknown(f"{bare[:20]}…")
    for name in (re.split(r"[(@.]", bare)[0], re.sub(r"(_at_|_)?[0-9.]+(-l[0-9]+)?$", "", bare)):
        if name in UNSUPPORTED and name not in MEASURES:
            return _ParsedText(name, None, {})
    if other := _read_other_writing(bare):
        return other
    match = _WRITING.fullmatch(bare)
    if match is None:
        raise _unknown(text)
    cutoff = int(match["cutoff"]) if match["cutoff"] else None
    return _ParsedText(match["name"], cutoff, _literal_parameters(text, match["inside"] or ""))


def _read_other_writing(text: str) -> _ParsedText | None:
    """Return a measure written in trec_eval, ranx or mteb syntax, or None for any other string."""
    if ranx_match := _RANX_RBP.fullmatch(text):
        return _ParsedText("RBP", None, {"p": float(f"0.{ranx_match['p']}"), **_threshold(ranx_match)})
    plain = _BURGES.sub(r"\g<name>", text)
    formula = {} if plain == text else {"dcg": "exp-log2"}
    other = _OTHER_WRITING.fullmatch(plain)
    if other and (name := (_TREC_EVAL_FAMILIES | _ALIASES).get(other["name"])):
        return _ParsedText(name, int(other["n"] or other["cutoff"]), formula | _threshold(other))
    if not formula:
        return None
    name, at, cutoff = plain.partition("@")
    n = int(cutoff) if at and cutoff.isdecimal() else None
    return _ParsedText({"ndcg": "nDCG", "dcg": "DCG"}[name], n, formula) if n or not at else None


def _threshold(match: re.Match[str]) -> dict[str, Any]:
    """Return the relevance threshold given by a ranx suffix such as ``-l2``, as a keyword."""
    return {"rel": int(match["rel"])} if match["rel"] else {}


def _literal_parameters(text: str, inside: str) -> dict[str, Any]:
    """Return the parameters in parentheses, which must be named literals."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's parser warns of some invalid texts
            call = ast.parse(f"f({inside})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unknown(text) from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise _unknown(text)
    parameters: dict[str, Any] = {}
    for keyword in call.keywords:
        argument = ast.unparse(keyword)
        if keyword.arg is None or keyword.arg in parameters:
            raise InputError(
                f"unknown measure {text!r}: {argument!r} cannot be read", hint="each once, by name"
            )
        written = ast.unparse(keyword.value).replace(" ", "")
        if keyword.arg in _TEXTS and re.fullmatch(r"[a-z][a-z0-9-]*", written):
            parameters[keyword.arg] = written
            continue
        try:
            parameters[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise InputError(f"unknown measure {text!r}: {argument!r} cannot be read") from None
    if call.args:
        raise InputError(f"unknown measure {text!r}: parameters are named, as in P(rel=2)@10")
    return parameters
