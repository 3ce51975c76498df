#!/bin/sh
# Tries wheels of target/wheels-all in a bare Debian: debootstrap's minimal system with Debian's own Python, without a
# compiler and without a network. As root; debootstrap must be there.
# Usage: tools/try_wheel_debian.sh RELEASE WHEEL PYTHON, as in
#   tools/try_wheel_debian.sh bookworm target/wheels-all/lancehead-*-cp311-*.whl .venv/bin/python
# PYTHON is any one with pip: it downloads the packages that the wheel needs. ROOTS is the folder of the systems.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
release=$1 wheel=$(realpath "$2") downloader=$3
root=${ROOTS:-/var/tmp/lancehead-roots}/$release
version=$(basename "$wheel" | sed -n 's/.*-cp3\([0-9]*\)-.*/3.\1/p')

if ! [ -x "$root/usr/bin/python3" ]; then
    mkdir -p "$root"
    debootstrap --variant=minbase --include=python3,python3-venv "$release" "$root" http://deb.debian.org/debian
fi

rm -rf "$root/try"
mkdir -p "$root/try/tools" "$root/try/packages"
"$downloader" -m pip download --quiet --disable-pip-version-check --only-binary :all: --python-version "$version" \
    --dest "$root/try/packages" numpy
cp "$here/try_wheel.sh" "$root/try/tools/"
cp "$here/../README.md" "$root/try/"
cp "$wheel" "$root/try/packages/"
unshare --net --mount sh -c 'mount -t proc proc "$1/proc"; exec chroot "$@"' sh "$root" \
    env -i HOME=/root PATH=/usr/bin:/bin \
    /try/tools/try_wheel.sh /usr/bin/python3 "/try/packages/$(basename "$wheel")" /try/packages
rm -rf "$root/try"
