"""Messages about dtypes that compiled arrays do not have name one that they have."""

import numpy as np
import pytest

from lancehead import errors, njit


@pytest.mark.parametrize(
    ("f", "dtype", "way"),
    [
        (
            lambda a: a.astype(str),
            "builtins.str",
            r'texts in arrays have a length: `"U20"`; or make a list, `\[str\(x\)',
        ),
        (lambda a: a.astype("U"), "U", r'texts in arrays have a length: `"U20"`'),
        (lambda a: np.zeros(3, str), "builtins.str", r'texts in arrays have a length: `"U20"`'),
        (lambda a: a.astype(np.bytes_), "numpy.bytes_", r'bytes in arrays have a length: `"S20"`'),
        (lambda a: a.astype(object), "builtins.object", "use a list for objects"),
        (lambda a: a.astype("number"), "number", "write it as `np.float64` and the like"),
    ],
)
def test_dtypes_without_a_form_in_arrays(f, dtype, way):
    with pytest.raises(errors.TypingError, match=rf"(?s)`{dtype}` is not a dtype known while compiling.*help: {way}"):
        njit(f)(np.arange(3))


def test_a_dtype_that_the_call_says_is_told_as_such():
    with pytest.raises(errors.TypingError, match="(?s)`str` is not a dtype known .*help: write it as `np.float64`"):
        njit(lambda a, name: a.astype(name))(np.arange(3), "float32")
