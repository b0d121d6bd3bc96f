from .build import (
    build_collection as build_collection,
    finish_collection as finish_collection,
    make_encoding as make_encoding,
)
from .collection import Collection as Collection
from .contents import Judge as Judge, Pool as Pool
from .judges import add_judges as add_judges, judge_where_labeled as judge_where_labeled
from .rankings import rows as rows
