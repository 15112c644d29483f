"""Fixed-point functions of the reference kernels, in Python integers: for tables made in prepare.

A value of raw integer r with i integer bits stands for r / 2**(31 - i).
Source: gemmlowp fixedpoint/fixedpoint.h.
"""

_INT32_MAX = (1 << 31) - 1

# e**(-2**k) with no integer bits, for k = -2 .. 4.
_EXP_OF_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
_EXP_OF_MINUS_EIGHTH = 1895147668
_THIRD = 715827883
_HALF_OF_THREE = (1 << 28) + (1 << 27)  # with 3 integer bits
_HALF_OF_ROOT_TWO = 1518500250


def high_multiply(x: int, y: int) -> int:
    """x * y / 2**31, rounded half upwards: the product of two raw values."""
    return (x * y + (1 << 30)) >> 31


def divide_by_power(x: int, exponent: int) -> int:
    """x / 2**exponent, rounded half away from zero."""
    mask = (1 << exponent) - 1
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0))


def _exp_near_zero(a: int) -> int:
    """e**a for -1/4 <= a < 0, both raw values with no integer bits."""
    x = a + (1 << 28)
    x2 = high_multiply(x, x)
    x3 = high_multiply(x2, x)
    x4_over_4 = divide_by_power(high_multiply(x2, x2), 2)
    rest = divide_by_power(high_multiply(x4_over_4 + x3, _THIRD) + x2, 1)
    return _EXP_OF_MINUS_EIGHTH + high_multiply(_EXP_OF_MINUS_EIGHTH, x + rest)


def exp_of_negative(a: int) -> int:
    """e**a for a <= 0 with 5 integer bits; the result has none."""
    if a == 0:
        return _INT32_MAX
    quarter = 1 << 24
    low = (a & (quarter - 1)) - quarter
    result = _exp_near_zero(low << 5)
    remainder = low - a
    for k, factor in enumerate(_EXP_OF_POWERS):
        if remainder & (quarter << k):
            result = high_multiply(result, factor)
    return result


def _saturate(x: int) -> int:
    return min(max(x, -_INT32_MAX - 1), _INT32_MAX)


def inverse_square_root(x: int) -> tuple[int, int]:
    """(multiplier, shift) with 1 / sqrt(x) = multiplier / 2**(31 + shift), for x in 1 .. 2**29 - 1.

    Five steps of Newton's iteration with 3 integer bits.
    Source: LiteRT tflite/kernels/internal/common.h, GetInvSqrtQuantizedMultiplierExp.
    """
    if x == 1:
        return _INT32_MAX, 0
    pairs = (31 - x.bit_length()) // 2 - 1
    shift = 11 - pairs
    half = divide_by_power(x << (2 * pairs) >> 1, 1)
    root = 1 << 28
    for _ in range(5):
        cube = _saturate(high_multiply(high_multiply(root, root), root) << 6)
        step = high_multiply(_HALF_OF_THREE, root) - high_multiply(half, cube)
        root = _saturate(step << 3)
    root = high_multiply(root, _HALF_OF_ROOT_TWO)
    return (root << -shift, 0) if shift < 0 else (root, shift)
