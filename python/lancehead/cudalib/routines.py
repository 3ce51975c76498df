"""The routines of BLAS's second and third level: one line for each says all of it but its loops.

A line has the name, the types by their letters, the parameters in the order of both the method and the C function, and
the extents of the arrays. `m|n trans` is the first of both if `trans` says so (no transposition, the left side), else
the second; `m k transa` is a matrix of m rows and k columns, and of k and m if it is transposed.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Values of the parameters that choose, by the numbers of the C interface.
OPERATION: dict[object, int] = {"N": 0, "T": 1, "C": 2}
FILL: dict[object, int] = {"L": 0, "U": 1}
UNIT: dict[object, int] = {False: 0, True: 1, "N": 0, "U": 1}
SIDE: dict[object, int] = {"L": 0, "R": 1}
CHOICES = {"trans": OPERATION, "transa": OPERATION, "transb": OPERATION, "uplo": FILL, "diag": UNIT, "side": SIDE}
SIZES = frozenset("m n k kl ku".split())


@dataclass(frozen=True)
class Routine:
    """A routine: see the module."""

    name: str
    letters: str
    parameters: tuple[str, ...]
    extents: dict[str, tuple[str, ...]]
    formula: str
    #: The array that is written.
    out: str
    #: Scalars that are real whatever the type of the arrays.
    real: frozenset[str]


def _routine(line: str) -> Routine:
    head, parameters, extents, formula = (part.strip() for part in line.split(";"))
    name, letters, *real = head.split()
    shapes = {part.split()[0]: tuple(part.split()[1:]) for part in extents.split(",")}
    names = tuple(parameters.split())
    return Routine(name, letters, names, shapes, formula, [p for p in names if p in shapes][-1], frozenset(real))


_LINES = """
gemv SDCZ; trans m n alpha A x beta y; A m n, x n|m trans, y m|n trans; y = alpha op(A) x + beta y
gbmv SDCZ; trans m n kl ku alpha A x beta y; A band n, x n|m trans, y m|n trans; y = alpha op(A) x + beta y
trmv SDCZ; uplo trans diag n A x; A n n, x n; x = op(A) x
tbmv SDCZ; uplo trans diag n k A x; A band n, x n; x = op(A) x
tpmv SDCZ; uplo trans diag n AP x; AP packed, x n; x = op(A) x
trsv SDCZ; uplo trans diag n A x; A n n, x n; solves op(A) x = b, where x is b before
tbsv SDCZ; uplo trans diag n k A x; A band n, x n; solves op(A) x = b, where x is b before
tpsv SDCZ; uplo trans diag n AP x; AP packed, x n; solves op(A) x = b, where x is b before
symv SDCZ; uplo n alpha A x beta y; A n n, x n, y n; y = alpha A x + beta y
hemv CZ; uplo n alpha A x beta y; A n n, x n, y n; y = alpha A x + beta y
sbmv SD; uplo n k alpha A x beta y; A band n, x n, y n; y = alpha A x + beta y
hbmv CZ; uplo n k alpha A x beta y; A band n, x n, y n; y = alpha A x + beta y
spmv SD; uplo n alpha AP x beta y; AP packed, x n, y n; y = alpha A x + beta y
hpmv CZ; uplo n alpha AP x beta y; AP packed, x n, y n; y = alpha A x + beta y
ger SD; m n alpha x y A; x m, y n, A m n; A = alpha x y^T + A
geru CZ; m n alpha x y A; x m, y n, A m n; A = alpha x y^T + A
gerc CZ; m n alpha x y A; x m, y n, A m n; A = alpha x y^H + A
syr SDCZ; uplo n alpha x A; x n, A n n; A = alpha x x^T + A
her CZ alpha; uplo n alpha x A; x n, A n n; A = alpha x x^H + A
spr SD; uplo n alpha x AP; x n, AP packed; A = alpha x x^T + A
hpr CZ alpha; uplo n alpha x AP; x n, AP packed; A = alpha x x^H + A
syr2 SDCZ; uplo n alpha x y A; x n, y n, A n n; A = alpha (x y^T + y x^T) + A
her2 CZ; uplo n alpha x y A; x n, y n, A n n; A = alpha x y^H + conj(alpha) y x^H + A
spr2 SD; uplo n alpha x y AP; x n, y n, AP packed; A = alpha (x y^T + y x^T) + A
hpr2 CZ; uplo n alpha x y AP; x n, y n, AP packed; A = alpha x y^H + conj(alpha) y x^H + A
gemm SDCZ; transa transb m n k alpha A B beta C; A m k transa, B k n transb, C m n; C = alpha op(A) op(B) + beta C
symm SDCZ; side uplo m n alpha A B beta C; A square, B m n, C m n; C = alpha A B + beta C, on the right side B A
hemm CZ; side uplo m n alpha A B beta C; A square, B m n, C m n; C = alpha A B + beta C, on the right side B A
syrk SDCZ; uplo trans n k alpha A beta C; A n k trans, C n n; C = alpha op(A) op(A)^T + beta C
herk CZ alpha beta; uplo trans n k alpha A beta C; A n k trans, C n n; C = alpha op(A) op(A)^H + beta C
syr2k SDCZ; uplo trans n k alpha A B beta C; A n k trans, B n k trans, C n n; C = alpha (A B^T + B A^T) + beta C
her2k CZ beta; uplo trans n k alpha A B beta C; A n k trans, B n k trans, C n n; C = (alpha A B^H) + adjoint + beta C
trsm SDCZ; side uplo trans diag m n alpha A B; A square, B m n; solves op(A) X = alpha B, on the right side X op(A)
trmm SDCZ; side uplo trans diag m n alpha A B C; A square, B m n, C m n; C = alpha op(A) B, on the right side B op(A)
dgmm SDCZ; side m n A x C; A m n, x m|n side, C m n; C = diag(x) A, on the right side A diag(x)
geam SDCZ; transa transb m n alpha A beta B C; A m n transa, B m n transb, C m n; C = alpha op(A) + beta op(B)
"""

ROUTINES = {r.name: r for r in map(_routine, _LINES.strip().splitlines())}
