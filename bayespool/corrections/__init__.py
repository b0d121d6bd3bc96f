"""Published point corrections, one file per paper."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# corrections are registered by their import, in the order of tables
from bayespool.corrections import ravana_moffat, webber_park, lipani, condensed  # noqa: E402, F401, I001
from bayespool.corrections import froebe, lu_moffat_culpepper, random_samples, labels  # noqa: E402, F401
from bayespool.corrections import angelopoulos, divekar_majumder, oosterhuis  # noqa: E402, F401
