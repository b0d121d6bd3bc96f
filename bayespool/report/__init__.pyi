from .experiments import (
    print_leave_out as print_leave_out,
    write_leave_out as write_leave_out,
)
from .files import write_scores as write_scores
from .imputing import (
    print_imputations as print_imputations,
    write_imputations as write_imputations,
)
from .provenance import versions as versions
from .results import (
    read_result as read_result,
)
from .text import (
    print_scores as print_scores,
)
from .writing import write_report as write_report
