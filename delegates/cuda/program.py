"""A partition in a compiled model: its operators as a model of their own, and the kernels' machine code."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.register import BuiltinOpResolver
from ...lite.errors import ModelError, PrepareError, UnsupportedError
from ...lite.model import Model
from ...lite.runtime import Runtime
from ...lite.settings import Settings
from ...lite.subgraph_builder import SubgraphBuilder
from ...schema import tflite
from ...schema.operator_code import operator_code
from .batches import batched
from .compile import CubinStore, variant_name
from .cpu_partition import CpuPartition
from .cubin import Cubin
from .launch import Kernel

if TYPE_CHECKING:
    from ...lite.context import Context
    from ...lite.delegate import DelegateContext, DelegateParams
    from ...lite.node import Node
    from ...lite.subgraph import Subgraph
    from ...lite.tensor import Tensor
    from .delegate import CudaDelegate
    from .partition_kernel import CudaKernel

_MAGIC = b"NLCUDA02"
_HEADER = struct.Struct("<8sI")


def write_program(
    delegate: CudaDelegate, context: DelegateContext, params: DelegateParams, kernel: CudaKernel
) -> bytes:
    """The partition with machine code for the delegate's architecture, compiled now."""
    inputs = [t for t in params.input_tensors if not context.tensor(t).is_constant]
    model = _partition_model(context, params, inputs)
    archs = delegate.cuda_options.archs or ((delegate.device.arch,) if delegate.device is not None else ())
    if not archs:
        raise UnsupportedError(
            "compile: the option arch must say for which GPU, 90 for 9.0, or a GPU be there"
        )
    cubins: list[tuple[int, str, bytes]] = []
    for arch in archs:
        store, variants = CubinStore(arch), _variants(delegate, context, kernel, inputs, arch)
        store.have(variants)
        cubins += ((arch, variant_name(kernel, arch), store.cubin(kernel).pack()) for kernel in variants)
    header = json.dumps(
        {"model": len(model), "cubins": [[arch, name, len(content)] for arch, name, content in cubins]}
    ).encode()
    return b"".join([_HEADER.pack(_MAGIC, len(header)), header, model, *(cubin[2] for cubin in cubins)])


def _variants(
    delegate: CudaDelegate, context: DelegateContext, kernel: CudaKernel, inputs: list[int], arch: int
) -> list[Kernel]:
    """The kernels of the present shapes, and of those with other batch sizes that are possible."""
    found: dict[Kernel, None] = {}
    for shapes in batched({t: context.tensor(t).shape for t in inputs}, delegate.cuda_options.batches):
        # Other batch sizes are a service: those of the file's shapes must be there.
        with suppress(*(() if not found else (UnsupportedError, PrepareError))):
            launches = kernel.lowered(context.kernel_context, shapes, arch).launches
            found.update((launch.kernel, None) for launch in launches)
    return list(found)


def read_program(
    delegate: CudaDelegate, kernel: CudaKernel, context: Context, node: Node, program: bytes
) -> None:
    """Have the kernel run the program on the operator's inputs and outputs. ModelError for a damaged one.

    Without a device it runs on the CPU. On one that the program has no code for it is compiled;
    UnsupportedError where it cannot be, or the CPU with the option fallback.
    """
    try:
        content, cubins = _unpacked(program)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, struct.error) as error:
        raise ModelError(
            f"compiled partition: it must be a program of {delegate.name}, got {error}"
        ) from error
    if delegate.device is not None:
        arch = delegate.device.arch
        missing = _missing_code(arch, cubins)
        if missing is not None and not delegate.cuda_options.fallback:
            raise UnsupportedError(missing)
        if missing is not None:
            kernel.stay_on_cpu(missing)
        delegate.device.cubins.carry(cubins.get(arch, {}))
    builder = SubgraphBuilder(Model(content), BuiltinOpResolver())
    subgraph = Runtime(builder, _NoLibrary(), Settings(context.numerics)).subgraphs[0]
    _check_boundary(context, node, subgraph)
    inner = (*subgraph.inputs, *subgraph.outputs)
    names = dict(zip((*node.inputs, *node.outputs), inner, strict=True))
    tensors = subgraph.tensors

    def find(t: int) -> Tensor:
        return tensors[t]

    make_cpu = partial(CpuPartition, content, context)
    kernel.take(find, subgraph.nodes, node.inputs, node.outputs, names, make_cpu)


