from .auditing import Audit as Audit, audit as audit
from .certificates import read_audit as read_audit
from .sequences import (
    Walk as Walk,
    capital as capital,
    confidence_sequence as confidence_sequence,
    walk as walk,
)
from .settings import AuditSettings as AuditSettings
from .urns import Urn as Urn
