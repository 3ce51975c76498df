"""Tools of tests for both NumPy and the device: decorators that compare, loops over types, arrays."""

from __future__ import annotations

from lancehead.cupy.testing.comparing import (
    numpy_cupy_allclose,
    numpy_cupy_array_almost_equal,
    numpy_cupy_array_almost_equal_nulp,
    numpy_cupy_array_equal,
    numpy_cupy_array_less,
    numpy_cupy_array_list_equal,
    numpy_cupy_array_max_ulp,
    numpy_cupy_equal,
    numpy_cupy_raises,
)
from lancehead.cupy.testing.loops import (
    for_all_dtypes,
    for_all_dtypes_combination,
    for_CF_orders,
    for_complex_dtypes,
    for_contiguous_axes,
    for_dtypes,
    for_dtypes_combination,
    for_float_dtypes,
    for_int_dtypes,
    for_int_dtypes_combination,
    for_orders,
    for_signed_dtypes,
    for_signed_dtypes_combination,
    for_unsigned_dtypes,
    for_unsigned_dtypes_combination,
)
from lancehead.cupy.testing.making import (
    NumpyAliasBasicTestBase,
    NumpyAliasValuesTestBase,
    assert_allclose,
    assert_array_almost_equal,
    assert_array_almost_equal_nulp,
    assert_array_equal,
    assert_array_less,
    assert_array_list_equal,
    assert_array_max_ulp,
    assert_warns,
    fix_random,
    generate_matrix,
    generate_seed,
    installed,
    multi_gpu,
    numpy_satisfies,
    parameterize,
    product,
    product_dict,
    shaped_arange,
    shaped_linspace,
    shaped_random,
    shaped_reverse_arange,
    shaped_sparse_random,
    slow,
    with_requires,
)
from lancehead.options import public

__all__ = [
    "NumpyAliasBasicTestBase", "NumpyAliasValuesTestBase", "assert_allclose", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less", "assert_array_list_equal",
    "assert_array_max_ulp", "assert_warns", "fix_random", "for_CF_orders", "for_all_dtypes",
    "for_all_dtypes_combination", "for_complex_dtypes", "for_contiguous_axes", "for_dtypes", "for_dtypes_combination",
    "for_float_dtypes", "for_int_dtypes", "for_int_dtypes_combination", "for_orders", "for_signed_dtypes",
    "for_signed_dtypes_combination", "for_unsigned_dtypes", "for_unsigned_dtypes_combination", "generate_matrix",
    "generate_seed", "installed", "multi_gpu", "numpy_cupy_allclose", "numpy_cupy_array_almost_equal",
    "numpy_cupy_array_almost_equal_nulp", "numpy_cupy_array_equal", "numpy_cupy_array_less",
    "numpy_cupy_array_list_equal", "numpy_cupy_array_max_ulp", "numpy_cupy_equal", "numpy_cupy_raises",
    "numpy_satisfies", "parameterize", "product", "product_dict", "shaped_arange", "shaped_linspace", "shaped_random",
    "shaped_reverse_arange", "shaped_sparse_random", "slow", "with_requires",
]  # fmt: skip
public(globals())
