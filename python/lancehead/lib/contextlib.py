"""Context managers of `contextlib`."""

import functools

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


class ExitStack:
    """Leaves several context managers, and calls functions, in reverse order."""

    __parameters__ = ("F",)
    __items__ = "F"
    __infers__ = {"_push": "F", "__guess__": "int"}

    def __enter__(self):
        return self

    def _push(self, leave):
        n = prim.items_len(self)
        prim.items_reserve(self, n + 1)
        prim.items_put(self, n, leave)
        prim.items_set_len(self, n + 1)

    def enter_context(self, cm):
        """Enters a context manager, which is left with the others; its result.

        >>> with contextlib.ExitStack() as stack: n = stack.enter_context(contextlib.nullcontext(3))
        >>> n
        3
        """
        # The compiler calls this and the next two itself.
        self._push(leaver(cm))
        return cm.__enter__()

    def push(self, exit):
        """Adds a context manager that has been entered, or a function like `__exit__`; gives it back."""
        self._push(leaver(exit))
        return exit

    def callback(self, callback, /, *args, **kwds):
        """Adds a call of a function, which it gives back."""
        self._push(caller(functools.partial(callback, *args, **kwds)))
        return callback

    def pop_all(self):
        """A new stack, to which everything goes that is in this one."""
        n = prim.items_len(self)
        made = prim.items_like(self, n)
        for i in range(n):
            prim.items_put(made, i, prim.items_take(self, i))
        prim.items_set_len(made, n)
        prim.items_set_len(self, 0)
        return made

    def close(self):
        """Leaves everything now."""
        self.__exit__(None, None, None)

    def __exit__(self, kind, value, traceback):
        error = value
        raises = False
        suppressed = False
        while prim.items_len(self) > 0:
            at = prim.items_len(self) - 1
            leave = prim.items_take(self, at)
            prim.items_set_len(self, at)
            try:
                if not callable(leave):
                    # Nothing has been added anywhere.
                    raises = False
                elif error is None:
                    leave(None, None, None)
                elif leave(error.__class__, error, None):
                    error = None
                    raises = False
                    suppressed = True
            except BaseException as new:
                error = new
                raises = True
        if raises and error is not None:
            raise error
        return value is not None and suppressed


def leaver(cm):
    """Leaves a context manager."""

    def leave(kind, value, traceback):
        return cm.__exit__(kind, value, traceback)

    return leave


def caller(function):
    """Calls a function on leaving."""

    def leave(kind, value, traceback):
        function()
        return False

    return leave


def contextmanager(func):
    """A function that makes context managers of the generators that a function makes.

    >>> with contextlib.contextmanager(lambda: (x for x in [6]))() as n: pass
    >>> n
    6
    """

    def make(*args, **kwds):
        return manager(func(*args, **kwds))

    return make


def manager(gen):
    """Wraps the generator of a function under `contextmanager` as a context manager."""
    return prim.value("contextlib.generator_manager", (gen,), gen)
