"""Why compiled code has not a name of NumPy, and the way out: the table behind `docs/numpy.md`, one line each."""

FILES = "reads or writes a file: do it outside, and pass or return the array"
PRINTING = "settings of printing are the process's, which compiled code follows: change them outside"
FORMAT = 'use `repr(x)`, `f"{x:.3f}"` or `f"{x:.3e}"`'
ERRORS = (
    "settings of floating point errors are the process's: compiled code warns of nothing ([error models](options.md))"
)
MATRIX = "`np.matrix` is a class apart: use arrays of two dimensions and `@`"
PROCESS = "says how NumPy was built or tests it: call it outside"
STATE = "is no value of compiled code: make and seed generators inside, or pass one in, which keeps its state outside"
ADDRESS = "an address of NumPy's for C: compiled code needs none"
OBJECT = "an object of Python: "

REASONS = {
    "numpy.asmatrix": MATRIX,
    "numpy.bmat": MATRIX + "; `np.block` joins",
    "numpy.matrix": MATRIX,
    "numpy.fromfile": FILES,
    "numpy.fromregex": FILES,
    "numpy.genfromtxt": FILES,
    "numpy.load": FILES,
    "numpy.loadtxt": FILES,
    "numpy.memmap": FILES,
    "numpy.save": FILES,
    "numpy.savetxt": FILES,
    "numpy.savez": FILES,
    "numpy.savez_compressed": FILES,
    "numpy.ndarray.dump": FILES,
    "numpy.ndarray.tofile": FILES,
    "numpy.get_printoptions": PRINTING,
    "numpy.printoptions": PRINTING,
    "numpy.set_printoptions": PRINTING,
    "numpy.format_float_positional": FORMAT,
    "numpy.format_float_scientific": FORMAT,
    "numpy.polynomial.polyutils.format_float": FORMAT,
    "numpy.errstate": ERRORS,
    "numpy.geterr": ERRORS,
    "numpy.geterrcall": ERRORS,
    "numpy.seterr": ERRORS,
    "numpy.seterrcall": ERRORS,
    "numpy.getbufsize": "buffers of NumPy's ufuncs: loops of compiled code have none",
    "numpy.setbufsize": "buffers of NumPy's ufuncs: loops of compiled code have none",
    "numpy.get_include": PROCESS,
    "numpy.info": PROCESS,
    "numpy.show_config": PROCESS,
    "numpy.show_runtime": PROCESS,
    "numpy.test": PROCESS,
    "numpy.frompyfunc": OBJECT + "decorate the function with `@vectorize`, outside",
    "numpy.vectorize": OBJECT + "decorate the function with `@vectorize`, outside, or write a loop",
    "numpy.poly1d": OBJECT + "use `np.polyval(coefficients, x)` and the other functions of coefficients",
    "numpy.nested_iters": "use loops in loops, or `np.ndindex(shape)`",
    "numpy.busdaycalendar": OBJECT + "pass `weekmask=` and `holidays=`",
    "numpy.flatiter": "is made by `a.flat`, which is supported",
    "numpy.recarray": "use a structured dtype, `np.zeros(n, dtype)`; fields are read as `a.name`",
    "numpy.ufunc": "has no constructor: decorate a function with `@vectorize`",
    "numpy.ndarray.base": OBJECT + "pass the other array as an argument, or compare with `np.shares_memory`",
    "numpy.ndarray.dumps": "pickles: use `a.tobytes()`",
    "numpy.ndarray.resize": "changes memory that others may view: use `np.resize(a, shape)` or a new array",
    "numpy.ndarray.setflags": "whether an array is writable is part of its type: set it outside",
    "numpy.ufunc.resolve_dtypes": "use `np.result_type` of the operands, or the `dtype` of a result",
    "numpy.random.RandomState": "use `np.random.seed(n)` and functions of `np.random`, or `np.random.default_rng(n)`",
    "numpy.random.BitGenerator": "an abstract class: use `PCG64` or one of the others",
    "numpy.random.get_state": "the state of the stream " + STATE,
    "numpy.random.set_state": "the state of the stream " + STATE,
    "numpy.random.SeedSequence.spawn_key": "a tuple whose length is known only at run time: use `spawn(n)`",
    "numpy.random.SeedSequence.state": "a dictionary of several types: use `entropy` and `n_children_spawned`",
    "numpy.random.BitGenerator.capsule": ADDRESS,
    "numpy.random.BitGenerator.cffi": ADDRESS,
    "numpy.random.BitGenerator.ctypes": ADDRESS,
    "numpy.polynomial.Chebyshev.basis_name": "is for printing: write the letter",
    "numpy.random.BitGenerator.lock": "locks of Python are taken around a call: compiled code needs none",
    "numpy.random.BitGenerator.state": "a dictionary of several types: use `advance` and `jumped`",
}

#: Arguments that functions of the library have, but refuse.
ARGUMENTS = {
    "numpy.pad": ("mode as a function", "its other keywords"),
    "numpy.random.BitGenerator.jumped": ("self of MT19937",),
    "numpy.busday_count": ("busdaycal",),
    "numpy.busday_offset": ("busdaycal",),
    "numpy.is_busday": ("busdaycal",),
    "numpy.argpartition": ("order",),
    "numpy.argsort": ("order",),
    "numpy.partition": ("order",),
    "numpy.sort": ("order",),
    "numpy.ndarray.argpartition": ("order",),
    "numpy.ndarray.argsort": ("order",),
    "numpy.ndarray.partition": ("order",),
    "numpy.ndarray.sort": ("order",),
}
