"""Pooling strategies, which choose the documents to judge from the contributing runs."""

import lazy_loader

from bayespool.errors import renamed_names

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = renamed_names(
    __name__,
    {
        "Chosen": "PoolSelection",
        "choice_frame": "selection_frame",
        "contributions_of": "count_contributions",
        "inclusion_of_topic": "inclusion_probabilities",
        "judged_by": "restrict_judgments",
        "order_of_topic": "judging_order",
        "qrels_of_choice": "selection_qrels",
    },
    __getattr__,
)

# strategies are registered by their import
from bayespool.pooling import fusion, sampling, bandits, rank_biased  # noqa: E402, F401, I001
from bayespool import names  # noqa: E402
from bayespool.pooling.registry import STRATEGIES  # noqa: E402

for _name in names.STRATEGIES:
    STRATEGIES[_name] = STRATEGIES.pop(_name)  # to their order
