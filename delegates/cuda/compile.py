"""Kernels as machine code for one architecture: compiled without a GPU, kept on disk, carried in models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from hashlib import blake2b
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...lite.errors import UnsupportedError
from ...lite.private_file import read_private
from ...lite.whole_file import publish
from .cubin import Cubin
from .launch import Kernel, by_parameter

_SOURCES = Path(__file__).parent / "device_code"
_FILES_KEPT = 2000  # some 60 MB
_FEW = 3  # so many are compiled here as soon as a process would have started
NEEDS_TRITON = "compiling CUDA kernels takes Triton: pip install numlite[cuda]"


class CubinStore:
    """Finds the machine code of kernels: what a model carries, then the cache on disk, then the compiler."""

    def __init__(self, arch: int, directory: str | os.PathLike[str] | None = None) -> None:
        self.arch = arch
        self._directory = Path(directory) if directory is not None else _cache_directory()
        self._known: dict[str, Cubin] = {}

    def carry(self, cubins: dict[str, Cubin]) -> None:
        """Trust these, by their keys, before anything else."""
        self._known.update(cubins)

    def key(self, kernel: Kernel) -> str:
        """What a kernel's code depends on: 32 hexadecimal digits."""
        return kernel_key(kernel, self.arch)

    def cubin(self, kernel: Kernel) -> Cubin:
        """The kernel's machine code, compiled where nobody has it. UnsupportedError without a compiler."""
        cubin = self._found(kernel)
        if cubin is None:
            if self._is_coming(kernel):
                self.have([kernel])
                return self.cubin(kernel)
            cubin = compile_kernel(kernel, self.arch)
            self._keep(kernel, cubin)
        return cubin

    def have(self, kernels: Iterable[Kernel], urgent: bool = True) -> None:
        """Compile those that nobody has side by side; when they are not urgent, without waiting for it.

        UnsupportedError, as cubin raises it, for one that does not compile.
        """
        missing = [kernel for kernel in dict.fromkeys(kernels) if self._found(kernel) is None]
        if urgent and len(missing) <= _FEW and not any(map(self._is_coming, missing)):
            return
        if not missing or (not urgent and find_spec("triton") is None):
            return
        from .compile_pool import compile_pool

        pool = compile_pool()
        waiting = [
            pool.compile(kernel, self.arch, self.key(kernel), partial(self._keep, kernel), urgent)
            for kernel in missing
        ]
        if not urgent:
            return
        try:
            for kernel, future in zip(missing, waiting, strict=True):
                with suppress(OSError):  # no process can be started: cubin compiles here
                    self._known[variant_name(kernel, self.arch)] = future.result()
        except KeyboardInterrupt:
            pool.stop()
            raise

    def _is_coming(self, kernel: Kernel) -> bool:
        """Whether the kernel is compiled in the background."""
        from .compile_pool import compile_pool

        return compile_pool().waiting(self.key(kernel))

    def _found(self, kernel: Kernel) -> Cubin | None:
        name = variant_name(kernel, self.arch)
        known = self._known.get(name)
        if known is None:
            known = _read(self._path(kernel))
            if known is not None:
                self._known[name] = known
        return known

    def _keep(self, kernel: Kernel, cubin: Cubin) -> None:
        self._known[variant_name(kernel, self.arch)] = cubin
        path = self._path(kernel)
        with suppress(OSError):  # a cache that cannot be written costs time, not results
            publish(path, cubin.pack())
            _forget_old_files(path.parent)

    def _path(self, kernel: Kernel) -> Path:
        return self._directory / f"{kernel.function}-{self.key(kernel)}.cubin"


def kernel_key(kernel: Kernel, arch: int) -> str:
    """What a kernel's code depends on: 32 hexadecimal digits."""
    return _digest(kernel, arch, _compiler_version(kernel.source))


