"""How much of an optimizer is wanted."""

from __future__ import annotations

from enum import IntEnum


class Toggle(IntEnum):
    """TensorFlow's RewriterConfig.Toggle. DEFAULT is what the optimizer is when nobody says anything."""

    DEFAULT = 0
    ON = 1
    OFF = 2
    AGGRESSIVE = 3

    @classmethod
    def of(cls, value: object) -> Toggle:
        """Of a Toggle, its number or name in any case, or True and False; ValueError for anything else."""
        if isinstance(value, bool):
            return cls.ON if value else cls.OFF
        if isinstance(value, int) and value in tuple(cls):
            return cls(value)
        if isinstance(value, str) and value.upper() in cls.__members__:
            return cls[value.upper()]
        names = ", ".join(name.lower() for name in cls.__members__)
        raise ValueError(f"toggle: must be one of {names}, True or False, got {value!r}")


class NumIterations(IntEnum):
    """How often the list of optimizers is gone through; by default twice."""

    DEFAULT_NUM_ITERS = 0
    ONE = 1
    TWO = 2


class MemoryMode(IntEnum):
    """What is done so that a graph needs less memory."""

    DEFAULT_MEM_OPT = 0
    NO_MEM_OPT = 1
    MANUAL = 2
    HEURISTICS = 3
    SWAPPING_HEURISTICS = 4
    RECOMPUTATION_HEURISTICS = 5
    SCHEDULING_HEURISTICS = 6


class CpuLayout(IntEnum):
    """Into which layout CPU nodes are put."""

    NO_CONVERSION_ON_CPU = 0
    NCHW_TO_NHWC = 1
    NHWC_TO_NCHW = 2
