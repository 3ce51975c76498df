"""The run-time library of CUDA whose version the CPU device has the features of."""

from lancehead.options import public


class Runtime:
    """The version of the CUDA run-time library, as programs ask for it."""

    def get_version(self) -> tuple[int, int]:
        """Version."""
        return 13, 0

    def is_supported_version(self) -> bool:
        """Whether the version will do."""
        return True


runtime = Runtime()

__all__ = ["Runtime", "runtime"]
public(globals())
