"""Cases of DenseImageWarp."""

from __future__ import annotations

import numpy as np

from .case import NO_KERNEL, Case, Close
from .custom_case import custom_model


def warp_case(shape: tuple[int, ...], far: float) -> Case:
    random = np.random.default_rng(3)
    x = random.standard_normal(shape).astype(np.float32)
    flow = random.uniform(-far, far, (*shape[:3], 2)).astype(np.float32)

    def oracle(x: np.ndarray, flow: np.ndarray) -> np.ndarray:
        y = np.zeros(shape)
        for n, i, j in np.ndindex(*shape[:3]):
            places = np.array([i, j]) - flow[n, i, j].astype(np.float64)
            top, left = (
                int(np.clip(np.floor(p), 0, size - 2)) for p, size in zip(places, shape[1:3], strict=True)
            )
            down, right = np.clip(places - [top, left], 0, 1)
            rows = x[n, top : top + 2, left : left + 2].astype(np.float64)
            line = rows[:, 0] * (1 - right) + rows[:, 1] * right
            y[n, i, j] = line[0] * (1 - down) + line[1] * down
        return y.astype(np.float32)

    return Case(
        id=f"DenseImageWarp-{shape}-{far}",
        make=lambda: custom_model("DenseImageWarp", [x, flow], [(shape, np.float32)], b""),
        inputs=[x, flow],
        oracle=oracle,
        closeness=Close(rtol=1e-5, atol=1e-5),
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


CASES = [
    warp_case((2, 5, 7, 3), 2.5),
    warp_case((1, 2, 2, 1), 0.0),
    warp_case((1, 4, 3, 2), 100.0),
    warp_case((0, 4, 3, 2), 1.0),
]
