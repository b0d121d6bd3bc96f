from .experiments import (
    print_leave_out as print_leave_out,
    write_leave_out as write_leave_out,
)
from .files import (
    check_output as check_output,
    check_paper_output as check_paper_output,
    write_scores as write_scores,
)
from .folder import (
    check_folder as check_folder,
)
from .imputing import (
    print_imputations as print_imputations,
    write_imputations as write_imputations,
)
from .provenance import (
    MADE_BY as MADE_BY,
    command_line as command_line,
    made_by as made_by,
    versions as versions,
    with_provenance as with_provenance,
)
from .results import (
    read_result as read_result,
)
from .text import (
    print_scores as print_scores,
)
from .writing import (
    check_report as check_report,
    write_report as write_report,
)
