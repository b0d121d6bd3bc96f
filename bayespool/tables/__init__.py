"""Tables that people read, of scores and of comparisons: which columns, in which order, to how many decimals.

They are text (`bayespool.markup.TextTable`), which the terminal, a paper and a notebook show alike. The data
frames, which programs read, are the results' own.
"""

from bayespool.tables.arrangement import Arrangement
from bayespool.tables.numbers import number, percent

__all__ = ["Arrangement", "number", "percent"]
