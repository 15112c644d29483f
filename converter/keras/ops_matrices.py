"""keras.ops on matrices: equations, inverses, determinants, triangular factors; and Fourier transforms."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT
from ..building.contraction import product
from ..building.fourier import Rows, along, of_real, to_real
from ..building.linear_algebra import cholesky_factor, eliminated, matrices, triangular_solved
from ..building.movement import padded, sliced
from ..building.tensor import Tensor
from .call import Call
from .kind import Kind


def _square(c: Call, name: str = "x") -> Tensor:
    x = c.floats(c.tensor(0, name))
    if x.rank < 2 or x.sizes[-1] != x.sizes[-2] or x.sizes[-1] < 1:
        raise UnsupportedError(f"{name} must be square matrices of a known size, got {x}")
    return x


def _turned(x: Tensor) -> Tensor:
    return x.body.transposed(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


def _outer(c: Call, x: Tensor, numbers: Tensor) -> Tensor:
    """Numbers [batch, 1] in the shape of the axes in front of matrices."""
    return c.body.reshaped(numbers, c.body.sizes_of(x)[:-2])


def det(c: Call) -> Tensor:
    x = _square(c)
    _, pivots, sign = eliminated(c.importer.shared, x, None)
    return _outer(c, x, c.make("Prod", pivots, c.body.integers([1]), keep_dims=True) * sign)


def slogdet(c: Call) -> list[Tensor]:
    """The sign of the determinant, and the logarithm of its size."""
    x = _square(c)
    _, pivots, sign = eliminated(c.importer.shared, x, None)
    axes = c.body.integers([1])
    signs = c.make("Prod", pivots.apply("Sign"), axes, keep_dims=True) * sign
    logs = c.make("Sum", pivots.apply("Abs").apply("Log"), axes, keep_dims=True)
    return [_outer(c, x, signs), _outer(c, x, logs)]


def logdet(c: Call) -> Tensor:
    """Of positive definite matrices, by their factor."""
    x = _square(c)
    factor = matrices(cholesky_factor(c.importer.shared, x, True))
    diagonal = c.make("Sum", factor * _unit(c, x), c.body.integers([2]), keep_dims=False)
    return _outer(c, x, c.make("Sum", diagonal.apply("Log") * 2.0, c.body.integers([1]), keep_dims=True))


def _unit(c: Call, x: Tensor) -> Tensor:
    return c.body.constant(np.eye(x.sizes[-1], dtype=np.float32))


def inverse(c: Call) -> Tensor:
    x = _square(c)
    unit = matrices(x).apply("ZerosLike") + _unit(c, x)
    made, _, _ = eliminated(c.importer.shared, x, unit)
    return c.body.reshaped(made, c.body.sizes_of(x))


def _sides(c: Call) -> tuple[Tensor, Tensor, bool]:
    """Matrices and right sides of as many axes; whether these were vectors."""
    a, b = _square(c, "a"), c.floats(c.tensor(1, "b"))
    is_vector = b.rank == a.rank - 1
    if is_vector:
        b = c.body.reshaped(b, [*c.body.sizes_of(b), 1])
    if b.rank != a.rank or b.sizes[-2] != a.sizes[-1]:
        raise ModelError(f"b must have a row for each of {a.sizes[-1]} equations, got {b}")
    return a, b, is_vector


def _as_given(c: Call, x: Tensor, b: Tensor, is_vector: bool) -> Tensor:
    sizes = c.body.sizes_of(b)
    return c.body.reshaped(x, sizes[:-1] if is_vector else sizes)


def solve(c: Call) -> Tensor:
    a, b, is_vector = _sides(c)
    x, _, _ = eliminated(c.importer.shared, a, matrices(b))
    return _as_given(c, x, b, is_vector)


def solve_triangular(c: Call) -> Tensor:
    a, b, is_vector = _sides(c)
    lower = c.config.flag("lower")
    x = triangular_solved(c.importer.shared, a, b, left=True, lower=lower, unit=False, transposed=False)
    return _as_given(c, x, b, is_vector)


def cholesky(c: Call) -> Tensor:
    x = _square(c)
    return cholesky_factor(c.importer.shared, x, not c.config.flag("upper"))


def cholesky_inverse(c: Call) -> Tensor:
    """The inverse of what has the factor."""
    x, upper = _square(c), c.config.flag("upper")
    unit = x.apply("ZerosLike") + _unit(c, x)
    own = triangular_solved(
        c.importer.shared, x, unit, left=True, lower=not upper, unit=False, transposed=False
    )
    return product(own, _turned(own)) if upper else product(_turned(own), own)


def _rows(c: Call) -> Rows:
    """Real and imaginary parts of complex numbers."""
    values = [c.floats(each) for each in c.inputs]
    if len(values) != 2:
        raise ModelError(f"x must be real and imaginary parts, got {len(values)} tensors")
    return values[0], values[1]


def _transformed(count: int, inverse: bool) -> Kind:
    """Along the last axes."""

    def rule(c: Call) -> list[Tensor]:
        rows = _rows(c)
        rank = rows[0].rank
        for axis in range(rank - count, rank):
            length = rows[0].sizes[axis]
            if length < 1:
                raise UnsupportedError("the sizes of the axes must be known; input_shapes tells them")
            rows = along(rows, axis, length, inverse)
        return list(rows)

    return Kind(rule)


def rfft(c: Call) -> list[Tensor]:
    """Of real numbers, cut or with zeros behind; half of the result."""
    x = c.floats(c.tensor(0, "x"))
    length = c.config.integer("fft_length") if c.config.has("fft_length") else x.sizes[-1]
    return list(of_real(_of_length(x, length), length))


def irfft(c: Call) -> Tensor:
    """Real numbers of half of a transform."""
    rows = _rows(c)
    half = rows[0].sizes[-1]
    length = c.config.integer("fft_length") if c.config.has("fft_length") else 2 * (half - 1)
    real, imaginary = (_of_length(each, length // 2 + 1) for each in rows)
    return to_real((real, imaginary), length)


def _of_length(x: Tensor, length: int) -> Tensor:
    """The first numbers of the last axis, zeros behind where there are fewer."""
    size = x.sizes[-1]
    if x.type != DT_FLOAT or size < 1 or length < 1:
        raise UnsupportedError("the size of the last axis must be known; input_shapes tells it")
    if size > length:
        return sliced(x, [x.rank - 1], [0], [length], [1])
    return padded(x, [*[(0, 0)] * (x.rank - 1), (0, length - size)], x.body.scalar(0, x.type))


REGISTRATIONS: dict[str, Kind] = {
    "ops.Cholesky": Kind(cholesky),
    "ops.CholeskyInverse": Kind(cholesky_inverse),
    "ops.Det": Kind(det),
    "ops.FFT": _transformed(1, False),
    "ops.FFT2": _transformed(2, False),
    "ops.IFFT2": _transformed(2, True),
    "ops.IRFFT": Kind(irfft),
    "ops.Inv": Kind(inverse),
    "ops.Logdet": Kind(logdet),
    "ops.RFFT": Kind(rfft),
    "ops.Slogdet": Kind(slogdet),
    "ops.Solve": Kind(solve),
    "ops.SolveTriangular": Kind(solve_triangular),
}