def variant_name(kernel: Kernel, arch: int) -> str:
    """Names a kernel in a compiled model, by its variant and the architecture: 32 hexadecimal digits."""
    return blake2b(repr((kernel, arch)).encode(), digest_size=16).hexdigest()


def compile_kernel(kernel: Kernel, arch: int) -> Cubin:
    """Compile for sm_<arch>; needs neither a GPU nor a driver."""
    if kernel.source.endswith(".cu"):
        from .nvrtc import compile_source

        return compile_source(kernel, arch)
    compiled = compile_triton(kernel, arch)
    data = compiled.metadata
    return Cubin(compiled.asm["cubin"], data.name, data.shared, data.num_warps, 2)


def compile_triton(kernel: Kernel, arch: int) -> Any:
    """Triton's compiled kernel, with every stage of its code."""
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError as error:
        raise UnsupportedError(f"{kernel}: {NEEDS_TRITON}") from error
    function = getattr(import_module(f".device_code.{kernel.source}", __package__), kernel.function)
    names = list(function.arg_names)
    types, constants = by_parameter(kernel.signature), by_parameter(kernel.constants)
    if [name for name in names if name not in constants] != list(types) or not constants.keys() <= set(names):
        raise UnsupportedError(f"{kernel}: arguments must be those of the function, {names}")
    aligned = [name for name, type_ in kernel.signature if type_.startswith("*")]
    attributes = {
        _path(names, types, name): [["tt.divisibility", 16]] for name in (*aligned, *kernel.divisible)
    }
    values = {(names.index(name),): value for name, value in constants.items()}
    source = ASTSource(function, dict.fromkeys(names, "constexpr") | types, values, attributes)
    options = {"num_warps": kernel.warps, "num_stages": kernel.stages, "enable_fp_fusion": True}
    knobs = triton.knobs.compilation
    with knobs.scope():
        knobs.disable_line_info = True  # line tables would be two thirds of a cubin
        try:
            return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
        except Exception as error:
            raise UnsupportedError(
                f"{kernel}: Triton must compile it, got {type(error).__name__}: {error}"
            ) from error


def _path(names: Sequence[str], types: Mapping[str, Any], argument: str) -> tuple[int, ...]:
    """Where Triton finds an argument: the parameter's place, and the field's in it."""
    parameter, dot, field = argument.partition(".")
    place = names.index(parameter)
    return (place, types[parameter]._fields.index(field)) if dot else (place,)


def _cache_directory() -> Path:
    from ...kernels.compiled.driver.cache import cache_directory

    return Path(cache_directory()) / "cuda"


def _digest(kernel: Kernel, arch: int, compiler: str) -> str:
    digest = blake2b(repr((kernel, arch, compiler)).encode(), digest_size=16)
    for content in _sources(kernel.source):
        digest.update(content)
    return digest.hexdigest()


@cache
def _sources(source: str) -> tuple[bytes, ...]:
    """The text of a file of device code, and of all that it imports from beside it."""
    if source.endswith(".cu"):
        return ((_SOURCES / source).read_bytes(),)
    found: dict[str, bytes] = {}
    waiting = [source]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found[module] = text = (_SOURCES / f"{module}.py").read_bytes()
            lines = text.decode().splitlines()
            waiting += [line.split()[1][1:] for line in lines if line.startswith("from .")]
    return tuple(found[module] for module in sorted(found))


@cache
def _compiler_version(source: str) -> str:
    package = "nvidia-cuda-nvrtc" if source.endswith(".cu") else "triton"
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"no {package}"


def _read(path: Path) -> Cubin | None:
    content = read_private(path)
    return None if content is None else Cubin.unpack(content)


def _forget_old_files(directory: Path) -> None:
    """Other sources and devices may use older files, so that only the oldest of many go."""
    with suppress(OSError):
        files = sorted(directory.glob("*.cubin"), key=lambda file: file.stat().st_mtime)
        for file in files[:-_FILES_KEPT]:
            file.unlink(missing_ok=True)
