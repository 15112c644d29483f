"""Every variant must compile for sm_90: no stack, shared memory that there is, tensor cores where meant."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest
from numlite.delegates.cuda.compile import compile_kernel, compile_triton
from numlite.delegates.cuda.launch import Kernel, by_parameter
from numlite.delegates.cuda.tiles import Choice, Product, ranked
from numlite.lite.errors import UnsupportedError

from .graphs import conv_model, depthwise_model, network, random_input, residual_model
from .machine_code import SHARED_BYTES, compile_together, kernels_of, machine_code
from .simulation import interpreter_of, needs_triton, run, simulated

pytestmark = needs_triton

# The instructions that multiply matrices, by what is multiplied: of four warps together, and of one.
_GROUP_CORES = {"i8": "IGMMA", "fp32": "HGMMA", "fp16": "HGMMA", "bf16": "HGMMA"}
_WARP_CORES = {"i8": "IMMA", "fp32": "HMMA", "fp16": "HMMA", "bf16": "HMMA"}
_GROUP_ROWS = 64

# (model, shape of its input, precision, numerics): each convolution's every tile and epilogue.
_DEEP = (1, 7, 7, 512)
_BIG, _SMALL, _PIXEL, _IMAGE = (32, 56, 56, 64), (1, 7, 7, 64), (32, 28, 28, 64), (8, 112, 112, 3)
CONVOLUTIONS = {
    "int8-3x3": (conv_model("int8", _BIG, 128), _BIG, "tf32x3", "default"),
    "int8-3x3-reference": (conv_model("int8", _BIG, 128), _BIG, "tf32x3", "reference"),
    "int8-3x3-small": (conv_model("int8", _SMALL, 32), _SMALL, "tf32x3", "default"),
    "int8-1x1": (conv_model("int8", _PIXEL, 128, 1), _PIXEL, "tf32x3", "default"),
    "int8-image": (conv_model("int8", _IMAGE, 32, stride=2), _IMAGE, "tf32x3", "default"),
    "int8-odd": (conv_model("int8", (4, 14, 14, 17), 33), (4, 14, 14, 17), "tf32x3", "default"),
    "uint8-3x3": (conv_model("uint8", _BIG, 128), _BIG, "tf32x3", "default"),
    "tf32x3-3x3": (conv_model("float32", _BIG, 128), _BIG, "tf32x3", "default"),
    "tf32x3-1x1": (conv_model("float32", _PIXEL, 128, 1), _PIXEL, "tf32x3", "default"),
    "tf32-3x3": (conv_model("float32", _BIG, 128), _BIG, "tf32", "default"),
    "ieee-3x3": (conv_model("float32", _BIG, 128), _BIG, "ieee", "default"),
    "ieee-image": (conv_model("float32", _IMAGE, 32, stride=2), _IMAGE, "ieee", "default"),
    "tf32x3-image": (conv_model("float32", _IMAGE, 32, stride=2), _IMAGE, "tf32x3", "default"),
    "float16-3x3": (conv_model("float32", _BIG, 128), _BIG, "float16", "default"),
    "bfloat16-3x3": (conv_model("float32", _BIG, 128), _BIG, "bfloat16", "default"),
    "bfloat16-1x1": (conv_model("float32", _PIXEL, 128, 1), _PIXEL, "bfloat16", "default"),
    "int8-residual": (residual_model("int8"), (8, 6, 6, 16), "tf32x3", "default"),
    "int8-residual-reference": (residual_model("int8"), (8, 6, 6, 16), "tf32x3", "reference"),
    "bfloat16-residual": (residual_model("float32"), (8, 6, 6, 16), "bfloat16", "default"),
    "int8-window": (conv_model("int8", _IMAGE, 64, 7, stride=2), _IMAGE, "tf32x3", "default"),
    "uint8-window": (conv_model("uint8", _IMAGE, 64, 7, stride=2), _IMAGE, "tf32x3", "reference"),
    "bfloat16-window": (conv_model("float32", _IMAGE, 64, 7, stride=2), _IMAGE, "bfloat16", "default"),
    "int8-split": (conv_model("int8", _DEEP, 64), _DEEP, "tf32x3", "default"),
    "int8-split-reference": (conv_model("int8", _DEEP, 64), _DEEP, "tf32x3", "reference"),
    "tf32x3-split": (conv_model("float32", _DEEP, 64), _DEEP, "tf32x3", "default"),
    "bfloat16-split": (conv_model("float32", _DEEP, 64), _DEEP, "bfloat16", "default"),
    "int8-network": (network("int8"), (2, 9, 9, 3), "tf32x3", "default"),
    "uint8-network-reference": (network("uint8"), (2, 9, 9, 3), "tf32x3", "reference"),
    "float32-network": (network("float32"), (2, 9, 9, 3), "tf32x3", "default"),
}


_WIDE = (8, 28, 28, 32)
DEPTHWISE = {
    f"{name}-{size}x{size}-stride-{stride}-{numerics}": (
        depthwise_model(type_, _WIDE, size, stride=stride),
        _WIDE,
        precision,
        numerics,
    )
    for name, type_, precision, numerics in (
        ("int8", "int8", "tf32x3", "default"),
        ("int8", "int8", "tf32x3", "reference"),
        ("uint8", "uint8", "tf32x3", "default"),
        ("float32", "float32", "tf32x3", "default"),
        ("bfloat16", "float32", "bfloat16", "default"),
    )
    for size in (3, 5)
    for stride in (1, 2)
}


def _cores(kernel: Kernel) -> str | None:
    """The instruction by which the kernel means to multiply matrices on tensor cores."""
    if kernel.function != "conv":
        return None
    element = dict(kernel.signature)["w_ptr"].removeprefix("*")
    constants = dict(kernel.constants)
    if constants["WALK.PRECISION"] == "ieee" and element != "i8":
        return None
    return (_WARP_CORES if int(constants["TILE.BM"]) < _GROUP_ROWS else _GROUP_CORES)[element]


_TYPES = {"int8": "i8", "bfloat16": "bf16", "tf32x3": "fp32"}


@pytest.mark.long
@pytest.mark.parametrize("size", (1, 3))
@pytest.mark.parametrize("mode", _TYPES)
def test_every_tile_compiles(mode: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is chosen has a kernel that can be launched, and none keeps its registers in memory."""
    shape = (32, 14, 14, 256)
    model = conv_model("int8" if mode == "int8" else "float32", shape, 256, size)
    asked: list[Product] = []

    def first(product: Product) -> Choice:
        asked.append(product)
        return ranked(product)[0]

    monkeypatch.setattr("numlite.delegates.cuda.lowering.choose", first)
    precision = "tf32x3" if mode == "int8" else mode
    kernels_of(model, {0: shape}, precision)
    choices = {choice.tile: choice for choice in ranked(asked[-1]) if choice.splits == 1}
    deepest = {tile[:2]: tile for tile in sorted(choices, key=lambda tile: tile.depth)}
    assert asked[-1].element == _TYPES[mode] and len(deepest) >= 5
    products: list[Kernel] = []
    for tile in deepest.values():
        monkeypatch.setattr("numlite.delegates.cuda.lowering.choose", lambda product, t=tile: choices[t])
        kernels = kernels_of(model, {0: shape}, precision)
        products += [kernel for kernel in kernels if kernel.function == "conv"]
    assert len(products) == len(deepest)
    compile_together(products)
    for kernel in products:
        code = machine_code(kernel)
        cores = _cores(kernel)
        assert code.stack == 0 and code.shared <= SHARED_BYTES, f"{kernel}: {code.stack}, {code.shared}"
        assert cores is not None and code.instructions[cores], f"{kernel}: {dict(code.instructions)}"


