from .frames import (
    labels_from_frame as labels_from_frame,
    qrels_from_frame as qrels_from_frame,
    run_from_frame as run_from_frame,
)
from .keys import (
    CONTRIBUTOR_KEYS as CONTRIBUTOR_KEYS,
    READING_KEYS as READING_KEYS,
    ReadingKey as ReadingKey,
    parse_reading as parse_reading,
)
from .readers import (
    Reading as Reading,
    read_labels as read_labels,
    read_organizations as read_organizations,
    read_qrels as read_qrels,
    read_run as read_run,
    read_runs as read_runs,
    write_organizations as write_organizations,
    write_qrels as write_qrels,
    write_run as write_run,
)
from .records import (
    LISTED as LISTED,
    NEVER_JUDGED as NEVER_JUDGED,
    UNJUDGED as UNJUDGED,
    Labels as Labels,
    Negative as Negative,
    Order as Order,
    Qrels as Qrels,
    Run as Run,
    Skipped as Skipped,
)
from .sources import (
    Judgments as Judgments,
    Organizations as Organizations,
    Runs as Runs,
    gather_qrels as gather_qrels,
)
from .texts import read_texts as read_texts
