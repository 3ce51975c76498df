"""The blocks of memory of a pool of one device."""

from __future__ import annotations

import bisect
from typing import Any

#: Sizes are multiples of these bytes.
UNIT = 512


class Block:
    """A part of memory that was allocated at once, between two neighbours; only one stream uses it."""

    __slots__ = ("after", "before", "is_free", "mem", "offset", "queue", "size")

    def __init__(self, mem: Any, offset: int, size: int, queue: int) -> None:
        self.mem, self.offset, self.size, self.queue = mem, offset, size, queue
        self.before: Block | None = None
        self.after: Block | None = None
        self.is_free = False

    @property
    def ptr(self) -> int:
        """Its address."""
        return int(self.mem.ptr) + self.offset

    def split(self, size: int) -> Block:
        """Keeps so many bytes, and gives the rest as a block of its own."""
        rest = Block(self.mem, self.offset + size, self.size - size, self.queue)
        rest.before, rest.after = self, self.after
        if self.after is not None:
            self.after.before = rest
        self.after, self.size = rest, size
        return rest

    def join(self) -> None:
        """Takes the next block into it."""
        rest = self.after
        assert rest is not None, "the caller has seen it"
        self.size += rest.size
        self.after = rest.after
        if self.after is not None:
            self.after.before = self


class Blocks:
    """Blocks that are not in use, by streams, and bytes: all of them, those not in use, and the limit."""

    def __init__(self) -> None:
        self.queues: dict[int, list[tuple[int, int, Block]]] = {}
        self.total = self.unused = self.limit = 0

    def has_room(self, size: int) -> bool:
        """Whether so many more bytes are within the limit."""
        return not self.limit or self.total + size <= self.limit

    def count(self) -> int:
        """Number of blocks that are not in use."""
        return sum(map(len, self.queues.values()))

    def take(self, size: int, queue: int) -> Block | None:
        """The smallest block of a stream that is large enough; None if there is none."""
        known = self.queues.get(queue, [])
        at = bisect.bisect_left(known, (size,))
        if at == len(known):
            return None
        block = known.pop(at)[2]
        self.unused -= block.size
        block.is_free = False
        if block.size > size:
            self._put(block.split(size))
        return block

    def _put(self, block: Block) -> None:
        block.is_free = True
        self.unused += block.size
        bisect.insort(self.queues.setdefault(block.queue, []), (block.size, block.ptr, block))

    def _take_out(self, block: Block) -> None:
        known = self.queues[block.queue]
        del known[bisect.bisect_left(known, (block.size, block.ptr))]
        self.unused -= block.size

    def free(self, block: Block) -> None:
        """Takes a block back, joined with neighbours that are not in use."""
        if block.after is not None and block.after.is_free:
            self._take_out(block.after)
            block.join()
        if block.before is not None and block.before.is_free:
            block = block.before
            self._take_out(block)
            block.join()
        self._put(block)

    def leave(self, block: Block) -> None:
        """Forgets a block whose memory has another owner now."""
        self.total -= block.size

    def release(self, queue: int | None) -> None:
        """Gives up the blocks of a stream, or of all, that are whole memories."""
        for key in [queue] if queue is not None else list(self.queues):
            known = self.queues.get(key, [])
            parts = [part for part in known if part[2].before is not None or part[2].after is not None]
            freed = sum(part[0] for part in known) - sum(part[0] for part in parts)
            self.unused -= freed
            self.total -= freed
            self.queues[key] = parts
