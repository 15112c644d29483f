"""Arrays of another library in device memory, for tests of inputs that lie there."""

from __future__ import annotations

import numpy as np
from numlite.delegates.cuda.simulated import SimulatedDevice


class OnDevice:
    """An array in the simulated device's memory, as another library would show it."""

    def __init__(self, device: SimulatedDevice, value: np.ndarray) -> None:
        address = device.allocate(value.nbytes)
        device.copy_in(address, value)
        self.__cuda_array_interface__ = {
            "data": (address, True),
            "shape": value.shape,
            "typestr": value.dtype.str,
            "version": 3,
        }
