from .page import write_report as write_report
from .reading import (
    StoredResult as StoredResult,
    read_result as read_result,
)
from .result import Figure as Figure, Result as Result
from .saving import versions as versions
