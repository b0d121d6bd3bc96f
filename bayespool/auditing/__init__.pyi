from .auditing import Audit as Audit
from .certificates import read_audit as read_audit
from .leaders import LeaderAudit as LeaderAudit
from .sequences import (
    Walk as Walk,
    capital as capital,
    confidence_sequence as confidence_sequence,
    walk as walk,
)
from .settings import AuditSettings as AuditSettings
from .starting import audit as audit
from .tables import foretell as foretell
from .urns import Urn as Urn
