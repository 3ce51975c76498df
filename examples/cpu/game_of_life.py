"""Plays Conway's game of life; the compiled function is kept for the next start (`cache=True`)."""

import numpy as np
from showing import compare, picture_asked_for, save

from lancehead import njit

ACORN = np.array([[0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0], [1, 1, 0, 0, 1, 1, 1]], np.uint8)


@njit(cache=True)
def play(board, generations):
    """The board after so many generations; its edges meet, as on a torus."""
    height, width = board.shape
    now = board.copy()
    for _ in range(generations):
        after = np.zeros_like(now)
        for y in range(height):
            for x in range(width):
                neighbours = 0
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        neighbours += now[(y + dy) % height, (x + dx) % width]
                neighbours -= now[y, x]
                after[y, x] = neighbours == 3 or (neighbours == 2 and now[y, x] == 1)
        now = after
    return now


def with_acorn(height, width):
    """An empty board with seven cells in its middle that live for 5,206 generations on a plane."""
    board = np.zeros((height, width), np.uint8)
    board[height // 2 : height // 2 + 3, width // 2 : width // 2 + 7] = ACORN
    return board


def draw(path):
    """The acorn at its start and as it grows."""
    from matplotlib.figure import Figure

    board = with_acorn(90, 130)
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    for axes, generations in zip(figure.subplots(1, 3), (0, 200, 1000), strict=True):
        axes.imshow(play(board, generations), cmap="binary", interpolation="none")
        axes.set_title(f"generation {generations:,}", fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    board = with_acorn(200, 260)
    for generations in (0, 200, 1000):
        print(f"generation {generations:5,}: {play(board, generations).sum():5,} cells live")
    found = sum(play.stats.cache_hits.values())
    print("the compiled function " + ("came from the cache" if found else "was compiled, and kept for the next start"))
    small = with_acorn(40, 60)
    compare("10 generations of 60 × 40 cells", lambda: play.py_func(small, 10), lambda: play(small, 10))
    if png:
        draw(png)
