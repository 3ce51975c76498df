"""Finds the word that was meant, by Levenshtein's distance of texts, in the Zen of Python (strings)."""

import codecs
import contextlib
import io

import numpy as np
from showing import compare, picture_asked_for, save

from lancehead import njit

with contextlib.redirect_stdout(io.StringIO()):
    import this

ZEN = codecs.decode(this.s, "rot13")


@njit
def distance(a, b):
    """How many letters must be added, removed or replaced to make `b` of `a`."""
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        corner, row[0] = row[0], i + 1
        for j in range(len(b)):
            cost = corner + (a[i] != b[j])
            corner = row[j + 1]
            row[j + 1] = min(cost, corner + 1, row[j] + 1)
    return row[-1]


@njit
def words_of(text):
    """The different words of a text without marks, in lower case, sorted."""
    clean = "".join([c.lower() if c.isalpha() else " " for c in text])
    found = [""]
    for word in sorted(clean.split()):
        if word != found[-1]:
            found.append(word)
    return found[1:]


@njit
def nearest(word, words):
    """The word of the list with the least distance; of several, the first."""
    best = words[0]
    for other in words:
        if distance(word, other) < distance(word, best):
            best = other
    return best


def draw(path):
    """The distance of every line of the Zen from every other."""
    from matplotlib.figure import Figure

    lines = [line for line in ZEN.splitlines()[1:] if line]
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    shown = axes.imshow([[distance(a, b) for b in lines] for a in lines], cmap="viridis", aspect="auto")
    axes.set_yticks(range(len(lines)), [line[:34] for line in lines], fontsize=7)
    axes.set_xticks([])
    figure.colorbar(shown, label="letters to change")
    save(figure, path)


if __name__ == "__main__":
    png = picture_asked_for(__doc__)
    words = words_of(ZEN)
    for wrong in ("beutiful", "explisit", "namspace", "refsue"):
        print(f"{wrong}: did you mean {nearest(wrong, words)}?")
    a, b = (" ".join(ZEN.split()[start : start + 30]) for start in (8, 38))
    compare(f"{len(a)} and {len(b)} letters", lambda: distance.py_func(a, b), lambda: distance(a, b))
    if png:
        draw(png)
