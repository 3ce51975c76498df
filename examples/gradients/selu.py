"""`selu`, an activation function with two branches, and its derivative as a ufunc.

python examples/gradients/selu.py
"""

import numpy as np
from checking import agree

from lancehead import vectorize
from lancehead.gradients import grad

ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805


def selu(x):
    """The scaled exponential linear unit: means and variances stay as they are from layer to layer."""
    if x > 0.0:
        return SCALE * x
    return SCALE * ALPHA * np.expm1(x)


slopes = vectorize(grad(selu))
curvatures = vectorize(grad(grad(selu)))


def main():
    x = np.linspace(-5.0, 5.0, 1_000_000)
    single = slopes(x.astype(np.float32))
    assert single.dtype == np.float32
    agree("the closed form", slopes(x), SCALE * np.where(x > 0.0, 1.0, ALPHA * np.exp(np.minimum(x, 0.0))), 1e-14)
    agree("that of the second one", curvatures(x), SCALE * ALPHA * np.exp(np.minimum(x, 0.0)) * (x <= 0.0), 1e-14)
    agree("it in single precision", slopes(x), single, 1e-6)
    print("slopes on both sides of zero:", slopes(np.array([-1e-300, 1e-300])))


if __name__ == "__main__":
    main()
