"""Parts of numba-cuda's driver interface that programs import."""

from lancehead.cuda.cudadrv import devicearray, devices, driver, drvapi, error, nvvm, runtime

__all__ = ["devicearray", "devices", "driver", "drvapi", "error", "nvvm", "runtime"]
