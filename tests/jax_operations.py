"""Operations of JAX by the family of what they are exported as, which tests/record_jax.py exports."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.jax_networks import DRAW, Case, floats

HWIO = ("NHWC", "HWIO", "NHWC")


def sort() -> Case:
    def f(x: jax.Array) -> object:
        keys = lax.sort([jnp.round(x), x], dimension=1, num_keys=2)
        return (
            *lax.top_k(x, 3),
            *(jnp.sort(x, -1), jnp.argsort(x, 0), jnp.argsort(-x, 1), -jnp.sort(-x, axis=0), keys[1]),
            *(jnp.argmax(x, 1), jnp.argmin(x, 0), jnp.max(x), jnp.median(x, 1), jnp.unique(x[0], size=3)),
        )

    return f, [floats(4, 9)]


def gather_scatter() -> Case:
    def f(x: jax.Array, i: jax.Array, u: jax.Array, j: jax.Array) -> object:
        return (
            *(x[i], x[:, j], x[j, j % 4], x[i[1]], jnp.take(x, i, axis=1), x[i, :, j[0]]),
            *(x.at[i].add(u), x.at[i].set(u), x.at[j, 0].max(0.5), x.at[:, 1].set(2.0), x.at[j].mul(2.0)),
            *(jnp.take(x, i, axis=0, mode="clip"), jnp.take_along_axis(x, jnp.argsort(x, 1), 1)),
            *(x.at[j[0], 1:3].set(0.0), x.at[i].min(u), x.at[j, j].set(u[:3, 0])),
            lax.dynamic_slice(x, (i[0], j[0], 0), (2, 2, 3)),
            lax.dynamic_update_slice(x, u[:2], (i[0], 0, 0)),
            jax.ops.segment_sum(x, j[jnp.array([0, 1, 2, 0, 1])], 4),
            jax.nn.one_hot(i, 5),
            jax.vmap(lambda a, k: lax.dynamic_slice(a, (k, 0), (2, 3)))(x, i),
        )

    i, j = np.array([4, 0, -1, 2, 7], np.int32), np.array([1, 1, 3], np.int32)
    return f, [floats(5, 4, 3), i, floats(5, 4, 3), j]


def control() -> Case:
    def f(x: jax.Array, n: jax.Array) -> object:
        ended = lax.while_loop(
            lambda s: s[0] < 10.0, lambda s: (s[0] * 2.0, s[1] + 1), (jnp.abs(x[0]) + 0.1, 0)
        )
        last, listed = lax.scan(lambda c, v: (c + v, c * v), 0.0, x)
        return (
            lax.cond(n > 1, lambda x: x * 2, lambda x: x - 1, x),
            lax.switch(n, [jnp.sin, jnp.cos, jnp.tanh, jnp.exp], x),
            lax.fori_loop(0, n, lambda i, v: v + x * i, x),
            *(*ended, last, listed, jax.lax.map(lambda v: v * v, x)),
        )

    return f, [floats(4), np.int32(2)]


def windows() -> Case:
    def f(x: jax.Array, z: jax.Array) -> object:
        over = lax.reduce_window
        return (
            over(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 1, 1), "SAME"),
            over(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), ((0, 0), (1, 0), (0, 1), (0, 0))),
            over(x, jnp.inf, lax.min, (1, 2, 2, 1), (1, 1, 1, 1), "VALID"),
            over(x, 1.0, lax.mul, (1, 2, 2, 1), (1, 1, 1, 1), "VALID"),
            over(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID", window_dilation=(1, 2, 1, 1)),
            *(jnp.cumsum(z, 1), jnp.cumsum(z, 0), lax.cumsum(z, 1, reverse=True), lax.cummax(z, 1)),
            *(lax.cumprod(z, axis=0), jnp.prod(z, 1), jnp.any(z > 1, 1), jnp.all(z > -1, 0)),
            *(jax.nn.logsumexp(z, 1), jnp.var(z, 0), jnp.mean(z), jnp.linalg.norm(z, axis=1)),
        )

    return f, [floats(2, 7, 8, 3), floats(3, 10)]


def convolutions() -> Case:
    w, wt, g, d = floats(3, 3, 4, 6), floats(3, 3, 4, 5), floats(3, 3, 2, 6), floats(3, 3, 1, 8)
    line, cube, first = floats(3, 4, 5), floats(2, 2, 2, 2, 3), floats(6, 4, 3, 3)

    def f(x: jax.Array, x1: jax.Array, x3: jax.Array, xc: jax.Array) -> object:
        conv, back = lax.conv_general_dilated, lax.conv_transpose
        return (
            conv(x, w, (2, 1), "SAME", dimension_numbers=HWIO),
            back(x, wt, (2, 2), "SAME", dimension_numbers=HWIO),
            back(x, wt, (2, 2), "VALID", dimension_numbers=HWIO),
            conv(x, g, (1, 1), "VALID", dimension_numbers=HWIO, feature_group_count=2),
            conv(x, d, (1, 1), "SAME", dimension_numbers=HWIO, feature_group_count=4),
            conv(x, w, (1, 1), ((2, 1), (0, -1)), rhs_dilation=(2, 2), dimension_numbers=HWIO),
            conv(x1, line, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
            conv(x3, cube, (1, 1, 1), "VALID", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")),
            lax.conv(xc, first, (1, 1), "SAME"),
            back(x1, line, (3,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
        )

    return f, [floats(2, 9, 9, 4), floats(2, 9, 4), floats(1, 5, 5, 5, 2), floats(2, 4, 8, 8)]


def elementwise() -> Case:
    def f(x: jax.Array, y: jax.Array, i: jax.Array, k: jax.Array) -> object:
        s, size = jnp.tanh(x), jnp.abs(x)
        return (
            *(jnp.sinh(x), jnp.arcsin(s), jnp.arctan2(x, y), jnp.expm1(x), jnp.log1p(size), jnp.cbrt(x)),
            *(jnp.round(x), jnp.floor(x), jnp.ceil(x), jnp.sign(x), jnp.sign(i), x // y, x % y, i // k),
            *(i % k, lax.rem(i, k), lax.div(i, k), lax.rem(x, y), jnp.power(size, y), x**3, jnp.isnan(x)),
            *(jnp.isfinite(x), jnp.clip(x, -1, 1), jnp.where(x > 0, x, y), i & k, i | k, i ^ k, ~i, i << k),
            *(i >> k, lax.shift_right_logical(i, k), jax.scipy.special.erf(x), jax.nn.gelu(x)),
            *(jax.nn.silu(x), jax.nn.softplus(x), jax.nn.elu(x), jax.nn.leaky_relu(x), jax.nn.hard_swish(x)),
            *(jnp.logaddexp(x, y), lax.rsqrt(size + 1), jnp.tan(x), jnp.abs(i), jnp.maximum(i, k)),
            *((x > 0) & (y > 0), (x > 0) ^ (y > 0), jnp.arccosh(size + 1.5), jnp.arcsinh(x), jnp.cosh(x)),
            *(jnp.arctanh(s * 0.9), lax.round(x), jnp.float32(1) * i, x.astype(jnp.int32), x != y, x > 1),
            *(lax.bitcast_convert_type(x, jnp.int32), jnp.logical_not(x > 0), jax.nn.relu(x), -i, i * k),
        )

    i, k = DRAW.integers(-9, 9, (3, 4)), DRAW.integers(1, 5, (3, 4))
    return f, [floats(3, 4) * 2, floats(3, 4), i.astype(np.int32), k.astype(np.int32)]


def unsigned() -> Case:
    def f(a: jax.Array, b: jax.Array, k: jax.Array, s: jax.Array) -> object:
        return (
            *(a + b, a - b, a * b, a ^ b, a & b, a | b, ~a, a << k, a >> k, a << s, a >> s, a % b, -a),
            *((a << s) | (a >> (32 - s)), a > b, a.astype(jnp.float32), jnp.maximum(a, b), a << 13, a >> 9),
            lax.bitcast_convert_type((a >> 9) | np.uint32(0x3F800000), jnp.float32),
            *(a.astype(jnp.int32), jnp.sum(a, 0), a.reshape(12), a[1:], a.T, jnp.where(a > b, a, b)),
        )

    a, b = (DRAW.integers(0, 2**32, (3, 4), dtype=np.uint32) for _ in range(2))
    return f, [a, b, DRAW.integers(0, 35, (3, 4), dtype=np.uint32), np.uint32(13)]


def movement() -> Case:
    def f(x: jax.Array) -> object:
        return (
            *(jnp.pad(x, ((1, 0), (0, 2), (0, 0))), lax.pad(x, 1.0, ((0, -1, 0), (-1, 1, 1), (2, 0, 2)))),
            *(x[::-1], x[:, 1:3], x[0, ::2], jnp.transpose(x, (2, 0, 1)), jnp.concatenate([x, x * 2], 1)),
            *(jnp.stack([x, x]), jnp.tile(x, (1, 2, 1)), jnp.repeat(x, 2, axis=1), jnp.roll(x, 2, 1)),
            *(jnp.tril(x), jnp.triu(x[0]), jnp.eye(3)[None] * x[:, :3, :3], jnp.linspace(0, 1, 5) + x),
            *(jnp.arange(6.0).reshape(2, 3) * 2, jnp.flip(x, (0, 2)), jnp.broadcast_to(x[:1], (3, 4, 5))),
            *(jnp.squeeze(x[:1]), jnp.split(x, 2, 1)[1], jnp.pad(x, ((1, 1), (1, 1), (0, 0)), mode="edge")),
            jnp.pad(x, ((1, 1), (2, 1), (0, 0)), mode="reflect"),
        )

    return f, [floats(3, 4, 5)]


def products() -> Case:
    def f(x: jax.Array) -> object:
        whole = x[0].astype(jnp.int32), x[1].T.astype(jnp.int32)
        return (
            *(jnp.einsum("ijk,ilk->jl", x, x), x @ x[0].T, jnp.einsum("ijk,ijl->ikl", x, x), jnp.vdot(x, x)),
            *(jnp.outer(x[0, 0], x[1, 1]), jnp.dot(*whole), jnp.einsum("abc,dbc->ad", x, x)),
            *(jnp.tensordot(x, x, ((1, 2), (1, 2))), jnp.einsum("abc,cde->dabe", x, x.reshape(5, 4, 3))),
            *(jnp.einsum("abc,abc->ab", x, x), jnp.einsum("abc->ca", x), x[0] @ x[1, 2], x[0, 1] @ x[1, 2]),
        )

    return f, [floats(3, 4, 5)]


def random_numbers() -> Case:
    def f(key: jax.Array) -> object:
        a, b = jax.random.split(jax.random.wrap_key_data(key))
        return (
            *(jax.random.uniform(a, (2, 3)), jax.random.bits(b, (4,)), jax.random.randint(b, (5,), 0, 10)),
            jax.random.normal(a, (3,)),
        )

    return f, [np.array([3, 7], np.uint32)]


def matrices() -> Case:
    def f(a: jax.Array, b: jax.Array) -> object:
        spd = a @ a.swapaxes(-1, -2) + 2 * jnp.eye(4)
        lower = jnp.tril(a) + 3 * jnp.eye(4)

        def solve(matrix: jax.Array, right: jax.Array, **more: object) -> jax.Array:
            return jax.lax.linalg.triangular_solve(matrix, right, **more)

        return (
            *(jnp.linalg.cholesky(spd), jnp.linalg.cholesky(spd[0], upper=True)),
            *(solve(lower, b, left_side=True, lower=True), solve(lower[0], b[0].T, lower=True)),
            solve(lower, b, left_side=True, lower=True, transpose_a=True),
            solve(lower.swapaxes(-1, -2), b, left_side=True, lower=False, unit_diagonal=True),
            jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(spd[1]), True), b[1]),
        )

    return f, [floats(2, 4, 4), floats(2, 4, 3)]


def gradients() -> Case:
    def pooled(x: jax.Array, size: tuple, strides: tuple, padding: str) -> jax.Array:
        y = lax.reduce_window(x, -jnp.inf, lax.max, size, strides, padding)
        return (y**2).sum()

    def f(x: jax.Array) -> object:
        return (
            jax.grad(pooled)(x, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
            jax.grad(pooled)(x, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
            jax.grad(pooled)(jnp.round(x), (1, 3, 2, 1), (1, 1, 1, 1), "VALID"),
            jax.grad(lambda x: -pooled(-x, (1, 2, 1, 2), (1, 2, 1, 1), "VALID"))(x),
        )

    return f, [floats(2, 6, 7, 3)]


def fourier() -> Case:
    def f(x: jax.Array) -> object:
        z = jnp.fft.fft(x[..., :5] + 1j * x[..., 5:10])
        half = jnp.fft.rfft(x[..., :40])
        return (
            *(z.real, z.imag, jnp.abs(jnp.fft.ifft(z * z)), jnp.exp(z * 0.1).real),
            *(jnp.abs(half), jnp.fft.irfft(half * 2), jnp.fft.irfft(half[..., :20], n=39)),
            *(jnp.abs(jnp.fft.rfft(x[..., :64])), jnp.abs(jnp.fft.fft(x)), jnp.fft.rfft(x[..., :130]).imag),
            *(jnp.fft.irfft2(jnp.fft.rfft2(x[:, :12, :10])), jnp.fft.fft2(x[0, :6, :9]).imag),
            *((z / (z.conj() + 3)).real, jnp.concatenate([z, z.T.reshape(z.shape)]).imag.sum(0)),
            (z[..., :4] @ z[..., :4].swapaxes(-1, -2)).imag,
        )

    return f, [floats(2, 12, 150)]


def composites() -> Case:
    def scaled(x: jax.Array, w: jax.Array, *, scale: float) -> jax.Array:
        return jnp.tanh(x @ w) * scale

    def f(x: jax.Array, w: jax.Array) -> object:
        return lax.composite(scaled, "odml.scaled", version=3)(x, w, scale=np.float32(1.5)) + 1

    return f, [floats(2, 3), floats(3, 4)]


def bits() -> Case:
    def f(x: jax.Array) -> object:
        kinds = (jnp.int32, jnp.uint32, jnp.int16, jnp.uint8, jnp.int8)
        return [g(x.astype(kind)) for kind in kinds for g in (lax.population_count, lax.clz)]

    return f, [np.array([0, 1, -1, 5, -(2**31), 2**31 - 1, 255, 65535, -7, 1 << 20], np.int32)]


def half() -> Case:
    def f(x: jax.Array, y: jax.Array) -> object:
        return x + y.astype(jnp.bfloat16), (x * 2).astype(jnp.float16), jnp.sum(y.astype(jnp.float16))

    # Sums of these are exact in 32 bits and in 16.
    return f, [np.array([1, 2, 4], jnp.bfloat16), np.array([1, 3, 0.5], np.float32)]


def open_shapes() -> Case:
    def f(x: jax.Array, y: jax.Array) -> object:
        n, t = x.shape[:2]
        return (
            *(
                x.reshape(n * t, -1),
                jnp.concatenate([x, y], 1),
                jnp.arange(n * 2),
                jnp.ones((n, t)) + x[..., 0],
            ),
            *(x.mean(1), jnp.pad(x, ((0, 0), (1, 1), (0, 0))), jnp.einsum("btc,bsc->bts", x, y), x[:, -1]),
            *(jnp.tril(jnp.ones((t, t))), jnp.transpose(x, (1, 0, 2)), jax.nn.softmax(x, 1), jnp.sort(x, 1)),
            *(
                jnp.argmax(x, 1),
                jnp.cumsum(x, 2),
                x[:, ::2],
                jnp.stack([x, x]),
                jnp.broadcast_to(y[:, :1], x.shape),
            ),
        )

    return f, [floats(2, 5, 3), floats(2, 4, 3)], "b, t, 3; b, s, 3"


def corners() -> Case:
    """What is not finite in systems, complex numbers of other ones, convolutions of stretched rows."""

    def f(x: jax.Array, y: jax.Array) -> object:
        upper, last = jnp.triu(jnp.full((4, 4), jnp.nan), 1), jnp.array([[0.0], [0.0], [0.0], [jnp.inf]])
        spd = jnp.tril(x @ x.T + 4 * jnp.eye(4))
        whole = (4 * x).astype(jnp.int32)
        z = jnp.where(x > 0, x + 1j * whole, 0)
        return (
            jax.lax.linalg.cholesky(spd + upper, symmetrize_input=False),
            jax.lax.linalg.triangular_solve(spd + upper, y + last, left_side=True, lower=True),
            *(z.real, z.imag, (y > 0).astype(jnp.complex64).real, (y + last).astype(jnp.complex64).imag),
            *(
                jnp.convolve(x[0], y[:3, 0]),
                jax.lax.linalg.triangular_solve(spd, y, left_side=True, lower=True),
            ),
        )

    return f, [floats(4, 4), floats(4, 2)]


def special() -> Case:
    def f(x: jax.Array, y: jax.Array, p: jax.Array) -> object:
        return (
            *(lax.erf(x), lax.erfc(x), lax.erf_inv(y), lax.lgamma(p), lax.digamma(p), lax.digamma(x + 0.25)),
            *(lax.acos(y), lax.asin(y), lax.atan(x), lax.sinh(x), lax.cosh(y), lax.asinh(p), lax.atanh(y)),
            *(lax.acosh(p + 1), lax.tan(y), lax.square(x), jnp.isinf(x), jnp.isposinf(x), jnp.isneginf(x)),
        )

    x = np.concatenate([floats(3, 4) * 3, [[np.inf, -np.inf, 0, 1]]]).astype(np.float32)
    return f, [x, DRAW.uniform(-0.99, 0.99, (4, 4)).astype(np.float32), np.abs(floats(4, 4)) * 5 + 0.1]


def random_bits() -> Case:
    kinds = (lax.RandomAlgorithm.RNG_THREE_FRY, lax.RandomAlgorithm.RNG_PHILOX)
    shapes = ((), (1,), (7,), (2, 3), (3, 3), (3, 4, 5), (5, 3))

    def f(state: jax.Array) -> object:
        made: list = []
        for kind in kinds:
            for shape in shapes:
                made += lax.rng_bit_generator(state, shape, dtype=jnp.uint32, algorithm=kind)
            made += lax.rng_bit_generator(state, (2, 5), dtype=jnp.uint8, algorithm=kind)
        return made

    # All but the last blocks come before the counter begins anew.
    return f, [np.array([1, 2**32 - 2, 2**32 - 3, 2**32 - 1], np.uint32)]


def random_keys() -> Case:
    def f(seed: jax.Array) -> object:
        key = jax.random.key(seed, impl="rbg")
        other = jax.random.fold_in(key, 7)
        return (
            *(jax.random.uniform(key, (2, 3)), jax.random.normal(jax.random.split(key)[1], (5,))),
            *(jax.random.bernoulli(other, 0.4, (9,)), jax.random.key_data(other)),
            jax.random.uniform(jax.random.key(3, impl="unsafe_rbg"), (4,)),
        )

    return f, [np.int32(42)]


def factors() -> Case:
    """What JAX calls LAPACK for on a CPU: LU and QR, and what is made of them."""

    def f(a: jax.Array, b: jax.Array, c: jax.Array) -> object:
        return (
            *(jax.scipy.linalg.lu_factor(a), jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.det(a)),
            *(*jnp.linalg.slogdet(a[0]), jax.scipy.linalg.lu(a[1]), jax.scipy.linalg.expm(a[0] * 0.1)),
            *(*jnp.linalg.qr(c), *jnp.linalg.qr(c, mode="complete"), *jnp.linalg.qr(c.mT), *jnp.linalg.qr(a)),
        )

    return f, [floats(2, 4, 4), floats(2, 4, 3), floats(5, 3)]


def odd_convolutions() -> Case:
    def f(x: jax.Array, w: jax.Array, g: jax.Array) -> object:
        def conv(x: jax.Array, w: jax.Array, *more: object, **options: object) -> jax.Array:
            return lax.conv_general_dilated(x, w, *more, dimension_numbers=HWIO, **options)

        small = [(each * 9).astype(jnp.int8) for each in (x, w)]
        return (
            conv(x, w, (1, 1), "SAME", batch_group_count=2),
            conv(x, w, (2, 2), ((2, 1), (1, 2)), lhs_dilation=(3, 2)),
            conv(x, w, (1, 1), ((2, 1), (1, 2)), lhs_dilation=(2, 2), rhs_dilation=(2, 1)),
            conv(*small, (1, 1), "SAME", preferred_element_type=jnp.int32),
            jax.grad(lambda w: (conv(g, w, (1, 1), "SAME", feature_group_count=2) ** 2).sum())(w),
        )

    return f, [floats(4, 5, 5, 2), floats(3, 3, 2, 4), floats(2, 5, 5, 4)]


def any_reductions() -> Case:
    """Reductions by what is no operator: halves are joined."""

    def f(x: jax.Array, i: jax.Array) -> object:
        both = lax.reduce((x, i), (0.0, np.int32(1)), lambda a, b: (a[0] + b[0], a[1] ^ b[1]), (0,))
        return (
            *(
                lax.reduce(x, -jnp.inf, jnp.logaddexp, (1,)),
                lax.reduce(x > 0, False, lax.bitwise_xor, (0, 1)),
            ),
            *(
                lax.reduce(i, np.int32(0), lax.bitwise_xor, (0,)),
                lax.reduce(i, np.int32(5), lax.bitwise_or, (1,)),
            ),
            *(lax.reduce(i, np.int32(-1), lax.bitwise_and, (0,)), *both),
        )

    return f, [floats(5, 7), DRAW.integers(0, 99, (5, 7)).astype(np.int32)]


def odd_types() -> Case:
    """Quotients without signs, numbers of 4 bits, and the largest of about all."""

    def f(a: jax.Array, b: jax.Array, x: jax.Array) -> object:
        four = jnp.array([1, -2, 3, -8, 7], jnp.int4)[jnp.array([4, 0, 3])]
        return (
            *(a // b, a // 3, a // np.uint32(2**31 + 5), a % b),
            *(four.astype(jnp.float32) * x[0, :3], *lax.approx_max_k(x, 3), *lax.approx_min_k(x, 2)),
        )

    a = np.array([5, 7, 2**31 + 7, 2**32 - 1, 0, 2**31], np.uint32)
    return f, [a, np.array([2, 2**31 + 1, 3, 2**32 - 1, 9, 2**31], np.uint32), floats(2, 9)]


def open_slices() -> Case:
    """Slices of sizes that are open, which JAX gathers."""

    def f(x: jax.Array) -> object:
        return x[1:, ::2], x[: (x.shape[0] + 1) // 2], x[:-1, jnp.array([2, 0])], x[jnp.array([1, -1])]

    return f, [floats(5, 3)], "b, 3"


OPERATIONS: dict[str, Callable[[], Case]] = {
    each.__name__: each
    for each in (
        *(sort, gather_scatter, control, windows, convolutions, elementwise, unsigned, movement, products),
        *(random_numbers, matrices, gradients, fourier, composites, bits, half, open_shapes, corners),
        *(special, random_bits, random_keys, factors, odd_convolutions, any_reductions, odd_types),
        open_slices,
    )
}
