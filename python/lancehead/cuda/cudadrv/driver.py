"""Errors and objects of the driver."""

from lancehead.cuda.devices import Context, Device
from lancehead.cuda.errors import CudaAPIError, CudaDriverError, CudaSupportError, LinkerError
from lancehead.cuda.streams import Event, Stream

__all__ = ["Context", "CudaAPIError", "CudaDriverError", "CudaSupportError", "Device", "Event", "LinkerError", "Stream"]
