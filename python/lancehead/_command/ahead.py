"""`lancehead build`: functions compiled ahead of time, as an extension module and as a shared library with a C
header."""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lancehead import _core, errors, types
from lancehead._command import c_text
from lancehead.pycc import CC

#: Processors that are compiled for unless it is said: all of the last fifteen years.
LEVELS = ("x86-64-v2",)
ALL_LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
_NUMBERS = ("Integer", "Float", "Complex", "Boolean")
_ARCHIVE = "liblancehead.a"


@dataclass
class Export:
    """A function with one signature."""

    name: str
    function: Any
    signature: Any


@dataclass
class Product:
    """The options of a build: the library's name, its directory, the processors, and which of the two forms to make."""

    name: str
    directory: Path
    levels: Sequence[str | None] = LEVELS
    module: bool = True
    library: bool = True
    verbose: bool = False
    file: str | None = None

    def module_file(self) -> Path:
        """Path of the extension module."""
        return self.directory / (self.file or self.name + str(sysconfig.get_config_var("EXT_SUFFIX")))


def levels(names: Sequence[str]) -> list[str | None]:
    """Levels of processors by their names, lowest first; `host`, which is `None`, for this computer's processor
    alone."""
    for name in names:
        if name != "host" and name not in ALL_LEVELS:
            raise ValueError(f"{name!r} is no level of processors: {', '.join([*ALL_LEVELS, 'host'])}")
    if "host" in names and len(names) > 1:
        raise ValueError("'host' stands alone: what else is made for would not run here better")
    return [None] if "host" in names else [level for level in ALL_LEVELS if level in names] or list(LEVELS)


class _AsWritten(importlib.machinery.SourceFileLoader):
    """Compiles the source itself: a bytecode file may be of another edit in the same second."""

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.get_data(self.path), self.path)


