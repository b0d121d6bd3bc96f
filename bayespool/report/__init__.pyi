from .provenance import versions as versions
from .result import Figure as Figure, Result as Result, Summary as Summary, write_report as write_report
from .stored import StoredResult as StoredResult, read_result as read_result
