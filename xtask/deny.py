"""Holds the dependencies against `deny.toml`: licences, crates in several versions, places they come from.

The file is cargo-deny's, and this does what `cargo deny check licenses bans sources` does with it: cargo-deny itself
takes minutes to build, on each machine that runs the checks.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def packages(target):
    """The packages that a build for the target may use; the repository's own crates have no `source`."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={target}"]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    used = {node["id"] for node in found["resolve"]["nodes"]}
    return [package for package in found["packages"] if package["id"] in used]


def is_allowed(licence, allowed):
    """Whether an SPDX expression leaves a choice that is allowed.

    >>> is_allowed("(MIT OR GPL-3.0) AND Zlib", {"MIT", "Zlib"}), is_allowed("MIT AND GPL-3.0", {"MIT"})
    (True, False)
    """
    words = re.findall(r"[()]|(?:(?!\b(?:OR|AND)\b)[^()])+|OR|AND", licence.replace("/", " OR "))
    words = [word.strip() for word in words if word.strip()]

    def choice():
        found = both()
        while words and words[0] == "OR":
            words.pop(0)
            found |= both()
        return found

    def both():
        found = one()
        while words and words[0] == "AND":
            words.pop(0)
            found &= one()
        return found

    def one():
        word = words.pop(0)
        if word != "(":
            return word in allowed
        found = choice()
        words.pop(0)
        return found

    return choice()


def complaints(rules, used):
    """Complaints about used packages that `rules` refuse."""
    allowed = set(rules["licenses"]["allow"])
    skipped = {entry["crate"] for entry in rules["bans"]["skip"]}
    versions = defaultdict(list)
    for package in used:
        name = f"{package['name']}@{package['version']}"
        if package["source"] not in (None, CRATES_IO):
            yield f"{name} comes from {package['source']}"
        if not is_allowed(package["license"] or "none", allowed):
            yield f"{name} has the licence {package['license']}"
        if name in skipped:
            skipped.remove(name)
        else:
            versions[package["name"]].append(package["version"])
    for name, found in versions.items():
        if len(found) > 1:
            yield f"{name} is there in several versions: {', '.join(found)}"
    for name in sorted(skipped):
        yield f"deny.toml skips {name}, which is not used"


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    found = list(complaints(rules, packages(*rules["graph"]["targets"])))
    print("\n".join(found), file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
