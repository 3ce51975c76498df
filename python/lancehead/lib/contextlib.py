"""Context managers of `contextlib`."""

from lancehead.lib import prim


class nullcontext:
    """Does nothing on leaving a block, and gives a value on entering it."""

    __parameters__ = ("T",)
    __by_value__ = True
    __fields__ = {"enter_result": "T"}

    def __new__(enter_result=None):
        """A context manager that gives a value.

        >>> with contextlib.nullcontext(3) as n: pass
        >>> n
        3
        """
        return prim.value("contextlib.nullcontext", (enter_result,), enter_result)

    def __enter__(self):
        return self.enter_result

    def __exit__(self, kind, value, traceback):
        return None


class closing:
    """Closes something on leaving a block."""

    __parameters__ = ("T",)
    __by_value__ = True
    __fields__ = {"thing": "T"}

    def __new__(thing):
        """A context manager that gives a thing and closes it.

        >>> with contextlib.closing(x for x in (1, 2)) as g: first = next(g)
        >>> first
        1
        """
        return prim.value("contextlib.closing", (thing,), thing)

    def __enter__(self):
        return self.thing

    def __exit__(self, kind, value, traceback):
        self.thing.close()


class suppress:
    """Goes on after a block if an exception of some classes leaves it."""

    __parameters__ = ("T",)
    __by_value__ = True
    __fields__ = {"_classes": "T"}

    def __new__(*classes):
        """A context manager for some classes of exceptions.

        >>> n = 1
        >>> with contextlib.suppress(ZeroDivisionError): n = n // 0
        >>> n
        1
        """
        return prim.value("contextlib.suppress", (classes,), classes)

    def __enter__(self):
        return None

    def __exit__(self, kind, value, traceback):
        if kind is None:
            return False
        return isinstance(value, self._classes)


class generator_manager:
    """Runs a generator up to its `yield` on entering a block, and on from there on leaving it."""

    __parameters__ = ("G",)
    __by_value__ = True
    __fields__ = {"gen": "G"}

    def __enter__(self):
        for value in self.gen:
            return value
        raise RuntimeError("generator didn't yield")

    def __exit__(self, kind, value, traceback):
        if kind is None:
            for _ in self.gen:
                raise RuntimeError("generator didn't stop")
            return False
        try:
            if prim.generator_throw(self.gen, value):
                raise RuntimeError("generator didn't stop after throw()")
        except RuntimeError:
            if isinstance(value, StopIteration):
                return False
            raise
        return True


def manager(gen):
    """What a function under `contextmanager` gives."""
    return prim.value("contextlib.generator_manager", (gen,), gen)
