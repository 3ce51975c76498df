"""Tests run kernels on the CPU device, where there is a GPU too; those of the GPU choose it themselves."""

import os

os.environ.setdefault("LANCEHEAD_CUDA_DEVICE", "cpu")
