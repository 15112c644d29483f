"""Fused activations: the range that each clamps its operator's results to."""

from math import inf

from ..lite.errors import UnsupportedError

NONE, RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT = range(6)  # the schema's ActivationFunctionType

_FLOAT_RANGES = {NONE: (-inf, inf), RELU: (0.0, inf), RELU_N1_TO_1: (-1.0, 1.0), RELU6: (0.0, 6.0)}


def float_activation_range(operator: str, fused: int) -> tuple[float, float]:
    """Lowest and highest result of a float operator under its fused activation.

    Infinite ends leave values as they are. Raises UnsupportedError, naming the operator, for
    activations that are no clamp.
    """
    try:
        return _FLOAT_RANGES[fused]
    except KeyError:
        raise UnsupportedError(
            f"{operator}: fused activation must be NONE, RELU, RELU_N1_TO_1 or RELU6, got {fused}; "
            "a separate activation operator would run"
        ) from None
