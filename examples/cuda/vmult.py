"""A ufunc for the device: products of complex numbers, with broadcasting."""

import numpy as np

from lancehead import cuda, vectorize


@vectorize(["complex64(complex64, complex64)"], target="cuda")
def vmult(a, b):
    """a * b"""
    return a * b


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    a = (rng.random((400, 300)) + 1j * rng.random((400, 300))).astype(np.complex64)
    b = (rng.random(300) - 1j * rng.random(300)).astype(np.complex64)
    product = vmult(a, b)
    assert product.dtype == np.complex64
    on_device = vmult(cuda.to_device(a), cuda.to_device(np.broadcast_to(b, a.shape).copy()))
    assert (on_device.copy_to_host() == product).all()
    difference = np.abs(product - a * b).max()
    assert difference < 1e-6
    print("largest difference from NumPy:", difference)
