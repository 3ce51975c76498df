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
    "xp_sparse_pca",
    "xp_group_by",
    "cuda_mandelbrot",
    "cuda_nbody",
    "cuda_fft_filter",
    "cuda_sparse_pca",
    "cupy_saxpy_trig",
    "cupy_elementwise",
    "cupy_fuse",
    "cupy_raw_matmul",
    "sparse_ladders",
    "sparse_pagerank",
    "sparse_poisson",
    "sparse_tf_idf",
    "dask_components",
)

#: Programs that the language cannot express yet, with the reason; they are shown by name and not run.
NOT_YET: dict[str, str] = {}
