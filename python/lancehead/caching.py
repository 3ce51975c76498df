"""Numba's module of caches, for programs that say where code is kept: they derive from `_CacheLocator` and put the
class into `CacheImpl._locator_classes`.

lancehead's own cache is another one: its entries record all dependencies, so that a locator only chooses the directory,
and the sources' stamp and disambiguator (`get_source_stamp`, `get_disambiguator`) also tell the functions of a file
apart.
"""

from __future__ import annotations

import abc
import hashlib
import os
import pathlib
import pickle
import tempfile
from typing import Any, ClassVar

from lancehead import _core, config


class _CacheLocator(abc.ABC):
    """Says where the code of a function is kept.

    >>> class Beside(_CacheLocator):
    ...     def get_cache_path(self):
    ...         return "/tmp/kept"
    ...     def get_source_stamp(self):
    ...         return 1
    ...     def get_disambiguator(self):
    ...         return "main"
    ...     @classmethod
    ...     def from_function(cls, py_func, py_file):
    ...         return cls()
    >>> Beside.from_function(len, "").get_cache_path()
    '/tmp/kept'
    """

    def ensure_cache_path(self) -> None:
        """Makes the directory, and raises OSError where it cannot be written to."""
        path = self.get_cache_path()
        os.makedirs(path, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()

    @abc.abstractmethod
    def get_cache_path(self) -> str:
        """The directory."""

    @abc.abstractmethod
    def get_source_stamp(self) -> Any:
        """A value that changes when the source does."""

    @abc.abstractmethod
    def get_disambiguator(self) -> str | None:
        """A text that tells apart functions with the same name and line."""

    @classmethod
    @abc.abstractmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """The locator of a function in a file; `None` if it is not for that."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """The name of a directory for the functions of a file."""
        path = os.path.abspath(py_file)
        parent = os.path.dirname(path)
        return f"{os.path.basename(parent)}_{hashlib.sha1(parent.encode()).hexdigest()}"


class _SourceFileBackedLocatorMixin:
    """Locators of functions whose source is a file."""

    _py_file: str
    _lineno: int

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_func, self._py_file, self._lineno = py_func, py_file, py_func.__code__.co_firstlineno

    def get_source_stamp(self) -> Any:
        """When the file was changed, and its size."""
        found = os.stat(self._py_file)
        return found.st_mtime, found.st_size

    def get_disambiguator(self) -> str | None:
        """The line of the function."""
        return str(self._lineno)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """The locator of a function, if its file exists and the directory can be written to."""
        if not os.path.exists(py_file):
            return None
        made: Any = cls(py_func, py_file)
        try:
            made.ensure_cache_path()
        except OSError:
            return None
        return made


class UserProvidedCacheLocator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """The directory that the settings name."""

    def get_cache_path(self) -> str:
        """A directory in it."""
        return os.path.join(config.CACHE_DIR, self.get_suitable_cache_subpath(self._py_file))

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """The locator, if there is such a directory."""
        return super().from_function(py_func, py_file) if config.CACHE_DIR else None


class InTreeCacheLocator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """`__pycache__` beside the source."""

    def get_cache_path(self) -> str:
        """That directory."""
        return os.path.join(os.path.dirname(self._py_file), "__pycache__")


class InTreeCacheLocatorFsAgnostic(InTreeCacheLocator):
    """The same, where times of files have no fractions."""

    def get_source_stamp(self) -> Any:
        """When the file was changed, in seconds, and its size."""
        changed, size = super().get_source_stamp()
        return int(changed), size


class UserWideCacheLocator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """A directory of the user's."""

    def get_cache_path(self) -> str:
        """A directory in `~/.cache`."""
        base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        return str(base / "lancehead" / self.get_suitable_cache_subpath(self._py_file))


class IPythonCacheLocator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """Cells of notebooks."""

    get_cache_path = UserWideCacheLocator.get_cache_path


class ZipCacheLocator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """Modules in archives."""

    get_cache_path = UserWideCacheLocator.get_cache_path

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """The locator, if the file is in an archive."""
        return cls(py_func, py_file) if ".zip" in py_file else None


_OWN = (
    UserProvidedCacheLocator,
    InTreeCacheLocator,
    InTreeCacheLocatorFsAgnostic,
    UserWideCacheLocator,
    IPythonCacheLocator,
    ZipCacheLocator,
)


class CacheImpl:
    """Where the code of a function is kept, by the first of the locators that is for it.

    Raises:
        RuntimeError: none is.
    """

    _locator_classes: ClassVar[list[Any]] = [*_OWN]

    def __init__(self, py_func: Any) -> None:
        code = py_func.__code__
        file = code.co_filename
        self._lineno = code.co_firstlineno
        found = (locator.from_function(py_func, file) for locator in self._locator_classes)
        self._locator = next((locator for locator in found if locator is not None), None)
        if self._locator is None:
            raise RuntimeError(
                f"cannot cache function {py_func.__qualname__!r}: no locator available for file {file!r}"
            )
        self._filename_base = self.get_filename_base(f"{py_func.__module__}.{py_func.__qualname__}", "")

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """The common prefix of the names of a function's cache files."""
        return f"{fullname.rpartition('.')[2]}-{self._lineno}"

    @property
    def filename_base(self) -> str:
        """The common prefix of the names of the cache files."""
        return self._filename_base

    @property
    def locator(self) -> Any:
        """The locator."""
        return self._locator

    def reduce(self, data: Any) -> Any:
        """The form in which some data is stored."""
        return data

    def rebuild(self, target_context: Any, reduced_data: Any) -> Any:
        """The data again."""
        return reduced_data

    def check_cachable(self, data: Any) -> bool:
        """Whether it may be stored."""
        return True


class CompileResultCacheImpl(CacheImpl):
    """Where compiled functions are kept."""


class CodeLibraryCacheImpl(CacheImpl):
    """Where the code of ufuncs is kept."""


class IndexDataCacheFile:
    """Objects by keys, in a file for each and one that lists them, as long as the source has its stamp."""

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        self._path, self._base, self._stamp = pathlib.Path(cache_path), filename_base, source_stamp

    def _index(self) -> dict[Any, str]:
        try:
            stamp, entries = self._read(f"{self._base}.nbi") or (None, {})
        except (pickle.UnpicklingError, EOFError, ValueError):
            return {}
        return entries if stamp == self._stamp else {}

    def _read(self, name: str) -> Any:
        # A pickle may run code.
        data = _core.kept_file(self._path, name)
        return None if data is None else pickle.loads(data)

    def _write(self, name: str, data: Any) -> None:
        _core.keep_file(self._path, name, pickle.dumps(data))

    def flush(self) -> None:
        """Forgets all."""
        self._write(f"{self._base}.nbi", (self._stamp, {}))

    def save(self, key: Any, data: Any) -> None:
        """Stores an object."""
        entries = self._index()
        name = entries.setdefault(key, f"{self._base}.{len(entries) + 1}.nbc")
        self._write(name, data)
        self._write(f"{self._base}.nbi", (self._stamp, entries))

    def load(self, key: Any) -> Any:
        """The object of a key; `None` if there is none."""
        name = self._index().get(key)
        return None if name is None else self._read(name)


class _Cache:
    """The base of caches, in which dispatchers keep code."""


class NullCache(_Cache):
    """A cache that keeps nothing."""

    cache_path = None

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Finds nothing."""

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keeps nothing."""

    def enable(self) -> None:
        """Does nothing."""

    disable = flush = enable


class Cache(_Cache):
    """A cache of what a function was compiled to, for programs that keep something of their own beside it."""

    _impl_class: Any = CompileResultCacheImpl

    def __init__(self, py_func: Any) -> None:
        self._py_func, self._impl, self._enabled = py_func, self._impl_class(py_func), False
        locator = self._impl.locator
        self._cache_path, self._name = locator.get_cache_path(), repr(py_func)
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, locator.get_source_stamp())
        self.enable()

    @property
    def cache_path(self) -> str:
        """The directory."""
        return str(self._cache_path)

    def enable(self) -> None:
        """Keeps and finds from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Keeps and finds nothing from now on."""
        self._enabled = False

    def flush(self) -> None:
        """Forgets all."""
        self._cache_file.flush()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The data stored for a signature, or `None`."""
        found = self._cache_file.load(str(sig)) if self._enabled else None
        return None if found is None else self._impl.rebuild(target_context, found)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keeps something for a signature."""
        if self._enabled and self._impl.check_cachable(data):
            self._impl.locator.ensure_cache_path()
            self._cache_file.save(str(sig), self._impl.reduce(data))


