"""Bit generators and what seeds them. Their states and streams are those of NumPy (`lh-runtime/src/random/generator/`).

A value has the owner of the state, the address of NumPy's interface to it, and its kind: the kinds are numbered in
`bits.rs`.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.generators.jumping import KINDS, advance, jump, set_counter
from lancehead.lib.numpy.layout import as_shape, copy_c, count, new_array

PCG64_KIND, PCG64DXSM_KIND, MT19937_KIND, PHILOX_KIND, SFC64_KIND = KINDS
#: Added to the kind of a bit generator that compiled code has made.
NATIVE = 8


class SeedSequence:
    """Mixes entropy to seeds, and spawns others."""

    __parameters__ = ()
    __fields__ = {
        "_entropy": "array(uint32, 1, C)",
        "_spawn_key": "array(uint32, 1, C)",
        "pool_size": "int",
        "n_children_spawned": "int",
    }

    def __new__(entropy=None, spawn_key=(), pool_size=4, n_children_spawned=0):
        """A sequence of seeds.

        >>> np.random.SeedSequence(7).generate_state(2)
        array([2083679832, 3939563265], dtype=uint32)
        """
        if pool_size < 4:
            raise ValueError("The size of the entropy pool should be at least 4")
        words = _entropy_words(pool_size) if entropy is None else words_of(entropy)
        return sequence_of(words, words_of(spawn_key), pool_size, index_of(n_children_spawned))

    @property
    def entropy(self):
        """The entropy, if it is an integer of 63 bits."""
        value = 0
        for i in range(self._entropy.size):
            word = int(self._entropy[i])
            if i > 1 and word != 0 or i == 1 and word >= 2147483648:
                raise OverflowError("the entropy is beyond 63 bits")
            value |= word << (32 * i) if i < 2 else 0
        return value

    @property
    def pool(self):
        """The words that the entropy is mixed to."""
        return pool_of(self._entropy, self._spawn_key, self.pool_size)

    def generate_state(self, n_words, dtype=np.uint32):
        """Words of a seed."""
        n = index_of(n_words)
        t = prim.as_dtype(dtype)
        if t != np.uint32 and t != np.uint64:
            prim.error("`generate_state` gives `uint32` or `uint64`")
        out = new_array((n,), t)
        seed_words(self, prim.data(out), n * prim.itemsize(t) // 4)
        return out

    def spawn(self, n_children):
        """So many sequences that are independent of this one and of each other."""
        first = self.n_children_spawned
        self.n_children_spawned = first + index_of(n_children)
        return [child_of(self, first + i) for i in range(n_children)]


def _mixed(x, y):
    mixed = x * np.uint32(0xCA01F9DD) - y * np.uint32(0x4973F715)
    return mixed ^ (mixed >> np.uint32(16))


def _hashed(word, constant):
    # A word, and the constant of the next one.
    following = constant * np.uint32(0x931E8875)
    word = (word ^ constant) * following
    return word ^ (word >> np.uint32(16)), following


def pool_of(entropy, key, size):
    """The words that entropy and a spawn key are mixed to."""
    padding = size - entropy.size if key.size > 0 and entropy.size < size else 0
    words = np.concatenate((entropy, np.zeros(padding, np.uint32), key))
    pool, constant = np.zeros(size, np.uint32), np.uint32(0x43B0D7E5)
    for i in range(size):
        pool[i], constant = _hashed(words[i] if i < words.size else np.uint32(0), constant)
    for i in range(size):
        for j in range(size):
            if i != j:
                word, constant = _hashed(pool[i], constant)
                pool[j] = _mixed(pool[j], word)
    for i in range(size, words.size):
        for j in range(size):
            word, constant = _hashed(words[i], constant)
            pool[j] = _mixed(pool[j], word)
    return pool


def sequence_of(entropy, spawn_key, pool_size, children):
    """A sequence of seeds of its parts."""
    out = prim.new("numpy.random.SeedSequence")
    out._entropy = entropy
    out._spawn_key = spawn_key
    out.pool_size = pool_size
    out.n_children_spawned = children
    return out


def child_of(self, number):
    """The child of a sequence with a number."""
    own = self._spawn_key
    key = new_array((own.size + 1,), np.uint32)
    for i in range(own.size):
        key[i] = own[i]
    key[own.size] = np.uint32(number)
    return sequence_of(self._entropy, key, self.pool_size, 0)


def seed_words(self, to, n):
    """Stores words of 32 bits of a seed."""
    entropy, key = self._entropy, self._spawn_key
    prim.lh_seed_words(prim.data(entropy), entropy.size, prim.data(key), key.size, self.pool_size, to, n)


def _entropy_words(n):
    out = new_array((n,), np.uint32)
    for i in range(n):
        out[i] = np.uint32(prim.lh_rng_entropy() & 4294967295)
    return out


def _put_integer(out, at, x):
    # Stores the words of an integer, and says how many: one more than the last that is not zero.
    if not prim.is_int(x) and not prim.is_bool(x):
        prim.error("a seed is made of integers")
    if x < 0:
        raise ValueError("expected non-negative integer")
    word = prim.cast(x, np.uint64)
    out[at] = np.uint32(word & np.uint64(4294967295))
    high = word >> np.uint64(32)
    if high == 0:
        return 1
    out[at + 1] = np.uint32(high)
    return 2


def words_of(x):
    """Integers as words of 32 bits."""
    if prim.is_tuple(x):
        if len(x) == 0:
            return new_array((0,), np.uint32)
        first, rest = words_of(x[0]), words_of(x[1:])
        return _joined(first, rest)
    if prim.is_array(x) or prim.is_a(x, "builtins.list"):
        if prim.is_array(x) and x.ndim == 0:
            prim.error("an array that is a seed has at least one dimension")
        items = np.asarray(x).ravel()
        out, at = new_array((2 * items.size,), np.uint32), 0
        for i in range(items.size):
            if prim.dtype_of(items) == np.uint32:
                out[at] = items[i]
                at += 1
            else:
                at += _put_integer(out, at, items[i])
        return out[:at].copy()
    out = new_array((2,), np.uint32)
    return out[: _put_integer(out, 0, x)].copy()


def _joined(a, b):
    out = new_array((a.size + b.size,), np.uint32)
    out[: a.size] = a
    out[a.size :] = b
    return out


class BitGenerator:
    """Random bits of any kind."""

    __parameters__ = ()
    __by_value__ = True
    __fields__ = {"_owner": "mem", "_bits": "ptr", "_kind": "int"}

    def random_raw(self, size=None, output=True):
        """Words as the generator makes them."""
        if not output:
            n = 1 if size is None else count(as_shape(size))
            for _ in range(n):
                prim.lh_rng_raw(self._bits, self._kind)
            return None
        if size is None:
            return prim.cast(prim.lh_rng_raw(self._bits, self._kind), np.uint64)
        out = new_array(as_shape(size), np.uint64)
        for i in range(out.size):
            prim.set_item(out.ravel(), i, prim.cast(prim.lh_rng_raw(self._bits, self._kind), np.uint64))
        return out

    @property
    def seed_seq(self):
        """The seed sequence."""
        return seeds_of(self)

    def spawn(self, n_children):
        """So many bit generators of this kind that are independent of this one and of each other."""
        return spawned(self, index_of(n_children))

    def advance(self, delta):
        """Skips numbers, or goes back by some; only PCGs and `Philox` can."""
        advance(self._bits, self._kind, delta)
        return self

    def jumped(self, jumps=1):
        """One of this kind that is many numbers ahead: so many jumps of a length that the kind has."""
        other = _seeded(self._kind & 7 if self._kind & 7 != 0 else SFC64_KIND, SeedSequence())
        jump(other._bits, self._kind, self._bits, jumps)
        return other


def _check_native(self):
    if self._kind & NATIVE == 0:
        raise TypeError("a generator that was made in Python can be spawned only there")


def seeds_of(self):
    """The sequence of seeds of a bit generator of compiled code."""
    _check_native(self)
    entropy = new_array((prim.lh_rng_seed_len(self._bits, 0),), np.uint32)
    # A generator that a key has started has no seeds, which no entropy stands for.
    if entropy.size == 0 and self._kind & 7 == PHILOX_KIND:
        raise TypeError("The underlying SeedSequence does not implement spawning.")
    key = new_array((prim.lh_rng_seed_len(self._bits, 1),), np.uint32)
    prim.lh_rng_seed_words(self._bits, 0, prim.data(entropy))
    prim.lh_rng_seed_words(self._bits, 1, prim.data(key))
    return sequence_of(entropy, key, prim.lh_rng_seed_len(self._bits, 2), prim.lh_rng_children(self._bits, 0))


def spawned(self, n):
    """A list of bit generators whose seeds are children of this one's."""
    if n < 0:
        raise ValueError("n_children must be non-negative")
    seeds = seeds_of(self)
    first = prim.lh_rng_children(self._bits, n)
    return [_seeded(self._kind & 7, child_of(seeds, first + i)) for i in range(n)]


