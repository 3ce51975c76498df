"""Edges of a photograph by a filter of its frequencies, with CUDA's libraries by NumbaPro's names."""

import numpy as np
from sklearn.datasets import load_sample_image

from lancehead import cuda, vectorize
from lancehead.cudalib import cufft
from lancehead.demo.program import Program


@vectorize(["complex64(complex64, complex64)"], target="gpu")
def vmult(a, b):
    """a * b"""
    return a * b


def plain(image, response):
    return np.fft.ifft2(np.fft.fft2(image.astype(np.complex64)) * response).real


def compiled(image, response):
    there = cuda.to_device(image.astype(np.complex64))
    cufft.fft_inplace(there)
    vmult(there, cuda.to_device(response), out=there)
    cufft.ifft_inplace(there)
    return there.copy_to_host().real / image.size


def inputs(quick):
    photo = load_sample_image("china.jpg") @ np.array([0.299, 0.587, 0.114])
    image = photo[:120, :160].copy() if quick else photo
    rows, columns = (np.fft.fftfreq(n) for n in image.shape)
    squares = 2.0 * np.pi**2 * 9.0 * (rows[:, None] ** 2 + columns**2)
    return image, (squares * np.exp(-squares)).astype(np.complex64)


PROGRAM = Program(
    name="cuda_fft_filter",
    title="Filter of frequencies, cuFFT",
    baseline="NumPy",
    inputs=inputs,
    size=lambda image, response: " × ".join(map(str, image.shape)),
    plain=plain,
    compiled=compiled,
    tolerance=1e-3,
)
