from .experiments import (
    print_leave_out as print_leave_out,
)
from .experiments import (
    write_leave_out as write_leave_out,
)
from .files import (
    check_output as check_output,
)
from .files import (
    check_paper_output as check_paper_output,
)
from .files import (
    write_scores as write_scores,
)
from .folder import (
    check_folder as check_folder,
)
from .imputing import (
    print_imputations as print_imputations,
)
from .imputing import (
    write_imputations as write_imputations,
)
from .provenance import (
    MADE_BY as MADE_BY,
)
from .provenance import (
    command_line as command_line,
)
from .provenance import (
    made_by as made_by,
)
from .provenance import (
    versions as versions,
)
from .provenance import (
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
)
from .writing import (
    write_report as write_report,
)
