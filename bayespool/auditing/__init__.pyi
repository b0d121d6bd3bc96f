from .agreement import JudgeAudit as JudgeAudit, audit_judges as audit_judges
from .auditing import Audit as Audit
from .designs import SamplingDesign as SamplingDesign, draw_design as draw_design
from .differences import (
    Walk as Walk,
    capital as capital,
    confidence_sequence as confidence_sequence,
    foretell as foretell,
    walk as walk,
)
from .drift import (
    JudgeDrift as JudgeDrift,
    detect_drift as detect_drift,
    judge_evidence as judge_evidence,
    system_evidence as system_evidence,
)
from .starting import audit as audit, read_audit as read_audit
from .urns import Urn as Urn
