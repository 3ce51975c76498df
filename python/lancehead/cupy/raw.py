RawKernel = RawModule = None
