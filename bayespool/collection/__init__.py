"""The `Collection` class for runs, judgments, labels and pools.

Documents are *pair codes*: every (topic, document) that a run retrieved or an assessor judged has one
integer, numbered by topic and then by document id in byte order, so that a larger code within a topic is a
larger document id, as trec_eval breaks ties.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