@cache
def _kernels(case: str) -> tuple[Kernel, ...]:
    model, shape, precision, numerics = (CONVOLUTIONS | DEPTHWISE)[case]
    return tuple(kernels_of(model, {0: shape}, precision, numerics))


@pytest.fixture(scope="module")
def compiled(request: pytest.FixtureRequest) -> None:
    """Compiles the kernels of all cases that are going to be run side by side."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    cases = [item.callspec.params["case"] for item in items if "compiled" in item.fixturenames]
    compile_together(kernel for case in cases for kernel in _kernels(case))


@pytest.mark.long
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("case", {**CONVOLUTIONS, **DEPTHWISE})
def test_compiles_for_sm_90(case: str) -> None:
    for kernel in _kernels(case):
        code = machine_code(kernel)
        assert code.stack == 0, f"{kernel}: {code.stack} bytes of stack, {code.registers} registers"
        assert code.shared <= SHARED_BYTES, f"{kernel}: {code.shared} bytes of shared memory"
        cores = _cores(kernel)
        assert cores is None or code.instructions[cores], f"{kernel}: {dict(code.instructions)}"
        if any(name.endswith("QUANTIZED") and value for name, value in kernel.constants):
            # A product and a sum in one instruction would be rounded once, where the CPU rounds twice.
            assert not code.instructions["FFMA"], f"{kernel}: {dict(code.instructions)}"


def test_one_variant_compiles() -> None:
    """The gate itself, on one small kernel, so that it is not only run at length."""
    (kernel,) = kernels_of(conv_model("int8", (1, 4, 4, 16), 16, 1), {0: (1, 4, 4, 16)})
    code = machine_code(kernel)
    assert code.stack == 0 and code.shared <= SHARED_BYTES
    assert code.instructions[_cores(kernel)]


def test_arguments_are_followed_by_two_pointers() -> None:
    """Triton's kernels take two scratch pointers behind what is declared; the launch gives them."""
    (kernel,) = kernels_of(conv_model("int8", (1, 4, 4, 16), 16, 1), {0: (1, 4, 4, 16)})
    entry = re.search(r"\.visible \.entry[^{]*", compile_triton(kernel, 90).asm["ptx"])
    assert entry is not None
    parameters = re.findall(r"\.param \.(\w+)", entry.group(0))
    assert len(parameters) == len(kernel.signature) + 2
    assert parameters[-2:] == ["u64", "u64"]
    wide = {"i32": "u32", "fp32": "f32", "i64": "u64"}
    declared = [wide.get(type_, "u64") for _, type_ in kernel.signature]
    assert parameters[:-2] in (
        declared,
        [name.replace("f32", "b32").replace("u32", "b32") for name in declared],
    )