def exports_of(path: Path) -> tuple[str | None, list[Export]]:
    """The name of a module's `CC` and the exported functions: those of the `CC`, else all compiled functions of the
    module that have signatures.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path, loader=_AsWritten(path.stem, str(path)))
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    for value in vars(module).values():
        if isinstance(value, CC):
            return value.name, value.exports()
    found = []
    for name, value in vars(module).items():
        if isinstance(value, _core.Dispatcher) and not value._can_compile and value.__module__ == module.__name__:
            found += [Export(name, value, signature) for signature in value.nopython_signatures]
    return None, found


def build(exports: Sequence[Export], product: Product) -> list[Path]:
    """Makes the files; gives their paths."""
    ordered = _ordered(exports, product)
    product.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        objects = _objects(ordered, product, Path(directory))
        return _linked(objects, product, Path(directory))


def _ordered(exports: Sequence[Export], product: Product) -> list[Export]:
    """Functions of one name lie together, in the order in which they were exported."""
    if not exports:
        raise ValueError(
            "nothing to build: give functions a signature in their decorator, or export them by lancehead.pycc.CC"
        )
    if not product.name.isidentifier():
        raise ValueError(f"{product.name!r} cannot be the name of a module")
    order = {name: i for i, name in reversed(list(enumerate(e.name for e in exports)))}
    return sorted(exports, key=lambda e: order[e.name])


@dataclass
class _Objects:
    files: list[Path]
    signatures: list[c_text.Signature]
    identity: str = ""


def _objects(exports: Sequence[Export], product: Product, directory: Path) -> _Objects:
    """Object files, with what they need from outside as assembly text."""
    made = _Objects([], [])
    outside = c_text.Outside(directory)
    for number, export in enumerate(exports):
        function = export.function.py_func if isinstance(export.function, _core.Dispatcher) else export.function
        options = {**getattr(export.function, "targetoptions", {}), "cache": False}
        compiled = _compiled(function, options, export.signature)
        entries: list[str] = []
        for level in product.levels:
            symbol = f"lh_entry_{number}_{len(entries)}"
            code = _core.linkable(compiled, symbol, level)
            _check(export, code)
            file = directory / f"{symbol}.o"
            file.write_bytes(code["object"])
            made.files.append(file)
            outside.add(code["arrays"], code["files"])
            entries.append(symbol)
        args = getattr(export.signature, "args", export.signature)
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        writes = _writes(args, code)
        signature = c_text.Signature(export.name, names, args, code["ret"], bool(options.get("nogil")), writes, entries)
        made.signatures.append(signature)
    source = directory / "outside.s"
    source.write_text(outside.text())
    made.files.append(source)
    made.identity = _identity(made, product, directory)
    return made


def _identity(made: _Objects, product: Product, directory: Path) -> str:
    """A hash of all that becomes part of the files: who has compiled calls into them knows which ones."""
    entries = [entry for s in made.signatures for entry in s.entries]
    linked = directory / "identity.so"
    # Symbols, which have numbers of this process, go.
    _show_only(directory, entries)
    command = [
        *_compiler(),
        "-shared",
        "-nostdlib",
        *_link_options(directory),
        *map(str, made.files),
        "-o",
        str(linked),
    ]
    _run(command, directory, f"{product.name}'s code")
    h = hashlib.blake2b(linked.read_bytes(), digest_size=16)
    h.update(archive().read_bytes())
    h.update(c_text.source(product.name, made.signatures, [str(level) for level in product.levels], "", True).encode())
    return h.hexdigest()


def _writes(args: Sequence[Any], code: dict[str, Any]) -> int:
    """A bit mask of the arguments whose memory the function writes. A function whose result is converted takes all
    arguments in one tuple: if it writes to any, all bits are set.
    """
    if len(args) == len(code["args"]):
        return int(code["writes"])
    return 0xFFFFFFFF if code["writes"] else 0


def _compiled(function: Any, options: dict[str, Any], signature: Any) -> Any:
    """A dispatcher that has been compiled for a signature, whose result has the type that the signature says."""
    compiled = _core.dispatcher(function, options, [signature], True)
    wanted, made = getattr(signature, "return_type", None), _core.linkable(compiled, "lh_entry")["ret"]
    if wanted is None or wanted == made or wanted.kind not in _NUMBERS:
        return compiled

    def convert(*args: Any) -> Any:
        return wanted(compiled(*args))

    # Its one parameter, a tuple of all, lies in the same slots as they do.
    return _core.dispatcher(convert, options, [(types.Tuple(signature.args),)], True)


def _check(export: Export, code: dict[str, Any]) -> None:
    """Refuses what has no form outside of Python."""
    for class_ in code["classes"].values():
        text = (
            f"error[unsupported-type]: `{export.name}` raises or handles `{class_}`, which is known to the process "
            "that compiles only"
        )
        raise errors.UnsupportedError(f"{text}\n  help: use an exception class of Python's own")
    for name in code["cached"]:
        text = f"error[unsupported-call]: `{export.name}` calls `{name}`, whose results `functools` keeps in a process"
        raise errors.UnsupportedError(f"{text}\n  help: build the function without its cache")
    for name in code["foreign"]:
        text = f"error[unsupported-call]: `{export.name}` calls `{name}`, whose code is in another file"
        raise errors.UnsupportedError(f"{text}\n  help: build both into one module")
    for type_ in [*code["args"], code["ret"]]:
        unknown = c_text.unknown(type_)
        if unknown is not None:
            text = (
                f"error[unsupported-type]: `{export.name}` has a value of type `{unknown}`, which has no form outside "
                "of compiled code"
            )
            raise errors.UnsupportedError(
                f"{text}\n  help: use numbers, strings, arrays, and tuples or optional values of them"
            )


def archive() -> Path:
    """The run-time library that becomes part of what is made: beside the package, or beside the extension module that
    is loaded."""
    places = [Path(__file__).parent.parent, Path(str(_core.__file__)).resolve().parent]
    for place in places:
        if (place / _ARCHIVE).is_file():
            return place / _ARCHIVE
    raise errors.UnsupportedError(
        f"{_ARCHIVE} is not installed\n  help: install lancehead from a wheel, or run `cargo build -p lh-aot`"
    )


def _linked(objects: _Objects, product: Product, directory: Path) -> list[Path]:
    made = []
    if product.module:
        made.append(
            _link(objects, product, directory, product.module_file(), [f"PyInit_{product.name}"], _for_python())
        )
    if product.library:
        names = [f"{product.name}_{s}" for s in c_text.c_names(objects.signatures)]
        header = product.directory / f"{product.name}.h"
        _put(header, c_text.header(product.name, objects.signatures).encode(), 0o644)
        names += [f"{product.name}_error", f"{product.name}_release"]
        made += [_link(objects, product, directory, product.directory / f"lib{product.name}.so", names, []), header]
    return made


def _for_python() -> list[str]:
    """Options of the C compiler for an extension module."""
    include = sysconfig.get_paths()["include"]
    if not (Path(include) / "Python.h").is_file():
        raise errors.UnsupportedError(
            f"Python's headers are not in {include}\n  help: install them (python3-dev), or build with --no-module"
        )
    return ["-DLH_PYTHON", f"-I{include}", f"-I{np.get_include()}"]


def _write(objects: _Objects, product: Product, directory: Path, visible: Iterable[str], is_module: bool) -> Path:
    """The C text, and which names can be seen from outside."""
    source = directory / "library.c"
    names = [level or "native" for level in product.levels]
    source.write_text(c_text.source(product.name, objects.signatures, names, objects.identity, is_module))
    _show_only(directory, visible)
    return source


def _show_only(directory: Path, names: Iterable[str]) -> None:
    (directory / "visible.map").write_text("{ global: " + " ".join(f"{name};" for name in names) + " local: *; };\n")


def _link_options(directory: Path) -> list[str]:
    script = f"-Wl,--version-script={directory / 'visible.map'}"
    return ["-s", "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-Wl,--build-id=none", script]


def _link(
    objects: _Objects, product: Product, directory: Path, target: Path, visible: Iterable[str], flags: list[str]
) -> Path:
    """Compiles the C text and links everything into one file that has only the names in `visible`."""
    source, made = _write(objects, product, directory, visible, bool(flags)), directory / "made.so"
    command = [
        *_compiler(),
        "-shared",
        "-fPIC",
        "-O2",
        "-w",
        *flags,
        f"-I{Path(__file__).parent}",
        *_link_options(directory),
    ]
    command += [str(source), *map(str, objects.files), str(archive()), "-lm", "-lpthread", "-ldl", "-o", str(made)]
    if product.verbose:
        print(shlex.join(command))
    _run(command, directory, target.name)
    _put(target, made.read_bytes(), 0o755)
    return target


def _put(target: Path, data: bytes, mode: int) -> None:
    """Writes a file whole or not at all. The old one, which a process may have mapped, is replaced and not written to;
    neither is anything that a link in its place leads to.
    """
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as own:
        made = Path(own) / target.name
        made.write_bytes(data)
        made.chmod(mode)
        made.replace(target)


def _run(command: list[str], directory: Path, made: str) -> None:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the C compiler ({command[0]}) cannot make {made}:\n{done.stderr}")


def extension(exports: Sequence[Export], product: Product, options: dict[str, Any]) -> Any:
    """A `setuptools.Extension` that links what has been compiled into the product's directory."""
    setuptools = importlib.import_module("setuptools")
    directory = product.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    objects = _objects(_ordered(exports, product), product, directory)
    source = _write(objects, product, directory, [f"PyInit_{product.name}"], True)
    # Assembly text is no source for setuptools.
    outside = directory / "outside.o"
    subprocess.run([*_compiler(), "-c", str(objects.files.pop()), "-o", str(outside)], cwd=directory, check=True)
    given = {
        name: list(options.pop(name, []))
        for name in ("extra_objects", "extra_link_args", "include_dirs", "define_macros", "libraries")
    }
    return setuptools.Extension(
        options.pop("name", product.name),
        [os.path.relpath(source)],
        extra_objects=[*map(str, [*objects.files, outside, archive()]), *given["extra_objects"]],
        extra_link_args=[*_link_options(directory), *given["extra_link_args"]],
        include_dirs=[str(Path(__file__).parent), np.get_include(), *given["include_dirs"]],
        define_macros=[("LH_PYTHON", None), *given["define_macros"]],
        libraries=["m", "pthread", "dl", *given["libraries"]],
        **options,
    )


def _compiler() -> list[str]:
    for command in (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc"):
        words = shlex.split(command or "")
        if words and shutil.which(words[0]):
            return words
    raise errors.UnsupportedError(
        "no C compiler, which links the library, is installed\n  help: install gcc or clang, or name one in CC"
    )


def name_for(path: Path) -> str:
    """A name for what is made of a module: not its own, which would hide the source."""
    return re.sub(r"\W", "_", path.stem) + "_native"
