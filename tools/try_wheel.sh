#!/bin/sh
# Tries a wheel as a user would, in a new environment: README's ten lines, `lancehead info`, a program of the demo, and
# a cached function in two processes. Fails at the first thing that is wrong.
# Usage: tools/try_wheel.sh PYTHON WHEEL [FOLDER]; with FOLDER, other packages come from the wheels in it alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=$1 wheel=$(realpath "$2") folder=${3:+$(realpath "$3")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

install() {
    if [ -n "$folder" ]; then
        "$work/venv/bin/python" -m pip install --quiet --no-index --find-links "$folder" "$@"
    else
        "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    fi
}

"$python" -m venv "$work/venv"
# Not in the repository, so that its package is not imported instead.
cd "$work"
unset PYTHONPATH
PATH=$work/venv/bin:$PATH
install "$wheel"

echo "try_wheel: README's ten lines, with nothing but NumPy"
awk '/^```python$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$here/../README.md" >ten_lines.py
sed -n 's/^print(.*) *# //p' ten_lines.py >wanted
test -s wanted
python ten_lines.py >found
diff wanted found

echo "try_wheel: lancehead info"
lancehead info

echo "try_wheel: a cached function in two processes"
cat >cached.py <<'PROGRAM'
import numpy as np
from lancehead import njit

@njit(cache=True)
def norm(a):
    return np.sqrt((a * a).sum())

print(norm(np.array([3.0, 4.0])), "hits:", sum(norm.stats.cache_hits.values()))
PROGRAM
python cached.py >found
python cached.py >>found
printf '5.0 hits: 0\n5.0 hits: 1\n' | diff - found

echo "try_wheel: lancehead demo --quick --only pi"
lancehead demo --quick --only pi

python - "$(basename "$wheel")" <<'PROGRAM'
import platform
import sys

system = platform.freedesktop_os_release().get("PRETTY_NAME", "?")
print(f"try_wheel: {sys.argv[1]} works: Python {platform.python_version()}, {system}, {' '.join(platform.libc_ver())}")
PROGRAM
