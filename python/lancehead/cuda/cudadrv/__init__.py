"""Parts of numba-cuda's driver interface that programs import."""

from lancehead.cuda.cudadrv import devicearray, devices, driver, drvapi, error, linkable_code, nvvm, runtime
from lancehead.options import public

__all__ = ["devicearray", "devices", "driver", "drvapi", "error", "linkable_code", "nvvm", "runtime"]
public(globals())
