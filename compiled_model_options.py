"""What a CompiledModel may be asked for: accelerators, options and environments, by LiteRT's names."""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn

from .lite.errors import UnsupportedError
from .lite.op_resolver_type import OpResolverType


class HardwareAccelerator(enum.IntFlag):
    """What may run a model: flags, to be joined with |.

    CPU runs all of it. GPU runs it by the CUDA delegate, and fails where an operator is left, unless CPU is
    given too. There is no NPU.
    """

    CPU = 1
    GPU = 2
    NPU = 4


class CpuKernelMode(enum.IntEnum):
    """Whose results the kernels give: those of LiteRT's default ones (DELEGATE) or of its reference ones.

    BUILTIN gives the reference's, as OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES does.
    """

    DELEGATE = 0
    XNNPACK = 0
    REFERENCE = 1
    BUILTIN = 2

    @property
    def resolver_type(self) -> OpResolverType:
        return _RESOLVER_TYPES[self]


_RESOLVER_TYPES = {
    CpuKernelMode.DELEGATE: OpResolverType.AUTO,
    CpuKernelMode.REFERENCE: OpResolverType.BUILTIN_REF,
    CpuKernelMode.BUILTIN: OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
}


@dataclass
class CpuOptions:
    """num_threads 0 leaves the number to numlite, which takes 1. What is XNNPACK's own is not there."""

    num_threads: int = 0
    kernel_mode: CpuKernelMode | None = None
    enable_ynnpack: bool = False
    xnnpack_flags: int | None = None
    xnnpack_weight_cache_path: str = ""

    def check(self) -> None:
        """UnsupportedError where an option is set that numlite cannot follow, ValueError for a wrong one."""
        _refuse_changed(
            self,
            ("enable_ynnpack", "xnnpack_flags", "xnnpack_weight_cache_path"),
            "numlite computes without XNNPACK and YNNPACK, and keeps packed weights by itself",
        )
        if not isinstance(self.num_threads, int) or self.num_threads < 0:
            raise ValueError(f"CpuOptions.num_threads: must be 0 or more, got {self.num_threads!r}")


@dataclass
class GpuOptions:
    """enforce_f32 computes in float32 throughout, else matrix products take three TF32 passes."""

    enforce_f32: bool = False
    constant_tensor_sharing: bool = False
    infinite_float_capping: bool = False
    benchmark_mode: bool = False
    allow_src_quantized_fc_conv_ops: bool = False
    hint_waiting_for_completion: bool = False

    def check(self) -> None:
        """UnsupportedError where an option is set that the CUDA delegate has not."""
        _refuse_changed(
            self,
            tuple(option.name for option in fields(self) if option.name != "enforce_f32"),
            "the options of the CUDA delegate are those of docs/cuda.md, for Interpreter",
        )


def _refuse_changed(options: Any, names: tuple[str, ...], why: str) -> None:
    defaults = type(options)()
    for name in names:
        if getattr(options, name) != getattr(defaults, name):
            raise UnsupportedError(
                f"{type(options).__name__}.{name}: must be left at {getattr(defaults, name)!r}, "
                f"got {getattr(options, name)!r}: {why}"
            )


class QualcommOptions:
    """Not there: UnsupportedError."""

    def __init__(self, *_: object, **__: object) -> None:
        _no_npu("QualcommOptions")


class IntelOpenVinoOptions:
    """Not there: UnsupportedError."""

    def __init__(self, *_: object, **__: object) -> None:
        _no_npu("IntelOpenVinoOptions")


def _no_npu(what: str) -> NoReturn:
    raise UnsupportedError(
        f"{what}: numlite has no NPU; a delegate for one can be written (docs/delegates.md) for Interpreter"
    )


@dataclass
class Options:
    """How a model is to run."""

    hardware_accelerators: HardwareAccelerator = HardwareAccelerator.CPU
    cpu_options: CpuOptions = field(default_factory=CpuOptions)
    gpu_options: GpuOptions = field(default_factory=GpuOptions)
    qualcomm_options: QualcommOptions | None = None
    intel_openvino_options: IntelOpenVinoOptions | None = None

    def __post_init__(self) -> None:
        """None stands for the defaults."""
        self.cpu_options = self.cpu_options or CpuOptions()
        self.gpu_options = self.gpu_options or GpuOptions()

    @classmethod
    def create(cls) -> Options:
        return cls()

    def check(self) -> None:
        """UnsupportedError for what is not there, ValueError for what is wrong."""
        if not isinstance(self.hardware_accelerators, int) or not 0 < self.hardware_accelerators < 8:
            raise ValueError(
                "hardware_accelerators: must be HardwareAccelerator flags, one at least, got "
                f"{self.hardware_accelerators!r}"
            )
        if self.hardware_accelerators & HardwareAccelerator.NPU:
            _no_npu("HardwareAccelerator.NPU")
        self.cpu_options.check()
        self.gpu_options.check()


@dataclass(frozen=True)
class EnvironmentOptions:
    """Where LiteRT finds its libraries; numlite has none, so that they stay empty."""

    runtime_path: str | None = None
    compiler_plugin_path: str = ""
    dispatch_library_path: str = ""


class Environment:
    """What several models share: with numlite nothing, so that any environment serves any model."""

    def __init__(self, options: EnvironmentOptions) -> None:
        self.options = options

    @classmethod
    def create(
        cls,
        *,
        options: EnvironmentOptions | str | None = None,
        runtime_path: str | None = None,
        compiler_plugin_path: str = "",
        dispatch_library_path: str = "",
    ) -> Environment:
        """UnsupportedError for a library's path, ValueError for paths beside options."""
        paths = EnvironmentOptions(runtime_path, compiler_plugin_path, dispatch_library_path)
        if isinstance(options, str | os.PathLike):
            options = EnvironmentOptions(runtime_path=os.fspath(options))
        if options is not None and paths != EnvironmentOptions():
            raise ValueError("Pass either options or environment path shortcuts.")
        chosen = options or paths
        _refuse_changed(
            chosen,
            ("runtime_path", "compiler_plugin_path", "dispatch_library_path"),
            "numlite loads no libraries of LiteRT's",
        )
        return cls(chosen)

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is held."""
