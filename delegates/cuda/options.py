"""CudaOptions: how the delegate computes and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...lite.errors import UnsupportedError
from .operands import PRECISIONS

_DEVICES = ("cuda", "simulated")
_OUTPUTS = ("host", "device")
_YES, _NO = ("true", "1"), ("false", "0")


@dataclass(frozen=True)
class CudaOptions:
    """How the delegate computes and where.

    precision is one of PRECISIONS. device is "cuda" (the GPU with number ordinal) or "simulated".
    arch, when it is not 0, makes kernels for that compute capability (90 for 9.0) without any device:
    for compiled models, which carry code for more_archs, too. With fallback, what the device cannot do
    runs on the CPU. Partitions of fewer than min_nodes operators stay on the CPU; with 0, which is what
    the options as texts have, those that would not pay. batches are sizes that kernels are compiled ahead
    for. outputs says where the model's outputs go: to the "host" with each invoke, or only when they are
    read. With tune, configurations of matrix products are timed on the device, once.
    """

    precision: str = "tf32x3"
    device: str = "cuda"
    ordinal: int = 0
    arch: int = 0
    fallback: bool = False
    min_nodes: int = 1
    more_archs: tuple[int, ...] = ()
    batches: tuple[int, ...] = (1, 4, 16, 64, 256)
    outputs: str = "host"
    tune: bool = False

    def __post_init__(self) -> None:
        """UnsupportedError unless the values are ones that there are."""
        if self.precision not in PRECISIONS:
            raise UnsupportedError(
                f"precision must be one of {', '.join(PRECISIONS)}, got {self.precision!r}"
            )
        if self.device not in _DEVICES:
            raise UnsupportedError(f"device must be one of {', '.join(_DEVICES)}, got {self.device!r}")
        if self.outputs not in _OUTPUTS:
            raise UnsupportedError(f"outputs must be one of {', '.join(_OUTPUTS)}, got {self.outputs!r}")
        for arch in self.archs:
            if not 80 <= arch < 200:
                raise UnsupportedError(f"arch must be 80 (for 8.0) or more, got {arch}")
        if len(set(self.archs)) < len(self.archs):
            raise UnsupportedError(f"arch must list each one once, got {self.archs}")
        if min(self.ordinal, self.min_nodes) < 0:
            raise UnsupportedError(
                f"ordinal and min_nodes must not be negative, got {self.ordinal} and {self.min_nodes}"
            )
        if any(batch < 1 for batch in self.batches):
            raise UnsupportedError(f"batches must be positive, got {self.batches}")

    @property
    def archs(self) -> tuple[int, ...]:
        """All that compiled models carry code for; none where the device says it."""
        return (self.arch, *self.more_archs) if self.arch or self.more_archs else ()

    @classmethod
    def parse(cls, texts: Mapping[str, str]) -> CudaOptions:
        """From texts; arch and batches may have several numbers with commas between them."""
        archs = _numbers("arch", texts["arch"].replace("sm_", ""))
        (ordinal,), (min_nodes,) = (_numbers(name, texts[name], 1) for name in ("ordinal", "min_nodes"))
        return cls(
            precision=texts["precision"],
            device=texts["device"],
            ordinal=ordinal,
            arch=archs[0] if archs else 0,
            fallback=_is_yes("fallback", texts["fallback"]),
            min_nodes=min_nodes,
            more_archs=archs[1:],
            batches=_numbers("batches", texts["batches"]),
            outputs=texts["outputs"],
            tune=_is_yes("tune", texts["tune"]),
        )


def _is_yes(name: str, text: str) -> bool:
    if text.lower() not in (*_YES, *_NO):
        raise UnsupportedError(f"{name} must be true or false, got {text!r}")
    return text.lower() in _YES


def _numbers(name: str, text: str, count: int | None = None) -> tuple[int, ...]:
    """Numbers with commas between them; none of an empty text, or "0" for arch."""
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if name == "arch" and parts == ["0"]:
        return ()
    if not all(part.isdecimal() for part in parts) or (count is not None and len(parts) != count):
        raise UnsupportedError(f"{name} must be {'a number' if count else 'numbers'}, got {text!r}")
    return tuple(map(int, parts))
