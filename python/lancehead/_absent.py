"""Names of Numba that lancehead does not have, but which programs import before they know whether they need them.

They can be imported, derived from and, where that is what they are for, used as decorators. Whoever needs one gets an
`UnsupportedError` that names it: Python when it calls the name, the compiler when a compiled function does.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from opcode import opmap
from typing import Any

from lancehead import _core, errors, options

#: Modules of which only such names exist.
MODULES = frozenset(
    f"numba.{package}{name and '.'}{name}"
    for package, names in {
        "core": "analysis annotations base boxing bytecode byteflow callconv callwrapper ccallback cgutils "
        "codegen compiler compiler_lock compiler_machinery consts controlflow cpu cpu_options datamodel debuginfo "
        "descriptors dispatcher environment event externals fastmathpass funcdesc generators imputils "
        "inline_closurecall interpreter intrinsics ir ir_utils itanium_mangler llvm_bindings lowering "
        "object_mode_passes optional options postproc pylowering pythonapi registry rewrites runtime serialize "
        "sigutils ssa target_extension targetconfig tracing transforms typeconv typed_passes typeinfer typing unsafe "
        "untyped_passes utils withcontexts",
        "core.datamodel": "manager models packer registry",
        "core.rewrites": "ir_print registry static_binop static_getitem static_raise",
        "core.runtime": "context nrt nrtdynmod nrtopt",
        "core.typeconv": "castgraph rules typeconv",
        "core.typing": "arraydecl asnumbatype bufproto builtins cmathdecl collections context ctypes_utils dictdecl "
        "enumdecl listdecl mathdecl npydecl setdecl templates typeof",
        "core.unsafe": "bytes eh nrt refcount",
        "cpython": " builtins charseq cmathimpl enumimpl hashing heapq iterators listobj mathimpl numbers printimpl "
        "randomimpl rangeobj setobj slicing tupleobj unicode unicode_support unsafe",
        "cpython.unsafe": "numbers tuple",
        "experimental": "function_type",
        "experimental.jitclass": "base boxing decorators overloads",
        "misc": "cffiimpl dump_style gdb_hook help init_utils inspection literal llvm_pass_timings memoryutils "
        "mergesort quicksort timsort",
        "np": "arraymath arrayobj linalg math npdatetime npdatetime_helpers npyfuncs npyimpl polynomial "
        "random types ufunc_db",
        "np.math": "cmathimpl mathimpl numbers",
        "np.polynomial": "polynomial_core polynomial_functions",
        "np.random": "distributions generator_core generator_methods legacy random_methods",
        "np.ufunc": "array_exprs decorators dufunc gufunc parallel sigparse ufunc_base ufuncbuilder wrappers",
        "np.unsafe": "ndarray",
        "parfors": " array_analysis parfor parfor_lowering parfor_lowering_utils",
        "pycc": "compiler decorators llvm_types platform",
        "stencils": " stencil stencilparfor",
        "typed": "dictimpl dictobject listobject setobject typedobjectutils typedset",
        "cuda": "cudaimpl target cudadecl cudamath libdeviceimpl printimpl descriptor codegen nvvmutils simulator",
        "cuda.cudadrv": " devicearray devices driver drvapi enums error libs nvvm nvrtc runtime",
    }.items()
    for name in names.split(" ")
) | frozenset(
    f"numba_cuda_mlir.{name}"
    for name in "_mlir ast_transforms cuda.experimental cuda.intrin cuda.tensor_map descriptor lowering "
    "lowering_registry lowering_utilities memory_management mlir mlir_compiler mlir_lowering mlir_optimization runtime "
    "type_defs".split()
)

#: Names of modules which have other names, too.
NAMES = {
    "numba": "gdb gdb_breakpoint gdb_init",
    "numba.core.decorators": "_jit",
    "lancehead": "gdb gdb_breakpoint gdb_init generated_jit jitclass",
    "numba.extending": "register utils",
    "numba.types": "LiteralStrKey",
    "numba_cuda_mlir.cuda": "compile_cubin compile_mlir inline_ptx",
}

#: Hints about alternatives, by a substring of the name; the first match counts.
INSTEAD = {
    "jitclass": "use `lancehead.experimental.jitclass`",
    "generated_jit": "use `lancehead.extending.overload`, which chooses by types, too",
    "gdb": "compile with `debug=True` and start the program in gdb",
}

#: Names that tell a compiler something when they are called, and do nothing where nobody asks.
REGISTERING = (
    "as_numba_type box infer_getattr lower_builtin lower_cast lower_constant lower_getattr lower_getattr_generic "
    "lower_setattr make_attribute_wrapper overload_classmethod register register_model type_callable typeof_impl unbox"
).split()


class Inert:
    """The base of classes that derive from an absent one."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass


