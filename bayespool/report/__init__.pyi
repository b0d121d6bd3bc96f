from .page import write_report as write_report
from .result import Figure as Figure, Result as Result
from .saving import (
    StoredResult as StoredResult,
    read_result as read_result,
    versions as versions,
)
