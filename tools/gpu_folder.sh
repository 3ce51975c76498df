#!/bin/sh
# Makes a folder to carry to a machine with a GPU: a wheel, what checks and measures it, and run.sh, which does all of it there.
# Usage: tools/gpu_folder.sh WHEEL FOLDER
set -eu
wheel=$1 folder=$2
cd "$(dirname "$0")/.."

rm -rf "$folder"
mkdir -p "$folder/benches/gpu/card" "$folder/tests/cuda" "$folder/tests/python/cuda"
cp "$wheel" "$folder"
for file in check_card.py guarded.py run.py run_tests.py peers.cu; do
    cp "benches/gpu/$file" "$folder/benches/gpu"
done
cp benches/figures.py "$folder/benches"
cp benches/gpu/card/*.py "$folder/benches/gpu/card"
cp tests/conftest.py "$folder/tests"
cp tests/cuda/cases.py tests/cuda/corpus.py "$folder/tests/cuda"
cp tests/python/cuda/test_cuda_kernels.py tests/python/cuda/test_cuda_launches.py tests/python/cuda/test_cuda_interface.py "$folder/tests/python/cuda"
cp benches/gpu/run.sh "$folder"

size=$(du -sm "$folder" | cut -f1)
if [ "$size" -ge 60 ]; then
    echo "gpu_folder: $folder has $size MiB; it is to have less than 60" >&2
    exit 1
fi
echo "$folder has $size MiB; on the machine with the GPU: sh run.sh"
