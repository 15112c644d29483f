"""Cases of TOPK_V2."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import movement_case


def top_k_case(
    x: np.ndarray, k: int, constant: bool = True, place_type: type = np.int32, name: str = ""
) -> Case:
    id = f"TOPK_V2-{x.dtype.name}-{list(x.shape)}-{k}-{constant}-{np.dtype(place_type).name}{name}"

    def oracle(x: np.ndarray, k: np.ndarray) -> list[np.ndarray]:
        """Largest first, equal ones in order, NaNs last."""

        def best(row: np.ndarray) -> list[int]:
            return sorted(range(len(row)), key=lambda i: (row[i] != row[i], -row[i].item(), i))[:k]

        places = np.apply_along_axis(best, -1, x).astype(place_type).reshape(*x.shape[:-1], int(k))
        return [np.take_along_axis(x, places.astype(np.int64), -1), places]

    return movement_case(
        id,
        BuiltinOperator.TOPK_V2,
        [x, np.array(k, place_type)],
        oracle,
        tflite.TopKV2OptionsT(),
        constants=(1,) if constant else (),
        version=3,
    )


def _random(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Values that occur more than once."""
    return np.random.default_rng(len(shape)).integers(0, 60, shape).astype(dtype)


_NOT_A_NUMBER = np.array([np.nan, 1, np.nan, -np.inf, 3, 3, np.inf], np.float32)
_TYPES = (np.float32, np.int8, np.uint8, np.int16, np.int32, np.int64)

CASES = [
    *(top_k_case(_random((3, 50), dtype), 7) for dtype in _TYPES),
    top_k_case(_random((2, 2, 100), np.float32), 100),
    top_k_case(_random((3, 50), np.float32), 9, constant=False),
    top_k_case(_random((3, 50), np.float32), 9, place_type=np.int16),
    top_k_case(_random((3, 50), np.float32), 1),
    *(top_k_case(_NOT_A_NUMBER, k, constant, name="-nan") for k in (4, 6) for constant in (True, False)),
]
