"""The programs of `examples/cpu` give the results of NumPy, SciPy and plain Python; `docs/gallery.md` shows them."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from scipy.integrate import solve_ivp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_sample_image

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "cpu"
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
COMMON = {"showing", "make_pictures"}
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in COMMON)
LARGEST_PICTURE = 60_000


@pytest.fixture
def program(monkeypatch):
    """Imports a program of the gallery by its name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_and_draws(name, tmp_path):
    picture = tmp_path / "picture.png"
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--png", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"plain Python [\d.]+ ms, compiled [\d.]+ ms, ([\d,]+) times as fast", done.stdout)
    assert found, done.stdout
    assert int(found[1].replace(",", "")) >= 2
    assert picture.stat().st_size < LARGEST_PICTURE
    with Image.open(picture) as image:
        assert len(image.convert("RGB").getcolors(1 << 24)) > 2


def test_one_idea_in_few_lines():
    for name in PROGRAMS:
        lines = (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()
        assert 30 <= len(lines) <= 75, name


def test_make_pictures(tmp_path):
    command = [sys.executable, str(FOLDER / "make_pictures.py"), str(tmp_path / "new"), "kmeans", "histogram"]
    subprocess.run(command, check=True, timeout=300)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["histogram.png", "kmeans.png"]
    done = subprocess.run([*command[:3], "kmaens"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert "no program is named kmaens" in done.stderr


def test_make_pictures_knows_all_programs(program):
    assert sorted(program("make_pictures").PROGRAMS) == PROGRAMS


def test_page_shows_every_program():
    text = PAGE.read_text(encoding="utf-8")
    for name in PROGRAMS:
        assert f"`{name}.py`" in text, name
        assert f"](gallery/{name}.png)" in text, name
    shown = re.findall(r"!\[[^\]]+\]\(gallery/(\w+)\.png\)", text)
    assert sorted(shown) == sorted(path.stem for path in PICTURES.iterdir())
    for path in PICTURES.iterdir():
        assert path.stat().st_size < LARGEST_PICTURE, path


def test_blocks_of_the_page_are_parts_of_the_programs():
    blocks = re.findall(r"`(\w+)\.py` (?:(?!```).)*?```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert sorted(name for name, _ in blocks) == PROGRAMS
    for name, block in blocks:
        source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        imports, *parts = re.split(r"\n\n+(?=\S)", block.rstrip())
        assert all(line.startswith(("import ", "from ")) for line in imports.splitlines())
        assert parts, name
        assert [part for part in parts if part not in source] == []


def test_blocks_of_the_page_run_alone():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == len(PROGRAMS)
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), {"__name__": "block"})


def test_different_results_are_no_speed_up(program):
    with pytest.raises(AssertionError):
        program("showing").compare("work", lambda: [1.0, 2.0], lambda: [1.0, 2.5], rtol=0.1)


def test_photo_filter(program):
    photo_filter = program("photo_filter")
    photo = load_sample_image("china.jpg")[100:180, 200:320]
    for weights in (photo_filter.SHARPEN, photo_filter.EDGES):
        sums = np.stack([ndimage.correlate(photo[:, :, c].astype(float), weights) for c in range(3)], axis=2)
        result = photo_filter.filtered(photo, weights)
        np.testing.assert_array_equal(result[1:-1, 1:-1], np.clip(sums, 0, 255).astype(np.uint8)[1:-1, 1:-1])
        np.testing.assert_array_equal(result[0], photo[0])


def test_lorenz(program):
    lorenz = program("lorenz")
    path = lorenz.rk4(lorenz.lorenz, np.array([1.0, 1.0, 1.0]), 0.001, 5000)
    precise = solve_ivp(lambda _, state: lorenz.lorenz.py_func(state), (0, 5), [1.0, 1.0, 1.0], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(path[-1], precise.y[:, -1], rtol=1e-5)


def test_random_walks(program):
    random_walks = program("random_walks")
    far = random_walks.distances(20_000, 400, 7)
    assert (random_walks.distances(20_000, 400, 7) == far).all()
    assert (random_walks.distances(20_000, 400, 8) != far).any()
    # The mean square distance is the number of steps; its relative error over 20,000 walkers is 0.7 %.
    assert abs((far**2).mean() / 400 - 1.0) < 0.035
    np.testing.assert_allclose(random_walks.paths(3, 200, 9), random_walks.paths.py_func(3, 200, 9), rtol=1e-9)


def test_kmeans(program):
    kmeans = program("kmeans")
    images = load_digits().data
    centres, labels = kmeans.kmeans(images, 10, rounds=300, seed=3)
    distances = ((images[:, None, :] - centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(labels, distances.argmin(axis=1))
    start = images[np.random.default_rng(3).choice(len(images), 10, replace=False)]
    known = KMeans(10, init=start, n_init=1, max_iter=300, tol=0.0).fit(images)
    np.testing.assert_allclose(distances.min(axis=1).sum(), known.inertia_, rtol=1e-6)


def test_game_of_life(program):
    life = program("game_of_life")
    board = life.with_acorn(40, 50)
    for _ in range(20):
        around = ndimage.convolve(board, np.ones((3, 3), np.uint8), mode="wrap") - board
        after = ((around == 3) | ((around == 2) & (board == 1))).astype(np.uint8)
        np.testing.assert_array_equal(life.play(board, 1), after)
        board = after
    np.testing.assert_array_equal(life.play(life.with_acorn(40, 50), 20), board)


def test_heat_map(program):
    heat_map = program("heat_map")
    plate = heat_map.plate_from_photo()[:30, :40]
    weights = np.array([[0.0, 0.2, 0.0], [0.2, 0.2, 0.2], [0.0, 0.2, 0.0]])
    expected = plate
    for _ in range(7):
        inside = ndimage.correlate(expected, weights)[1:-1, 1:-1]
        expected = np.zeros_like(plate)
        expected[1:-1, 1:-1] = inside
    np.testing.assert_allclose(heat_map.warmed(plate, 7), expected, rtol=1e-12)


def test_levenshtein(program):
    levenshtein = program("levenshtein")
    assert levenshtein.distance("kitten", "sitting") == 3
    assert levenshtein.distance("", "abc") == 3
    assert levenshtein.distance("Straße", "Strasse") == 2
    words = levenshtein.words_of(levenshtein.ZEN)
    assert words == sorted(set(re.sub(r"[^a-z]", " ", levenshtein.ZEN.lower()).split()))
    for word in ("beutiful", "explisit", "namspace"):
        best = min(words, key=lambda other: levenshtein.distance.py_func(word, other))
        assert levenshtein.nearest(word, words) == best


def test_histogram(program):
    histogram = program("histogram")
    photo = load_sample_image("flower.jpg")
    expected = np.stack([np.bincount(photo[:, :, c].ravel(), minlength=256) for c in range(3)])
    np.testing.assert_array_equal(histogram.histogram(photo), expected)
    assert histogram.share_above(photo.ravel(), 200) == (photo > 200).mean()
    assert "for byte in pixels:" in str(histogram.share_above.explain())


def test_tone_curve(program):
    tone_curve = program("tone_curve")
    every = np.arange(256, dtype=np.uint8)
    for exposure in (0.5, 1.5, 4.0):
        plain = np.array([tone_curve.toned(int(value), exposure) for value in every])
        np.testing.assert_array_equal(tone_curve.tone(every, exposure), plain)
    assert isinstance(tone_curve.tone, np.ufunc)
    assert tone_curve.tone(every[:, None], np.array([1.0, 2.0])).shape == (256, 2)


def test_kalman(program):
    kalman = program("kalman")
    places, measured = kalman.tracks(300, 3, 0.1, 0.5, 2.0, 5)
    found = kalman.followed(measured, 0.1, 0.5, 2.0)
    np.testing.assert_allclose(found, kalman.followed.py_func(measured, 0.1, 0.5, 2.0), rtol=1e-9)
    # The filter's mean and covariance are those of all measurements at once, by least squares.
    push = 0.5 * np.array([0.005, 0.1])
    move = np.array([[1.0, 0.1], [0.0, 1.0]])
    covariance, powers = np.zeros((60, 60)), [np.linalg.matrix_power(move, k) for k in range(61)]
    for t in range(30):
        for u in range(30):
            shared = powers[t + 1] @ (1000.0 * np.eye(2)) @ powers[u + 1].T
            for k in range(min(t, u) + 1):
                shared += np.outer(powers[t - k] @ push, powers[u - k] @ push)
            covariance[2 * t : 2 * t + 2, 2 * u : 2 * u + 2] = shared
    seen = covariance[::2, ::2] + 4.0 * np.eye(30)
    for axis in range(2):
        best = covariance[-2:, ::2] @ np.linalg.solve(seen, measured[:30, 1, axis])
        np.testing.assert_allclose(found[29, 1, axis::2], best, rtol=1e-8)
    assert ((found[50:, :, :2] - places[50:]) ** 2).mean() < 0.25 * ((measured - places)[50:] ** 2).mean()
