"""`np.pad` against NumPy: all modes over widths, types of elements, orders and extents."""

import numpy as np
import pytest

from lancehead import TypingError, njit
from lib_cases import same
from numpy_agreement import agrees, outcome, plain

TABLE = np.arange(1, 7).reshape(2, 3)
ARRAYS = [TABLE * 1.5, TABLE[::-1, ::2] * 2.5, np.array([[5.0]]), np.zeros((0, 3)), TABLE.astype(np.uint8) * 40]
ARRAYS += [TABLE * (1 + 2j), np.asfortranarray(TABLE).T]
WIDTHS = [
    [[0, 0], [0, 0]],
    [[1, 2], [0, 3]],
    [[7, 8], [5, 4]],
    [[2, 2]],
    [[1], [2]],
    [[0, 0], [1, 1]],
    [[-1, 0], [1, 1]],
]

MODES = {
    "constant": lambda a, w: (
        np.pad(a, w),
        np.pad(a, w, constant_values=3),
        np.pad(a, w, "constant", constant_values=w),
    ),
    "edge": lambda a, w: (np.pad(a, w, "edge"), np.pad(a, w, "wrap")),
    "linear_ramp": lambda a, w: (np.pad(a, w, "linear_ramp"), np.pad(a, w, "linear_ramp", end_values=(5, -4))),
    "maximum": lambda a, w: (np.pad(a, w, "maximum"), np.pad(a, w, "minimum", stat_length=((1, 2), (9, 1)))),
    "mean": lambda a, w: (np.pad(a, w, "mean"), np.pad(a, w, "mean", stat_length=2)),
    "median": lambda a, w: np.pad(a, w, "median", stat_length=((2, 1),)),
    "reflect": lambda a, w: (np.pad(a, w, "reflect"), np.pad(a, w, "symmetric"), np.pad(a, w, "empty").shape),
    "odd": lambda a, w: (np.pad(a, w, "reflect", reflect_type="odd"), np.pad(a, w, "symmetric", reflect_type="odd")),
}


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode):
    compiled = njit(MODES[mode])
    for a in ARRAYS:
        if mode == "median" and a.dtype.kind == "c":
            continue
        for widths in WIDTHS:
            args = [a, np.array(widths)]
            want, got = plain(outcome(MODES[mode], args)), plain(outcome(compiled, args))
            assert same(want, got, 1e-9), (a, widths, want, got)


@pytest.mark.parametrize(
    "text",
    """
np.pad(L,2),np.pad(L,(2,1),'edge'),np.pad(L,(1,),'mean'),np.pad(L,((2,3),),'median'),np.pad(A,[1,2])
np.pad(A,[[1,2],[3,4]])
np.pad(A,((1,),(2,))),np.pad(A,{1:(1,2)}),np.pad(A,{-1:2}),np.pad(A,{0:(3,0)},'wrap')
np.pad(A,1,constant_values=[[1],[2]])
np.pad([1,2,3],2),np.pad(range(3),1),np.pad(np.array(5),0),np.pad(B,1),np.pad(F.astype('f4'),2,'mean')
np.pad(A.T,1).strides
np.pad(F.astype('f2'),2,'linear_ramp'),np.pad(L.astype(np.int8)*50,3,'reflect',reflect_type='odd')
np.pad(A,{5:(3,0)})
np.pad(A,-1)
np.pad(A,((1,2),(3,4),(5,6)))
np.pad(A,(1,2,3))
np.pad(A,1,'edge',constant_values=3)
np.pad(A,1,'constant',stat_length=3)
np.pad(A,1,'mean',reflect_type='odd')
np.pad(A,3,'maximum',stat_length=0)
np.pad(A,3,'other')
np.pad(A,1.5)
""".split(),
)
def test_widths_and_errors(text):
    agrees(text)


def test_a_function_is_no_mode():
    with pytest.raises(TypingError, match="mode of `pad` is a string"):
        njit(lambda a: np.pad(a, 2, lambda v, w, axis, given: None))(TABLE)