def _seeded(kind, seeds):
    words = new_array((312,), np.uint64)
    n = 624 if kind == MT19937_KIND else 4 if kind == PHILOX_KIND else 6 if kind == SFC64_KIND else 8
    seed_words(seeds, prim.data(words), n)
    return _started(kind, words, seeds)


def _started(kind, words, seeds):
    # Begins with the words of a seed.
    entropy, key = seeds._entropy, seeds._spawn_key
    owner, bits = prim.lh_rng_new(
        kind, prim.data(words), prim.data(entropy), entropy.size, prim.data(key), key.size, seeds.pool_size
    )
    return prim.value("numpy.random.BitGenerator", (owner, bits, kind | NATIVE))


def sequence(seed):
    """A sequence of seeds, made of what seeds a bit generator."""
    return seed if prim.is_a(seed, "numpy.random.SeedSequence") else SeedSequence(seed)


def PCG64(seed=None):
    """A bit generator of 128 bits of state (permuted congruential).

    >>> np.random.PCG64(3).random_raw(2)
    array([1579948266424812280, 4368382809143759861], dtype=uint64)
    """
    return _seeded(PCG64_KIND, sequence(seed))


def PCG64DXSM(seed=None):
    """The same with another output function.

    >>> np.random.PCG64DXSM(3).random_raw(2)
    array([15102922711555142065, 16124682477040547816], dtype=uint64)
    """
    return _seeded(PCG64DXSM_KIND, sequence(seed))


