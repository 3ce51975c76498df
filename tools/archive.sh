#!/bin/sh
# Makes the archive that `lancehead build` links from the static library that Cargo built: one object with the functions of
# the run-time library and what they reach, which packs to two thirds. Usage: tools/archive.sh STATIC_LIBRARY ARCHIVE
set -eu
from=$1 to=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm --defined-only --extern-only "$from" 2>/dev/null | sed -n 's/.* \(lh_[A-Za-z0-9_]*\)$/-u \1/p' | sort -u >"$work/roots"
ld -r --gc-sections "@$work/roots" -o "$work/lancehead.o" "$from"
# No other name can meet one of the program's.
objcopy --wildcard --keep-global-symbol='lh_*' --strip-debug --strip-unneeded -R .llvmbc -R .llvmcmd "$work/lancehead.o"
rm -f "$to"
ar rcsD "$to" "$work/lancehead.o"
