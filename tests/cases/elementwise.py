"""Cases of mathematical functions of each element by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, NO_KERNEL, Case, Close, Closeness, Differs, Quanta, Relation
from .single_op import Kind, single_op

# XNNPACK's polynomials are further from the exact value than ours.
_NEAR = Close(rtol=2e-6, atol=5e-7)
_SAMPLED = "513 samples do not follow it"


def _log(x: np.ndarray) -> np.ndarray:
    """The logarithm, lowest where there is none."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(x, 0))


# Function, its inputs' magnitudes only, how close to the exact value, to LiteRT's reference.
_FUNCTIONS: dict[str, tuple[Callable[..., np.ndarray], bool, Closeness, Relation | None]] = {
    # Libraries' sines differ in the last bit.
    "SIN": (np.sin, False, Close(rtol=3e-7, atol=2e-7), None),
    "COS": (np.cos, False, Close(rtol=3e-7, atol=2e-7), None),
    "EXP": (np.exp, False, Close(rtol=3e-7, atol=0), None),
    "LOG": (_log, True, Close(rtol=3e-7, atol=1e-7), None),
    "SQRT": (np.sqrt, True, Close(rtol=1e-7, atol=0), None),
    "RSQRT": (lambda x: 1 / np.sqrt(x), True, Close(rtol=3e-7, atol=0), None),
    "SQUARE": (np.square, False, Close(rtol=1e-7, atol=0), None),
    "NEG": (np.negative, False, EXACT, None),
    "ABS": (np.abs, False, EXACT, None),
    "FLOOR": (np.floor, False, EXACT, None),
    "CEIL": (np.ceil, False, EXACT, NO_KERNEL),
    "ROUND": (np.rint, False, EXACT, NO_KERNEL),
}


def unary_case(name: str, kind: Kind, num_threads: int = 1) -> Case:
    """A float operator on one tensor."""
    function, positive, closeness, reference = _FUNCTIONS[name]
    id = f"{name}-{'x'.join(map(str, kind.shape)) or 'scalar'}-{num_threads}"
    x = kind.random(id)
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[name], [kind], kind),
        inputs=[np.abs(x) + np.float32(1e-3) if positive else x],
        oracle=lambda x: function(x.astype(np.float64)).astype(np.float32),
        closeness=closeness,
        litert_default=closeness if closeness is EXACT else _NEAR,
        litert_reference=reference,
        num_threads=num_threads,
    )


def stored_case(
    name: str,
    dtype: type,
    x: tuple[float, int],
    y: tuple[float, int],
    first: int,
    closeness: Closeness | Differs | None = None,
    of_stored: bool = False,
) -> Case:
    """Every stored value from `first` on; of_stored where LiteRT computes without their quantization."""
    limits = np.iinfo(dtype)
    keeps = name in ("ABS", "NEG") and x == y
    values = np.arange(first, limits.max + 1).astype(dtype)
    source, result = Kind(values.shape, dtype, *x), Kind(values.shape, dtype, *y)

    def oracle(stored: np.ndarray) -> np.ndarray:
        function = _FUNCTIONS[name][0]
        with np.errstate(over="ignore"):
            return function(stored) if of_stored else result.stored(function(source.real(stored)))

    return Case(
        id=f"{name}-{np.dtype(dtype).name}-{x[0]}",
        make=lambda: single_op(BuiltinOperator[name], [source], result, version=1 if name == "NEG" else 2),
        inputs=[values],
        oracle=oracle,
        # int16 interpolates between 513 samples.
        closeness=closeness or (EXACT if keeps else Quanta(4 if dtype is np.int16 else 1)),
        litert_default=EXACT,
        litert_reference=EXACT,
    )


CASES = [
    *(unary_case(name, Kind((2, 3, 37))) for name in _FUNCTIONS),
    *(unary_case(name, Kind(())) for name in ("EXP", "FLOOR")),
    unary_case("SQRT", Kind((3, 0))),
    unary_case("SIN", Kind((600, 601)), num_threads=2),
    stored_case("EXP", np.int8, (0.02, 5), (0.06, -128), -128),
    stored_case("LOG", np.int8, (0.02, -128), (0.06, 5), -127),
    stored_case("LOG", np.int8, (0.05, -100), (0.0625, 3), -128),
    stored_case("LOG", np.int16, (0.05, 0), (0.002, 0), -32768, Differs(_SAMPLED, 23000)),
    stored_case("ABS", np.int8, (0.02, 5), (0.015, -128), -128),
    stored_case("RSQRT", np.int8, (0.02, -128), (0.06, -128), -127),
    *(
        stored_case("RSQRT", np.int8, (scale, -100), (0.03 / scale**0.5, -120), -99)
        for scale in (1e-5, 0.003, 0.1, 0.7, 50.0)
    ),
    stored_case("RSQRT", np.int16, (0.0001, 0), (0.002, 0), 1, Differs(_SAMPLED, 12300)),
    stored_case("SQRT", np.int8, (0.5, 3), (0.1, -5), 3),
    stored_case("SQRT", np.int8, (0.02, -128), (0.009, -128), -128),
    stored_case("SQRT", np.int16, (0.001, 0), (0.0002, 0), 0),
    stored_case("NEG", np.int8, (0.5, 3), (0.25, -1), -128, EXACT, of_stored=True),
    stored_case("NEG", np.int16, (0.5, 0), (0.5, 0), -32767),
    stored_case("EXP", np.int16, (0.5, 0), (0.5, 0), -32768, Differs(_SAMPLED, 33000)),
    stored_case("EXP", np.int16, (0.0001, 0), (0.001, 0), -32768),
    Case(
        id="ABS-int16-stored",
        make=lambda: single_op(BuiltinOperator.ABS, [Kind((4,), np.int16)], Kind((4,), np.int16), version=2),
        inputs=[np.array([-32768, -5, 0, 7], np.int16)],
        oracle=np.abs,
    ),
    stored_case("ABS", np.int16, (0.0001, 0), (0.00012, 0), -32768),
]
