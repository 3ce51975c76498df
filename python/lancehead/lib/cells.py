"""Variables that a function shares with the functions inside of it."""


class cell:
    """A variable: its value, and whether it has one."""

    __parameters__ = ("T",)
    __fields__ = {"_value": "T", "_is_bound": "bool"}
    __infers__ = {"set": "T"}

    def get(self, name, is_free):
        if not self._is_bound:
            if is_free:
                raise NameError(
                    "cannot access free variable '"
                    + name
                    + "' where it is not associated with a value in enclosing scope"
                )
            raise UnboundLocalError(
                "cannot access local variable '" + name + "' where it is not associated with a value"
            )
        return self._value

    def set(self, value):
        self._value = value
        self._is_bound = True

    def delete(self, name, is_free):
        self.get(name, is_free)
        self._is_bound = False


class grouping:
    """The state of `itertools.groupby`: the item that was taken last and its key, and how far the groups are."""

    __parameters__ = ("T", "K")
    __fields__ = {
        "item": "T",
        "key": "K",
        "at": "int",
        "number": "int",
        "taken": "int",
        "is_given": "bool",
        "is_done": "bool",
    }
