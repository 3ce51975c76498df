"""Devices by their numbers."""

from __future__ import annotations

import functools
from typing import Any

from lancehead.cupy import layout
from lancehead.cupy.cuda import runtime
from lancehead.options import public

__all__ = ["Device", "from_pointer", "get_compute_capability", "get_device_id"]
public(globals())


@functools.total_ordering
class Device:
    """A device by its number, the one in use without. In a `with` block it is the one in use."""

    def __init__(self, device: Any = None) -> None:
        self.id = layout.CURRENT.number if device is None else int(device)
        self._before: list[int] = []

    @property
    def number(self) -> int:
        """Its number."""
        return int(self.id)

    def __int__(self) -> int:
        return int(self.id)

    def __enter__(self) -> Device:
        self._before.append(layout.CURRENT.number)
        runtime.setDevice(self.id)
        return self

    def __exit__(self, *error: Any) -> None:
        layout.CURRENT.number = self._before.pop()

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, Device) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return bool(self.id < other.id) if isinstance(other, Device) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return bool(self.id <= other.id) if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> Device:
        """Makes it the device in use."""
        runtime.setDevice(self.id)
        return self

    def synchronize(self) -> None:
        """Waits for all its work."""
        runtime.deviceSynchronize()

    @property
    def compute_capability(self) -> str:
        """The instructions that its kernels may use, as two digits."""
        found = runtime.getDeviceProperties(self.id)
        return f"{found['major']}{found['minor']}"

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free bytes and bytes."""
        return runtime.memGetInfo()

    @property
    def attributes(self) -> dict[str, Any]:
        """Facts of the device by their names."""
        return dict(runtime.attributes(self.id).values())

    @property
    def pci_bus_id(self) -> str:
        """Its place in the machine."""
        return runtime.deviceGetPCIBusId(self.id)

    @classmethod
    def from_pci_bus_id(cls, bus_id: str) -> Device:
        """The device at a place of the machine."""
        return cls(runtime.deviceGetByPCIBusId(bus_id))


def from_pointer(ptr: int) -> Device:
    """The device whose memory an address is of."""
    return Device(runtime.pointerGetAttributes(ptr).device)


def get_device_id() -> int:
    """The number of the device in use."""
    return int(layout.CURRENT.number)


def get_compute_capability() -> str:
    """The instructions that kernels of the device in use may use, as two digits."""
    return Device().compute_capability