def _check_boundary(outer: Context, node: Node, inner: Subgraph) -> None:
    """ModelError unless the partition takes and gives what its operator does, and has no other subgraph."""
    if len(inner.runtime.subgraphs) != 1:
        raise ModelError(f"compiled partition: it must be one subgraph, got {len(inner.runtime.subgraphs)}")
    for what, outside, own in (
        ("input", node.inputs, inner.inputs),
        ("output", node.outputs, inner.outputs),
    ):
        types = [outer.tensor(t).type if t >= 0 else None for t in outside]
        if types != [inner.tensors[t].type for t in own]:
            raise ModelError(
                f"compiled partition: its {what}s must be the operator's, got {len(own)} for {len(outside)}, "
                "or of other types"
            )
    odd = [inner.tensors[t] for t in (*inner.inputs, *inner.outputs) if not inner.tensors[t].has_fixed_size]
    odd += [inner.tensors[t] for t in inner.inputs if inner.tensors[t].is_constant]
    if odd:
        raise ModelError(
            f"compiled partition: its boundary must be plain tensors, inputs no constants, got {odd[0]!r}"
        )


def _unpacked(program: bytes) -> tuple[bytes, dict[int, dict[str, Cubin]]]:
    """The partition as a model, and the machine code by architecture and variant."""
    magic, header_bytes = _HEADER.unpack_from(program)
    at = _HEADER.size + header_bytes
    header = json.loads(program[_HEADER.size : at])
    model_bytes = int(header["model"])
    content, at = program[at : at + model_bytes], at + model_bytes
    cubins: dict[int, dict[str, Cubin]] = {}
    for arch, name, nbytes in header["cubins"]:
        found = Cubin.unpack(program[at : at + nbytes])
        if found is None or magic != _MAGIC:
            raise ValueError("machine code that was cut short or changed")
        cubins.setdefault(int(arch), {})[str(name)] = found
        at += nbytes
    return content, cubins


def _missing_code(arch: int, cubins: Mapping[int, object]) -> str | None:
    """What is wrong on a device that the program has no code for, and that none can be made for."""
    if not cubins or arch in cubins or find_spec("triton") is not None:
        return None
    carried = ", ".join(map(str, cubins))
    return (
        f"compiled partition: it must have code for this GPU, {arch}, got {carried}; compile the model "
        f"with --arch {arch}, or install Triton: pip install numlite[cuda]"
    )


class _NoLibrary:
    """The launches are made from the nodes; none of them runs on the CPU as it is here."""

    def load(self, wanted: Mapping[str, set[str]]) -> None: ...

    def address(self, family: str, kernel: str) -> int:
        raise UnsupportedError("a compiled partition has no CPU kernels of its own")


def _partition_model(context: DelegateContext, params: DelegateParams, inputs: list[int]) -> bytes:
    """The partition's nodes as a model whose inputs and outputs are the partition's."""
    nodes = [context.node_and_registration(n)[0] for n in params.nodes_to_replace]
    used = [t for node in nodes for t in (*node.inputs, *node.outputs) if t >= 0]
    place = {t: number for number, t in enumerate(dict.fromkeys(used))}
    model = tflite.ModelT(version=3, subgraphs=[], operator_codes=[], buffers=[tflite.BufferT()])
    graph = tflite.SubGraphT(name="partition", tensors=[], operators=[], inputs=[], outputs=[])
    graph.inputs = [place[t] for t in inputs]
    graph.outputs = [place[t] for t in params.output_tensors]
    graph.tensors = [_tensor(model, context.tensor(t)) for t in place]
    graph.operators = [_operator(model, node, place) for node in nodes]
    model.subgraphs = [graph]
    return tflite.pack(model)


def _operator(model: tflite.ModelT, node: Node, place: dict[int, int]) -> tflite.OperatorT:
    codes = model.operator_codes
    assert codes is not None
    codes.append(operator_code(node.registration.builtin_code, None, node.version))
    options = None if node.options is None else tflite.unpack(node.options)
    second = options is not None and type(options).__name__[:-1] in tflite.UNIONS["BuiltinOptions2"]
    return tflite.OperatorT(
        opcode_index=len(codes) - 1,
        inputs=[place.get(t, -1) for t in node.inputs],
        outputs=[place.get(t, -1) for t in node.outputs],
        builtin_options=None if second else options,
        builtin_options_2=options if second else None,
    )


def _tensor(model: tflite.ModelT, tensor: Tensor) -> tflite.TensorT:
    buffers = model.buffers
    assert buffers is not None
    buffer = 0
    if tensor.is_constant and tensor.data is not None:
        buffers.append(tflite.BufferT(data=np.array(tensor.data)))
        buffer = len(buffers) - 1
    quantization = None
    if tensor.quantization is not None:
        q = tensor.quantization
        if q.block_size:
            raise UnsupportedError(
                f"compile: tensor {tensor!r} has a scale for each block, which is not built"
            )
        quantization = tflite.QuantizationParametersT(
            scale=q.scales, zero_point=q.zero_points, quantized_dimension=q.quantized_dimension
        )
    sparsity: Any = None if tensor.sparsity is None else tflite.unpack(tensor.sparsity)  # type: ignore[arg-type]
    return tflite.TensorT(
        shape=list(tensor.shape),
        type=tensor.type,
        buffer=buffer,
        name=tensor.name,
        quantization=quantization,
        sparsity=sparsity,
        has_rank=True,
    )
