"""The programs of the demo, one per file, in the order in which they are shown."""

NAMES = (
    "sum2d",
    "go_fast",
    "pi",
    "matmul_lists",
    "matmul_arrays",
    "heat",
    "mandelbrot",
    "photo_filter",
    "nbody",
    "levenshtein",
    "word_count",
    "sparse_pca",
    "pca",
    "ridge",
    "poisson",
    "options",
    "kalman",
    "grad_logistic",
    "grad_digits",
    "grad_heat",
    "xp_sparse_pca",
    "xp_group_by",
    "cuda_mandelbrot",
    "cuda_nbody",
    "cuda_fft_filter",
)

#: Programs that the language cannot express yet, with the reason; they are shown by name and not run.
NOT_YET: dict[str, str] = {}
