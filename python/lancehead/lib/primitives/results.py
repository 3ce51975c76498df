"""Results of primitives that have several parts, for lazy arrays and for compiled code."""

from collections import namedtuple

PartitionResult = namedtuple("PartitionResult", ["values", "count"])
SortByKeyResult = namedtuple("SortByKeyResult", ["keys", "values"])
TopKResult = namedtuple("TopKResult", ["values", "indices"])
RunLengthResult = namedtuple("RunLengthResult", ["values", "lengths"])
HistogramResult = namedtuple("HistogramResult", ["counts", "edges"])