class Absent:
    """A name that lancehead does not have."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def __lancehead_refused__(self) -> str:
        """Why it cannot be used in compiled code."""
        instead = next(
            (text for part, text in INSTEAD.items() if part in self._name),
            "write it as a Python function: such are compiled on the way",
        )
        return f"`{self._name}` is not supported; {instead}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}")

    def __call__(self, *args: Any, **options: Any) -> Any:
        parts = self._name.split(".")
        if any(part in REGISTERING for part in parts):
            return lambda made: made
        if parts[-1] in ("intrinsic", "jitclass"):
            return (
                absent_as(parts[-1])(*args)
                if len(args) == 1 and is_definition(args[0], parts[-1])
                else absent_as(parts[-1])
            )
        raise errors.UnsupportedError(self.__lancehead_refused__)

    def __getitem__(self, key: Any) -> Absent:
        # Classes have subscripts in annotations; tables, whose names begin with a small letter, have no entries.
        if not self._name.rpartition(".")[2][:1].isupper():
            raise TypeError(f"{self.__lancehead_refused__}: it has no items")
        return Absent(f"{self._name}[{key!r}]")

    def __or__(self, other: Any) -> Absent:
        return self

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (
            ()
            if any(base is not self and isinstance(base, Absent) for base in bases[: bases.index(self)])
            else (Inert,)
        )

    def __instancecheck__(self, value: object) -> bool:
        return False

    def __subclasscheck__(self, value: type) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<{self._name}, which lancehead does not support>"


def is_definition(value: Any, decorator: str) -> bool:
    """Whether a decorator without options is given what it decorates."""
    return isinstance(value, type) if decorator == "jitclass" else hasattr(value, "__code__")


def absent_as(decorator: str) -> Callable[[Any], Any]:
    """A decorator that makes what it decorates absent."""
    return lambda made: Absent(f"@{decorator} {made.__qualname__}")


@functools.cache
def lenient(decorator: Any) -> Any:
    """`njit` or `jit`, which leaves a function that needs something unsupported for its first call, where it is to
    be compiled at once: an import of a module does not fail for what nobody may call."""

    @functools.wraps(decorator)
    def decorate(given: Any = None, **options: Any) -> Any:
        made = decorator(given, **options)
        if isinstance(made, _core.Dispatcher) or not isinstance(given, (str, tuple, list, _core.Signature)):
            return made

        def compile_now(function: Any) -> Any:
            try:
                return made(function)
            except (errors.TypingError, errors.LoweringError) as error:
                if not str(error).startswith(("error[unsupported-", "error[extension-failed]")):
                    raise
                return decorator(**options)(function)

        return compile_now

    return decorate


def missing(module: str, name: str) -> AttributeError | ImportError:
    """The error for a name that a module of lancehead lacks; a name of Numba's says what to write instead.

    It is an ImportError for `from module import name`, else an AttributeError.
    """
    known = NAMES.get(module, "").split() + NAMES.get(module.replace("lancehead", "numba", 1), "").split()
    full = f"{module}.{name}"
    if name not in known:
        return options.missing(module, name, calls=2)
    text = Absent(full).__lancehead_refused__
    # `from module import name` drops the text of an AttributeError. The import system asks a package for it, the
    # instruction any other module.
    frame = sys._getframe(2)
    imports = frame.f_code.co_name == "_handle_fromlist" or frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]
    return ImportError(text, name=full) if imports else AttributeError(text, name=name)


def find(module: str, name: str) -> Absent | None:
    """The placeholder for a name of a Numba module that lancehead lacks; None if Numba has no such name."""
    if module.startswith(("numba.core.types", "numba.types")):
        module = "numba.types"
    elif module == "numba.core.extending":
        module = "numba.extending"
    if name in NAMES.get(module, "").split() or (module in MODULES and not name.startswith("__")):
        return Absent(f"{module}.{name}")
    return None
