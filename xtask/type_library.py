"""Types the library for the arguments that programs use most, and compiles its large functions for processors.

Usage: `python xtask/type_library.py python/lancehead/library.typed [--objects]`, with lancehead installed. That file
and, with `--objects`, `library.x86-64-v3` and the like beside it go into the wheel.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

import lancehead
from lancehead import _core

#: Of an array.
ANY = """
a.sum() np.sum(a) np.mean(a) np.max(a) np.min(a) a.max() a.min() a.mean() np.argmax(a) np.argmin(a) a.argmax()
a.argmin() np.any(a) np.all(a) a.any() a.all() np.prod(a) np.cumsum(a) np.sort(a) np.argsort(a) np.unique(a) a.copy()
a.flatten() a.ravel() a.reshape(-1) a.T np.zeros_like(a) np.ones_like(a) np.empty_like(a) np.nonzero(a) np.where(a)
np.std(a) np.var(a) np.median(a) np.abs(a) np.concatenate((a,a)) np.where(a>a,a,a) np.dot(a,a) a@a np.zeros(a.shape)
np.ones(a.shape) np.empty(a.shape) np.full(a.shape,1.0) np.zeros(len(a)) np.ones(len(a)) np.empty(len(a))
np.arange(len(a)) np.linspace(0.0,1.0,len(a)) np.clip(a,a,a) np.diff(a) a[a>a] a[1:] a[::-1] a[0] a[np.arange(3)]
a[1:]+a[:-1] np.maximum(a,a) np.minimum(a,a) a.astype(np.float64) a.astype(np.int64) a.fill(0) np.sqrt(a) np.exp(a)
np.log(a) np.sin(a) np.cos(a) a+a a*a a**2 a/a np.asarray(a) np.flip(a) np.roll(a,1)
np.searchsorted(a.ravel(),a.ravel()) np.bincount(a.ravel()) np.isnan(a) np.append(a,a) np.percentile(a,50)
np.array_equal(a,a) np.sum(a[::2]) np.mean(a[::2]) np.max(a[::2]) np.min(a[::2]) np.sort(a[::2]) a[::2].copy() """
#: Of a matrix.
MATRIX = """
a.sum(axis=0) a.sum(axis=1) np.sum(a,axis=0) np.sum(a,axis=1) np.mean(a,axis=0) np.mean(a,axis=1) a.mean(axis=0)
a.mean(axis=1) np.std(a,axis=0) np.max(a,axis=0) np.max(a,axis=1) np.min(a,axis=0) np.min(a,axis=1) a.max(axis=0)
a.max(axis=1) a.min(axis=0) a.min(axis=1) np.argmax(a,axis=1) np.argmin(a,axis=1) np.linalg.solve(a,a[0])
np.linalg.inv(a) np.linalg.det(a) np.linalg.norm(a) np.dot(a,a[0]) a@a[0] a.T@a np.eye(3) np.identity(3) np.diag(a)
np.trace(a) a[0,:] a[:,0] a[1:,1:] np.vstack((a,a)) np.hstack((a,a)) np.outer(a[0],a[0]) np.transpose(a)
np.cumsum(a,axis=0) np.cumsum(a,axis=1) a.reshape(a.shape[0],1,a.shape[1]) np.linalg.cholesky(a) np.expand_dims(a,0)
a[:,None] np.sum(a[1:,::2]) np.mean(a[1:,::2]) np.max(a[1:,::2]) np.min(a[1:,::2]) a[1:,::2].copy()
"""
DTYPES = ("float64", "float32", "int64", "int32", "bool")
#: Of a list.
LIST = """
len(a) a.append(x) a.extend(a) a.insert(0,x) a.pop() a.pop(0) a.remove(x) a.index(x) a.count(x) a.reverse() a.copy()
a.clear() x_in_a a==a a+a a*2 a[1:] a[::-1] sorted(a) a.sort() max(a) min(a) sum(a) list(a) [y_for_y_in_a] [x]
"""
#: Of a dictionary, with a key and a value.
DICT = """
len(d) d[k] d.get(k) d.get(k,v) d.pop(k) d.pop(k,v) d.popitem() d.setdefault(k,v) d.update(d) d.copy() d.clear()
d.__setitem__(k,v) d.__delitem__(k) k_in_d list(d) list(d.keys()) list(d.values()) list(d.items()) d==d
[y_for_y_in_d.items()] [d[y]_for_y_in_d] sorted(d) max(d.values()) {k:v}
"""
#: Of a set with an item.
SET = """
len(a) a.add(x) a.discard(x) a.remove(x) a.pop() a.update(a) a.copy() a.clear() x_in_a a|a a&a a-a a^a a<=a a==a list(a)
sorted(a) [y_for_y_in_a] {x}
"""
#: Of a text.
TEXT = """
len(s) s+s s*2 s[0] s[1:] s==s s<s s.split() s.split(s) s.strip() s.lower() s.upper() s.replace(s,s) s.find(s)
s.startswith(s) s.endswith(s) s.join([s]) s_in_s int(s) float(s) str(s) [c_for_c_in_s] hash(s)
"""
#: Of two numbers.
NUMBERS = "x%y x//y x/y x**y x**2 abs(x) min(x,y) max(x,y) int(x) float(x) str(x) round(x) divmod(x,y)"


def containers():
    """Functions of lists, dictionaries and sets with their types."""
    int64, text = lancehead.types.int64, lancehead.types.unicode_type
    for item in (int64, lancehead.types.float64, text):
        for words, kind in ((LIST, lancehead.types.ListType), (SET, lancehead.types.SetType)):
            for word in words.split():
                yield eval("lambda a, x: " + word.replace("_", " ")), [kind(item), item]
    for key in (int64, text):
        for value in (int64, lancehead.types.float64):
            for word in DICT.split():
                word = word if "__" in word else word.replace("_", " ")
                yield eval("lambda d, k, v: " + word), [lancehead.types.DictType(key, value), key, value]


def texts_and_numbers():
    """Functions of a text, and of numbers."""
    int64, float64 = lancehead.types.int64, lancehead.types.float64
    for word in TEXT.split():
        yield eval("lambda s: " + word.replace("_", " ")), [lancehead.types.unicode_type]
    for pair in ((int64, int64), (float64, float64), (int64, float64), (float64, int64)):
        yield from ((eval("lambda x, y: " + word), list(pair)) for word in NUMBERS.split())


def programs():
    """Functions of one argument or a few, with their types."""
    yield from containers()
    yield from texts_and_numbers()
    for dtype in DTYPES:
        for shape, texts in (((4,), ANY), ((4, 4), ANY + MATRIX)):
            array = lancehead.typeof(np.zeros(shape, dtype))
            yield from ((eval("lambda a: " + text, {"np": np}), [array]) for text in texts.split())


def keep_objects(typed):
    """Writes the objects for each level beside the typed library, which they need: each level in a process."""
    commands = [(level, typed.with_suffix(f".{level}")) for level in _core.shipped_levels()]
    started = [subprocess.Popen([sys.executable, __file__, "--level", level, str(file)]) for level, file in commands]
    statuses = [process.wait() for process in started]
    if any(statuses):
        sys.exit("type_library: no objects of the library")


if sys.argv[1] == "--level":
    _core.keep_objects(sys.argv[3], list(programs()), [sys.argv[2]])
else:
    _core.keep_typed(sys.argv[1], list(programs()))
    if "--objects" in sys.argv:
        keep_objects(Path(sys.argv[1]))
