"""What all tests of the package share."""

import os
import sys

import pytest

from lancehead import type_texts


@pytest.fixture(autouse=True)
def served_only_by_a_test():
    """A test that serves Numba in its own process serves it to no other test."""
    served, finders, variable = type_texts.served, list(sys.meta_path), os.environ.get("LANCEHEAD_SERVE_NUMBA")
    yield
    if type_texts.served != served:
        sys.meta_path[:] = finders
        type_texts.served = served
        for name in [name for name in sys.modules if name.split(".")[0] in ("numba", "llvmlite")]:
            del sys.modules[name]
        if variable is None:
            os.environ.pop("LANCEHEAD_SERVE_NUMBA", None)