class FunctionCache(Cache):
    """The cache of a compiled function."""


def make_library_cache(prefix: str) -> type:
    """A class of caches whose files have a prefix."""
    impl = type(
        "CustomCodeLibraryCacheImpl",
        (CodeLibraryCacheImpl,),
        {"get_filename_base": lambda self, name, flags: prefix + CacheImpl.get_filename_base(self, name, flags)},
    )
    return type("LibraryCache", (Cache,), {"_impl_class": impl})


def located(function: Any, file: str) -> tuple[str, str] | None:
    """The directory that a program's own locator gives for a function, and what tells its files from others; `None` if
    there is no such locator."""
    for locator in (*CompileResultCacheImpl._locator_classes, *CacheImpl._locator_classes):
        if locator in _OWN:
            continue
        found = locator.from_function(function, file)
        if found is not None:
            found.ensure_cache_path()
            told = repr((found.get_disambiguator(), found.get_source_stamp()))
            return str(found.get_cache_path()), hashlib.sha1(told.encode()).hexdigest()[:12]
    return None


# Names of older versions of Numba.
_UserProvidedCacheLocator, _InTreeCacheLocator, _UserWideCacheLocator, _IPythonCacheLocator, _CacheImpl = (
    UserProvidedCacheLocator,
    InTreeCacheLocator,
    UserWideCacheLocator,
    IPythonCacheLocator,
    CacheImpl,
)

__all__ = [
    "Cache", "CacheImpl", "CodeLibraryCacheImpl", "CompileResultCacheImpl", "FunctionCache", "IPythonCacheLocator",
    "InTreeCacheLocator", "InTreeCacheLocatorFsAgnostic", "IndexDataCacheFile", "NullCache",
    "UserProvidedCacheLocator", "UserWideCacheLocator", "ZipCacheLocator", "make_library_cache",
]  # fmt: skip
