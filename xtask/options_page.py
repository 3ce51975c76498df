"""Writes `docs/options.md` and the tables of settings in `docs/debugging.md` and of packages in `docs/not-compiled.md`,
from the tables in `python/lancehead`.

`cargo xtask docs` runs it; with `--check` it only says whether the pages are current. The compiler is not needed.
"""

import importlib.util
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ROOT / "python/lancehead"
#: Sections of the page: a heading, what the decorators have in common, and the name of the decorator in the table.
SECTIONS = (
    ("`jit`, `njit`, `vectorize`, `guvectorize`, `cfunc`", "jit"),
    ("`stencil`", "stencil"),
    ("`cuda.jit`", "cuda.jit"),
)
START = """\
# Options of the decorators

A decorator takes options by name:

```py
from lancehead import njit

@njit(parallel=True, fastmath={"reassoc", "contract"})
def total(a):
    return a.sum()
```

A name that a decorator does not have is a `TypeError` that suggests the nearest one:

```text
>>> njit(nopyhton=True)
TypeError: njit() got an unexpected option 'nopyhton'; did you mean `nopython`?
```

A wrong value is a `TypeError` or a `ValueError` that says which values there are. Options that are `True` or `False`
take `1` and `0`, and `None` for the default, as well. Numba takes anything there and asks whether it is true; a string
is an error here, because `"0"` and `"False"` would be true.

The last column says how Numba differs; where it is empty, Numba does the same. `cargo xtask docs` writes this page.
"""


def loaded(name):
    """A module of lancehead that needs nothing else of it but tables."""
    spec = importlib.util.spec_from_file_location(f"lancehead.{name}", SOURCES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def cell(text):
    """A text as a cell of a table."""
    return text.replace("|", "\\|")


def options_page(options, checks):
    """The text of `docs/options.md`; it ends with what a test has written."""
    out = [START]
    for heading, decorator in SECTIONS:
        shown = [o for o in options.of(decorator).values() if not o.name.startswith("_")]
        mute = [o for o in shown if options.is_mute(decorator, o) and o.effect.startswith("Changes nothing")]
        out += [f"## {heading}", "", "| option | values | default | effect | Numba |", "|---|---|---|---|---|"]
        out += [
            f"| `{o.name}` | {cell(o.values.text)} | {o.default} | {cell(o.effect)} | {cell(o.numba)} |"
            for o in shown
            if o not in mute
        ]
        if mute:
            out += [
                "",
                "Accepted so that programs for Numba go on:",
                "",
                "| option | effect | Numba |",
                "|---|---|---|",
            ]
            out += [f"| `{o.name}` | {cell(o.effect)} | {cell(o.numba)} |" for o in mute]
        out.append("")
    return "\n".join(out).rstrip() + "\n" + checks


def settings_table(settings):
    """The table of `docs/debugging.md`."""
    rows = [
        f"| `{settings.PREFIX}{s.name}={s.example}` | {cell(s.default)} | {cell(s.meaning)} |"
        for s in settings.SETTINGS
    ]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows]) + "\n"


def packages_table(packages):
    """The table of `docs/not-compiled.md`, a row for each advice."""
    advised = {advice: [n for n in packages if packages[n] == advice] for advice in packages.values()}
    rows = [f"| {', '.join(f'`{n}`' for n in names)} | {cell(advice)} |" for advice, names in advised.items()]
    return "\n".join(["| packages | in compiled code |", "|---|---|", *rows]) + "\n"


def with_table(path, table):
    """The text of a page with another table under the same first heading."""
    start = re.escape(table[: table.index(" |")])
    return re.sub(rf"{start} \|(.|\n)*?\n(?!\|)", lambda _: table, path.read_text() + "\n", count=1).rstrip() + "\n"


def pages():
    """Paths of the pages and their texts."""
    sys.modules.setdefault("lancehead", types.ModuleType("lancehead"))
    options, settings, _, wording = map(loaded, ("options", "settings", "notices", "wording"))
    debugging, packages = ROOT / "docs/debugging.md", ROOT / "docs/not-compiled.md"
    page = ROOT / "docs/options.md"
    # `tests/python/docs/test_overflow_checks.py` writes this section.
    _, heading, checks = page.read_text().partition("\n## Operations that ")
    return {
        page: options_page(options, heading + checks),
        debugging: with_table(debugging, settings_table(settings)),
        packages: with_table(packages, packages_table(wording.PACKAGES)),
    }


def main():
    """Writes the pages, or checks them."""
    for path, text in pages().items():
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"docs/{path.name} is not current: run `cargo xtask docs`")


main()
