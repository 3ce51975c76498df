ElementwiseKernel = ReductionKernel = None