def test_interpreting_leaves_the_compiler_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    import triton

    model, shape = conv_model("float32", (1, 4, 4, 16), 16), (1, 4, 4, 16)
    monkeypatch.setattr(triton.knobs.compilation, "always_compile", True)
    (kernel,) = kernels_of(model, {0: shape})
    before = compile_kernel(kernel, 90)
    run(interpreter_of(model, simulated()), [random_input("float32", shape)])
    assert compile_kernel(kernel, 90) == before


def test_fields_of_one_parameter_are_one_argument() -> None:
    grouped = by_parameter([("x_ptr", "*i8"), ("end.low", "i32"), ("end.high", "fp32")])
    assert list(grouped) == ["x_ptr", "end"] and grouped["x_ptr"] == "*i8"
    assert grouped["end"]._asdict() == {"low": "i32", "high": "fp32"}


def test_arguments_in_another_order_than_the_functions_are_refused() -> None:
    """The driver gives them in the order of the signature, whatever their names."""
    (kernel,) = kernels_of(conv_model("int8", (1, 4, 4, 16), 16, 1), {0: (1, 4, 4, 16)})
    first, second, *rest = kernel.signature
    with pytest.raises(UnsupportedError, match="arguments must be those of the function"):
        compile_triton(replace(kernel, signature=(second, first, *rest)), 90)
