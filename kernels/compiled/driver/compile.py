"""Kernel sources in, one optimised LLVM module of C functions out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba import from_dtype, types
from numba.core import codegen, compiler, cpu
from numba.core.compiler_lock import global_compiler_lock
from numba.core.llvm_bindings import create_pass_builder
from numba.core.registry import cpu_target

from ....lite.errors import UnsupportedError
from ..language.host import machine
from ..language.target import other_system, target
from ..language.targets import SYSTEMS
from .image import SYMBOL_PREFIX
from .kernel_source import KernelSource

# A raise comes out of Numba's function as a status other than 0; the kernel's result is then -1.
_ENTRY = """
declare i32 @"{native}"(ptr, ptr, ptr, i64, i64)
define i64 @{symbol}(i64 %args, i64 %chunk, i64 %chunks) {{
  %result = alloca i64
  %raised = alloca ptr
  store i64 0, ptr %result
  %block = inttoptr i64 %args to ptr
  %status = call i32 @"{native}"(ptr %result, ptr %raised, ptr %block, i64 %chunk, i64 %chunks)
  %returned = icmp eq i32 %status, 0
  %value = load i64, ptr %result
  %out = select i1 %returned, i64 %value, i64 -1
  ret i64 %out
}}
"""


_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim "
    "floor fma fmax fmin fmod frexp hypot ldexp lgamma log log10 log1p log2 logb lrint lround llrint llround "
    "modf nearbyint nextafter pow remainder rint round roundeven sin sincos sinh sqrt tan tanh tgamma trunc"
)
# What every C library has, and so what kernels may call on whatever machine they are made for.
_IMPORTS = {"bzero", "memcpy", "memmove", "memset", *_MATH.split(), *(f"{name}f" for name in _MATH.split())}


class _IRLibrary(codegen.JITCodeLibrary):
    """One function's IR, neither optimised nor turned into machine code."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_specific(self) -> None:
        pass


class _IRCodegen(codegen.JITCPUCodegen):
    _library_class = _IRLibrary

    def _init(self, llvm_module: Any) -> None:
        # Numba's engine stays this machine's; what is lowered has the sizes of the target.
        super()._init(llvm_module)
        self._tm = target_machine()
        self._target_data = self._tm.target_data
        self._data_layout = str(self._target_data)

    def _create_empty_module(self, name: str) -> Any:
        module = super()._create_empty_module(name)
        module.triple = _triple()
        return module

    def _add_module(self, module: Any) -> None:
        pass

    def _check_llvm_bugs(self) -> None:
        pass


class _IRContext(cpu.CPUContext):
    """Lowers functions to IR and stops there: no entries from Python, no machine code."""

    def init(self) -> None:
        super().init()
        self._internal_codegen = _IRCodegen("numlite")

    def create_cpython_wrapper(self, *args: Any, **kwargs: Any) -> None:
        pass

    def create_cfunc_wrapper(self, *args: Any, **kwargs: Any) -> None:
        pass

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        # A builtin, which Numba wants and nothing calls; and another each time, because
        # Numba finds the compiled form of an overload (max, min) by this object.
        return [].append

    def post_lowering(self, mod: Any, library: Any) -> None:
        pass


def only_compile() -> None:
    """From now on Numba makes IR only, which takes half the time.

    For processes that do nothing but compile: no jitted function can be called any more.
    """
    cpu_target._toplevel_target_context = _IRContext(cpu_target.typing_context, "cpu")


@global_compiler_lock
def kernel_module(sources: Mapping[str, KernelSource]) -> Any:
    """One optimised LLVM module that exports each source as SYMBOL_PREFIX + name.

    The exports are C functions `int64 kernel(int64 args, int64 chunk, int64 chunks)`.
    Raises UnsupportedError when a kernel needs a function that only Numba has, as one does that
    allocates memory.
    """
    module: Any = None
    for name, source in sources.items():
        part = _kernel_ir(name, source)
        if module is None:
            module = part
        else:
            module.link_in(part)
    _hide(module, {SYMBOL_PREFIX + name for name in sources})
    _optimise(module)
    _check_imports(module)
    return module


def _kernel_ir(name: str, source: KernelSource) -> Any:
    flags: Any = compiler.Flags()
    flags.error_model = "numpy"
    flags.nrt = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.no_compile = True
    arguments = (from_dtype(source.block), types.int64, types.int64)
    typing, lowering = cpu_target.typing_context, cpu_target.target_context
    result = compiler.compile_extra(typing, lowering, source.function, arguments, types.int64, flags, {})
    result.library.finalize()
    module = llvm.parse_bitcode(result.library._final_module.as_bitcode())
    entry = _ENTRY.format(native=result.fndesc.llvm_func_name, symbol=SYMBOL_PREFIX + name)
    module.link_in(llvm.parse_assembly(entry))
    return module


def _hide(module: Any, exports: set[str]) -> None:
    """Keep nothing visible but the exports, so that what they do not need goes away."""
    for function in module.functions:
        if not function.is_declaration and function.name not in exports:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"


@cache
def target_machine() -> Any:
    """LLVM's target machine for the target that kernels are compiled for."""
    return _new_target_machine()


def _new_target_machine() -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(_triple()).create_target_machine(
        cpu=target().cpu, features=target().features, opt=3, reloc="pic", codemodel="small"
    )


def _triple() -> str:
    """LLVM's name of the machine and its system: this one, Linux on another machine, or another system."""
    if other_system():
        return SYSTEMS[other_system()][1]
    own = str(llvm.get_process_triple())
    return own if target().arch == machine() else f"{target().arch}-unknown-linux-gnu"


def _optimise(module: Any) -> None:
    """Numba's two rounds: inline cheaply and drop reference counts, then all passes."""
    cheap = create_pass_builder(target_machine(), opt=0)
    passes = cheap.getModulePassManager()
    passes.add_loop_rotate_pass()
    passes.add_instruction_combine_pass()
    passes.add_jump_threading_pass()
    passes.add_refprune_pass()
    passes.run(module, cheap)
    full = create_pass_builder(target_machine(), opt=3, loop_vectorize=True)
    passes = full.getModulePassManager()
    passes.add_refprune_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, full)
    module.verify()


def _check_imports(module: Any) -> None:
    for function in module.functions:
        name = function.name
        if function.is_declaration and not name.startswith("llvm.") and name not in _IMPORTS:
            raise UnsupportedError(f"compiled kernels cannot call {name}: the C library has no such function")


class MemoryKernels:
    """Kernels compiled in this process and never written anywhere."""

    def __init__(self, sources: Mapping[str, KernelSource]) -> None:
        module = kernel_module(sources)
        # The engine owns its target machine, and frees it.
        self._engine = llvm.create_mcjit_compiler(module, _new_target_machine())
        self._engine.finalize_object()

    def address(self, kernel: str) -> int:
        return int(self._engine.get_function_address(SYMBOL_PREFIX + kernel))


class CompiledKernel(NamedTuple):
    """A C function's address, and what keeps it there."""

    address: int
    owner: MemoryKernels


def compile_kernel(source: KernelSource) -> CompiledKernel:
    """Compile one kernel in this process; it lives as long as the result."""
    kernels = MemoryKernels({"kernel": source})
    return CompiledKernel(kernels.address("kernel"), kernels)
