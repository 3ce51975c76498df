"""Takes noise out of a photograph: descent along the gradient of its total variation.

python examples/gradients/denoise.py
"""

import numpy as np
from checking import agree
from sklearn.datasets import load_sample_image

from lancehead import njit
from lancehead.gradients import value_and_grad


def roughness(image, noisy, weight, edge):
    """Half of the squared distance from the noisy image, and the lengths of all slopes; `edge` rounds off zero."""
    rows, columns = image.shape
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            total += 0.5 * (image[i, j] - noisy[i, j]) ** 2
            down = image[i + 1, j] - image[i, j] if i + 1 < rows else 0.0
            right = image[i, j + 1] - image[i, j] if j + 1 < columns else 0.0
            total += weight * np.sqrt(down * down + right * right + edge * edge)
    return total


both = value_and_grad(roughness)


@njit
def smoothed(noisy, weight, edge, rounds):
    """The image after rounds of descent with Nesterov's momentum."""
    rate = 1.0 / (1.0 + 8.0 * weight / edge)
    image = noisy.copy()
    ahead = image
    t = 1.0
    for _ in range(rounds):
        new = ahead - rate * both(ahead, noisy, weight, edge)[1]
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        ahead = new + (t - 1.0) / grown * (new - image)
        image, t = new, grown
    return image


def by_divergence(image, noisy, weight, edge):
    """The gradient as it is derived by hand: the distance, and the divergence of slopes of length one."""
    down, right = np.zeros_like(image), np.zeros_like(image)
    down[:-1], right[:, :-1] = np.diff(image, axis=0), np.diff(image, axis=1)
    size = np.sqrt(down**2 + right**2 + edge**2)
    down, right = down / size, right / size
    out = image - noisy - weight * (down + right)
    out[1:] += weight * down[:-1]
    out[:, 1:] += weight * right[:, :-1]
    return out


def main():
    photo = load_sample_image("flower.jpg")[100:260, 150:350].mean(axis=2) / 255.0
    noisy = photo + 0.1 * np.random.default_rng(6).normal(size=photo.shape)
    agree("the divergence", both(noisy, photo, 0.1, 0.01)[1], by_divergence(noisy, photo, 0.1, 0.01), 1e-11)
    image = smoothed(noisy, 0.08, 0.01, 100)
    before, after = (-10.0 * np.log10(np.mean((x - photo) ** 2)) for x in (noisy, image))
    print(f"{photo.shape[1]} × {photo.shape[0]} pixels: {before:.1f} dB, without noise {after:.1f} dB")
    assert after > before + 6.0


if __name__ == "__main__":
    main()
