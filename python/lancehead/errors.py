"""Exceptions and warnings, with the names of Numba's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lancehead.options import public


class NumbaWarning(Warning):
    """Base of all warnings; `loc` is where in the source it belongs, if that is known."""

    def __init__(self, msg: Any = "", loc: Any = None, highlighting: bool = True) -> None:
        super().__init__(msg)
        self.msg, self.loc = msg, loc


class NumbaPerformanceWarning(NumbaWarning):
    """A request that could not be made fast."""


class ParallelRaceWarning(NumbaPerformanceWarning):
    """A parallel loop that runs in order, because its iterations depend on each other, or may do so."""


class OptimisationWarning(NumbaPerformanceWarning):
    """A function that is compiled without an optimisation in which lancehead has a fault."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Something that will go away."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Something that will be deprecated."""


class NumbaParallelSafetyWarning(NumbaWarning):
    """A parallel region that may not be safe."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """A conversion that may lose values."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """A feature that may change."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """A setting that means nothing."""


class NumbaPedanticWarning(NumbaWarning):
    """A warning for the strict."""


class NumbaIRAssumptionWarning(NumbaPedanticWarning):
    """An assumption about code that does not hold."""


class NumbaDebugInfoWarning(NumbaWarning):
    """Debug information that could not be made."""


class NumbaSystemWarning(NumbaWarning):
    """A system that lacks something."""


class NumbaCExtensionWarning(NumbaWarning):
    """A module in C that does not fit."""


class NumbaError(Exception):
    """Base of all errors; its text is the diagnostic.

    >>> TypingError("no such axis", loc=None).add_context("in a client").contexts
    ['in a client']
    """

    def __init__(self, msg: Any = "", loc: Any = None, highlighting: bool = True) -> None:
        super().__init__(msg)
        self.loc = loc
        #: The stages of compilation in which the error arose, innermost first.
        self.contexts: list[str] = []
        #: Why overloads are not for the types of a call.
        self.reasons: list[str] = []

    @property
    def msg(self) -> str:
        """The diagnostic."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return "\n".join([self.msg, *(f"During: {context}" for context in self.contexts)])

    def add_context(self, msg: Any) -> NumbaError:
        """Adds what was being done; the error itself is returned, to be raised."""
        self.contexts.append(str(msg))
        return self

    def patch_message(self, new_message: Any) -> None:
        """Replaces the text."""
        self.args = (new_message, *self.args[1:])


class CompilationTimeoutError(NumbaError, TimeoutError):
    """A compilation that takes longer than `lancehead.config.COMPILE_SECONDS`."""


class UnsupportedError(NumbaError):
    """A form of the language that is not supported."""


class UnsupportedBytecodeError(NumbaError):
    """A bytecode that is not supported."""


class UnsupportedSyntaxError(UnsupportedError, UnsupportedBytecodeError):
    """A statement or expression that is not supported, which Numba tells by its bytecode."""


class UnsupportedRewriteError(UnsupportedError):
    """A transformation that is not supported."""


class UnsupportedParforsError(NumbaError):
    """A parallel loop that is not supported."""


class IRError(NumbaError):
    """Code that is not well formed."""


class RedefinedError(IRError):
    """A name that is defined twice."""


class NotDefinedError(IRError):
    """A name that is not defined."""


class VerificationError(IRError):
    """Code that fails verification."""


class DeprecationError(NumbaError):
    """Something that has gone away."""


class LoweringError(NumbaError):
    """Typed code that cannot be made native."""


class ForbiddenConstruct(LoweringError):
    """A construct that is refused."""


class TypingError(NumbaError):
    """Types that do not fit."""


class UntypedAttributeError(TypingError):
    """An attribute that a type lacks."""

    def __init__(self, value: Any, attr: Any = None, loc: Any = None) -> None:
        super().__init__(value if attr is None else f"Unknown attribute {attr!r} of type {value}", loc)


class RequireLiteralValue(TypingError):
    """A value that must be known while compiling."""


class LiteralTypingError(TypingError):
    """A literal that has no literal type."""


class NumbaValueError(TypingError):
    """A value that a compiled function cannot take."""


class ParallelRaceError(UnsupportedError, NumbaValueError, ValueError):
    """Iterations of a parallel loop that depend on each other: found while compiling, or by the check at run time."""


class NumbaTypeError(TypingError):
    """A type that a compiled function cannot take."""


class ArgumentError(NumbaTypeError, TypeError):
    """An argument that a compiled function cannot take: also a `TypeError`, as Python's own functions raise."""


class NumbaAttributeError(TypingError):
    """An attribute that is missing."""


class NumbaAssertionError(TypingError):
    """An assertion that failed while compiling."""


class NumbaNotImplementedError(TypingError, NotImplementedError):
    """Something that is not there, such as what a device cannot do: also a `NotImplementedError`."""


class NumbaKeyError(TypingError):
    """A key that is missing while compiling."""


class NumbaIndexError(TypingError):
    """An index out of range while compiling."""


class NumbaRuntimeError(NumbaError):
    """A failure of the run-time library."""


class ByteCodeSupportError(NumbaError):
    """A failure to read bytecode."""


class CompilerError(NumbaError):
    """A failure to compile."""


class UnsupportedBlockError(UnsupportedError, CompilerError):
    """A block of `objmode` that is not supported."""


class ConstantInferenceError(NumbaError):
    """A constant that cannot be found."""


class ForceLiteralArg(NumbaError):
    """Arguments, by their positions, that must be literals: an overload that raises it is asked again with these."""

    def __init__(self, arg_indices: Iterable[int], fold_arguments: Callable[..., Any] | None = None, loc: Any = None):
        super().__init__("Pseudo-exception to force literal arguments in the dispatcher", loc)
        self.requested_args, self.fold_arguments = frozenset(arg_indices), fold_arguments

    def bind_fold_arguments(self, fold_arguments: Callable[..., Any]) -> ForceLiteralArg:
        """The same, with what orders arguments as the function has them."""
        return ForceLiteralArg(self.requested_args, fold_arguments, self.loc)

    def combine(self, other: ForceLiteralArg) -> ForceLiteralArg:
        """That of both."""
        return ForceLiteralArg(self.requested_args | other.requested_args, None, self.loc)

    __or__ = combine


class InternalError(NumbaError):
    """A bug of lancehead; the message names the file with the report."""


class InternalTargetMismatchError(InternalError):
    """Functions for different targets that call each other."""


class NonexistentTargetError(InternalError):
    """A target that does not exist."""


def __dir__() -> list[str]:
    kinds = (name for name, kind in globals().items() if isinstance(kind, type) and issubclass(kind, BaseException))
    return [*kinds, "deprecated"]


public(globals())


def deprecated(arg: Any) -> Callable[[Any], Any]:
    """A decorator that leaves a function as it is; Numba warns when it is called.

    >>> deprecated("another one")(abs)(-1)
    1
    """
    return lambda function: function
