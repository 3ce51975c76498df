#!/bin/sh
# Copies the pages of diagnostics into the package, where `lancehead help` finds them when it is installed. Every way to
# a wheel calls this before it packs one.
set -eu
cd "$(dirname "$0")/.."
rm -rf python/lancehead/_pages
mkdir python/lancehead/_pages
cp docs/diagnostics/*.md python/lancehead/_pages
