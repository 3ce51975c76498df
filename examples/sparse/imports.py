"""PageRank and breadth-first search of a real graph: which module imports which, in Python's library and in packages.

Usage: python imports.py [package ...]      packages whose modules are read beside Python's own; by default NumPy
"""

import ast
import importlib.util
import sys
import sysconfig
from pathlib import Path

import numpy as np

from lancehead import sparse
from lancehead.sparse import csgraph


def modules(folder, prefix=""):
    """Names and files of the modules in a folder."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py":
            yield prefix + path.stem if path.stem != "__init__" else prefix.rstrip("."), path
        elif (path / "__init__.py").exists() and path.name not in ("test", "tests", "idlelib", "site-packages"):
            yield from modules(path, f"{prefix}{path.name}.")


def imported(name, path):
    """Names that a module imports, and those of names from modules."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) + 1 - node.level]) if node.level else ""
            full = ".".join(part for part in (base, node.module) if part)
            yield from (full, *(f"{full}.{alias.name}" for alias in node.names))


def graph_of_imports(packages):
    """The names of modules, and a matrix with an entry where the module of a row imports that of a column."""
    found = dict(modules(Path(sysconfig.get_path("stdlib"))))
    for package in packages:
        place = importlib.util.find_spec(package).submodule_search_locations[0]
        found |= dict(modules(Path(place), f"{package}."))
    number = {name: i for i, name in enumerate(found)}
    edges = {
        (i, number[other])
        for name, i in number.items()
        for other in imported(name, found[name])
        if other in number and number[other] != i
    }
    row, col = np.array(sorted(edges), dtype=np.int32).T
    return list(number), sparse.coo_array((np.ones(row.size), (row, col)), shape=(len(number),) * 2).tocsr()


def main(*packages):
    names, links = graph_of_imports(packages or ("numpy",))
    ranks = csgraph.pagerank(links)
    print(f"{links.shape[0]} modules, {links.nnz} imports, {csgraph.connected_components(links)[0]} parts")
    print("highest ranks:", ", ".join(names[i] for i in np.argsort(-ranks)[:8]))
    start = names.index("asyncio" if not packages else packages[0])
    order, before = csgraph.breadth_first_order(links, start)
    far = [names[order[-1]]]
    while far[-1] != names[start]:
        far.append(names[before[names.index(far[-1])]])
    print(f"{names[start]} leads to {order.size - 1} modules, at last: {' <- '.join(far)}")
    print(f"{csgraph.triangles(links).sum() // 3} triangles")
    return names, links, ranks


if __name__ == "__main__":
    main(*sys.argv[1:])
