"""Numba's low-level extension API: what `intrinsic`, `lower_builtin`, `box` and their like register.

Code generators of extensions get a context and a builder as with Numba. Here these are recorders: what a generator asks
for becomes a function of the library's dialect (`recorder.py`), which is typed, verified, inlined and compiled like any
other, and whose lines are those of the generator's file.

- `irtypes.py` has the names of `llvmlite.ir`, `values.py` what a generator holds, and how types of Numba are told as
  types of LLVM.
- `recorder.py` gathers statements and makes functions of them, `builder.py` is the builder, `cgutils.py` Numba's module
  of that name, `proxies.py` its struct proxies, `context.py` the context, `pyapi.py` the C API of Python.
- `implicit.py` and `array_likes.py` register overloads for what compiled code does by itself: loops, conversions,
  printing, and arrays that values of a type hold.
- `function_types.py` makes functions of addresses, `lapack.py` and `unsafe.py` have the functions of Numba's that
  extensions call, `nrt.py` its memory management for C code.
- `llvm_intrinsics.py` writes LLVM's intrinsics with the builder, `ctypes_utils.py` and `texts.py` stand for Numba's
  modules about functions of C, texts and bytes.
- `models.py` has data models, `boxing.py` brings objects in and out, `registry.py` the decorators and how a call finds
  what they registered.
"""
