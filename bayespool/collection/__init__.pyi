from .build import (
    build_collection as build_collection,
    finish_collection as finish_collection,
    make_encoding as make_encoding,
)
from .contents import Collection as Collection
from .judges import Judge as Judge, add_judges as add_judges, judge_where_labeled as judge_where_labeled
from .pools import Pool as Pool
from .rankings import rows as rows
