"""Edges of a photograph by a filter of its frequencies, as the users of CUDA's libraries write it.

python examples/cudalib/fft_filter.py
"""

import numpy as np
from scipy.signal import fftconvolve
from sklearn.datasets import load_sample_image

from lancehead import cuda, vectorize
from lancehead.cudalib import cufft


@vectorize(["complex64(complex64, complex64)"], target="gpu")
def vmult(a, b):
    """a * b"""
    return a * b


def laplacian_of_gaussian(size, width):
    """A kernel that is positive inside of a ring and negative in it, and whose sum is 0."""
    x = np.arange(size) - size // 2
    squares = (x**2 + x[:, None] ** 2) / (2.0 * width**2)
    values = (1.0 - squares) * np.exp(-squares)
    return values - values.mean()


def response_of(kernel, shape):
    """The frequencies of a kernel whose centre is the first pixel of an image."""
    image = np.zeros(shape, np.complex64)
    rows, columns = kernel.shape
    image[:rows, :columns] = kernel
    return cufft.fft_inplace(np.roll(image, (-(rows // 2), -(columns // 2)), (0, 1)))


def filtered(image, response):
    """An image after a filter, whose edges meet those on the other side."""
    stream = cuda.stream()
    on_device = cuda.to_device(image.astype(np.complex64), stream=stream)
    factors = cuda.to_device(response, stream=stream)
    cufft.fft_inplace(on_device, stream=stream)
    vmult(on_device, factors, out=on_device, stream=stream)
    cufft.ifft_inplace(on_device, stream=stream)
    # The library's inverse is not divided by the number of elements.
    return on_device.copy_to_host(stream=stream).real / image.size


if __name__ == "__main__":
    photo = load_sample_image("china.jpg") @ np.array([0.299, 0.587, 0.114])
    kernel = laplacian_of_gaussian(31, 3.0)
    edges = filtered(photo, response_of(kernel, photo.shape))
    around = np.pad(photo, 15, mode="wrap")
    expected = fftconvolve(around, kernel, mode="valid")
    error = np.abs(edges - expected).max() / np.abs(expected).max()
    assert error < 1e-4, error
    strong = np.abs(edges) > 3.0 * edges.std()
    print(f"{photo.shape[0]} x {photo.shape[1]} pixels, {100 * strong.mean():.1f} % of them on strong edges")
    print(f"largest difference from SciPy's convolution: {'below 1e-4' if error < 1e-4 else error}")
