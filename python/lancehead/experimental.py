"""Numba's `experimental`, which lancehead does not have: importing it says what to write instead."""

from lancehead._absent import Absent

raise ImportError(Absent(__name__).__lancehead_refused__, name=__name__)