def MT19937(seed=None):
    """The Mersenne twister.

    >>> np.random.MT19937(3).random_raw(2)
    array([3843294716, 3633671190], dtype=uint64)
    """
    return _seeded(MT19937_KIND, sequence(seed))


def Philox(seed=None, counter=None, key=None):
    """A counter-based bit generator, which a seed or its key of 128 bits starts, and a counter.

    >>> np.random.Philox(3).random_raw(2)
    array([ 835510913015652550, 2351201279518840966], dtype=uint64)
    >>> np.random.Philox(key=4).random_raw(1)
    array([401885749254230], dtype=uint64)
    """
    made = _philox(seed, key)
    if counter is not None:
        set_counter(made._bits, counter)
    return made


def _philox(seed, key):
    if key is None:
        return _seeded(PHILOX_KIND, sequence(seed))
    if seed is not None:
        raise ValueError("seed and key cannot be both used")
    nothing = new_array((0,), np.uint32)
    return _started(PHILOX_KIND, _key_words(key), sequence_of(nothing, nothing, 4, 0))


def _key_words(key):
    if prim.is_int(key) or prim.is_bool(key):
        if key < 0:
            raise ValueError("key must be positive and less than 2**128.")
        return np.array([prim.cast(key, np.uint64), np.uint64(0)])
    items = np.asarray(key)
    if not prim.is_int(prim.dtype_of(items)) or items.ndim != 1:
        prim.error("a key is an integer, or an array of two")
    if items.size != 2:
        raise ValueError("key must have 2 elements when using array form")
    return copy_c(items, np.uint64)


def SFC64(seed=None):
    """A small fast chaotic bit generator.

    >>> np.random.SFC64(3).random_raw(2)
    array([11591370434596683086, 15777990444262907269], dtype=uint64)
    """
    return _seeded(SFC64_KIND, sequence(seed))
