"""Code that kernels link."""

from lancehead.cuda.linking import LTOIR, Archive, Cubin, CUSource, Fatbin, LinkableCode, Object, PTXSource
from lancehead.options import public

__all__ = ["LTOIR", "Archive", "CUSource", "Cubin", "Fatbin", "LinkableCode", "Object", "PTXSource"]
public(globals())
