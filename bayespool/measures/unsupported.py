"""Measures of ir_measures and trec_eval that are not supported, each with the reason."""

from __future__ import annotations

_SUBTOPICS = "it needs judgments of subtopics, and bayespool reads one relevance per document"
_WHOLE = "it is of the whole ranking, and no cutoff says how deep judgments are completed"
_COUNT = "it is a number of things in the files, and no measure of a ranking"
_STOPS = "its weights depend on the gains that a reader has found, for which there are no bounds here"
_JUDGED_ALONE = "it passes over unjudged documents, so that there is nothing to complete"
_SAMPLED = "it is an estimator itself, for judgments that were sampled from the pool"

UNSUPPORTED: dict[str, str] = {
    "AP_IA": _SUBTOPICS,
    "Accuracy": "it is of pairs of documents, a diagnosis of training, for which there are no bounds here",
    "BPM": _STOPS,
    "BPref": _JUDGED_ALONE,
    "Bpref": _JUDGED_ALONE,
    "Compat": _WHOLE,
    "ERR_IA": _SUBTOPICS,
    "INSQ": _WHOLE,
    "INST": _STOPS,
    "IPrec": "it is of the whole ranking: what stands behind the @ is a recall, and no cutoff",
    "MAP_IA": _SUBTOPICS,
    "NERR10": _STOPS,
    "NERR11": _STOPS,
    "NERR8": _STOPS,
    "NERR9": _STOPS,
    "NRBP": _SUBTOPICS,
    "NumQ": _COUNT,
    "NumRel": _COUNT,
    "NumRelRet": f"{_WHOLE}; write P@n or R@n",
    "NumRet": f"{_WHOLE}; write P@n or R@n",
    "P_IA": _SUBTOPICS,
    "RPrec": "its cutoff is the number of relevant documents, which differs from completion to completion",
    "Rprec": "its cutoff is the number of relevant documents, which differs from completion to completion",
    "SetAP": f"{_WHOLE}; write AP@n",
    "SetF": f"{_WHOLE}; write P@n and R@n",
    "SetP": f"{_WHOLE}; write P@n",
    "SetR": f"{_WHOLE}; write R@n",
    "SetRelP": f"{_WHOLE}; write P@n and R@n",
    "StRecall": _SUBTOPICS,
    "alpha_DCG": _SUBTOPICS,
    "alpha_nDCG": _SUBTOPICS,
    "infAP": _SAMPLED,
    "nERR_IA": _SUBTOPICS,
    "nNRBP": _SUBTOPICS,
    "α_DCG": _SUBTOPICS,
    "α_nDCG": _SUBTOPICS,
    # as trec_eval prints them
    "Rprec_mult": "its cutoffs are numbers of relevant documents, which differ from completion to completion",
    "bpref": _JUDGED_ALONE,
    "gm_map": "it is a geometric mean over topics; write AP@1000 for the arithmetic one",
    "num_q": _COUNT,
    "num_rel": _COUNT,
    "num_rel_ret": f"{_WHOLE}; write P@n or R@n",
    "num_ret": f"{_WHOLE}; write P@n or R@n",
    "set_F": f"{_WHOLE}; write P@n and R@n",
    "set_P": f"{_WHOLE}; write P@n",
    "set_map": f"{_WHOLE}; write AP@n",
    "set_recall": f"{_WHOLE}; write R@n",
    "set_relative_P": f"{_WHOLE}; write P@n and R@n",
}
"""Reason by name."""
