"""A partition in a compiled model: its operators as a model of their own, and the kernels' machine code."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.register import BuiltinOpResolver
from ...lite.errors import ModelError, PrepareError, UnsupportedError
from ...lite.interpreter_builder import build_subgraphs
from ...lite.model import Model
from ...lite.runtime import Runtime
from ...schema import tflite
from ...schema.operator_code import operator_code
from .compile import Cubin, CubinStore, variant_name
from .launch import Kernel

if TYPE_CHECKING:
    from ...lite.context import Context
    from ...lite.delegate import DelegateContext, DelegateParams
    from ...lite.node import Node
    from ...lite.tensor import Shape, Tensor
    from .delegate import CudaDelegate
    from .partition_kernel import CudaKernel

_MAGIC = b"NLCUDA01"
_HEADER = struct.Struct("<8sI")
# Batch sizes whose kernels a program carries, besides those of the shapes in the file.
_BATCHES = (1, 4, 16, 64, 256)


def write_program(
    delegate: CudaDelegate, context: DelegateContext, params: DelegateParams, kernel: CudaKernel
) -> bytes:
    """The partition with machine code for the delegate's architecture, compiled now."""
    inputs = [t for t in params.input_tensors if not context.tensor(t).is_constant]
    model = _partition_model(context, params, inputs)
    arch = delegate.cuda_options.arch or (delegate.device.arch if delegate.device is not None else 0)
    if not arch:
        raise UnsupportedError(
            "compile: the option arch must say for which GPU, 90 for 9.0, or a GPU be there"
        )
    variants: dict[Kernel, None] = {}
    for shapes in _shapes(context, inputs):
        # Other batch sizes are a service: those of the file's shapes must be there.
        with suppress(*(() if not variants else (UnsupportedError, PrepareError))):
            launches = kernel.lowered(context.kernel_context, shapes).launches
            variants.update((launch.kernel, None) for launch in launches)
    store = CubinStore(arch)
    store.have(variants)
    packed = {variant_name(variant, arch): store.cubin(variant).pack() for variant in variants}
    header = json.dumps(
        {
            "arch": arch,
            "model": len(model),
            "cubins": [[name, len(content)] for name, content in packed.items()],
        }
    ).encode()
    return b"".join([_HEADER.pack(_MAGIC, len(header)), header, model, *packed.values()])


def _shapes(context: DelegateContext, inputs: list[int]) -> Iterator[dict[int, Shape]]:
    """The inputs' shapes as they are, and with other batch sizes."""
    present = {t: context.tensor(t).shape for t in inputs}
    yield present
    if all(shape for shape in present.values()):
        for batch in _BATCHES:
            yield {t: (batch, *shape[1:]) for t, shape in present.items()}


def read_program(
    delegate: CudaDelegate, kernel: CudaKernel, context: Context, node: Node, program: bytes
) -> None:
    """Have the kernel run the program on the operator's inputs and outputs. ModelError for a damaged one."""
    try:
        magic, header_bytes = _HEADER.unpack_from(program)
        at = _HEADER.size + header_bytes
        header = json.loads(program[_HEADER.size : at])
        model_bytes, arch = int(header["model"]), int(header["arch"])
        cubins: dict[str, Cubin] = {}
        content, at = program[at : at + model_bytes], at + model_bytes
        for name, nbytes in header["cubins"]:
            found = Cubin.unpack(program[at : at + nbytes])
            if found is None or magic != _MAGIC:
                raise ValueError("machine code that was cut short or changed")
            cubins[name], at = found, at + nbytes
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise ModelError(
            f"compiled partition: it must be a program of {delegate.name}, got {error}"
        ) from error
    assert delegate.device is not None
    if arch == delegate.device.arch:
        delegate.device.cubins.carry(cubins)
    runtime = Runtime(_NoLibrary(), context.numerics)
    model = Model(content)
    (subgraph,) = build_subgraphs(model, BuiltinOpResolver(), runtime)
    inner = (*subgraph.inputs, *subgraph.outputs)
    names = dict(zip((*node.inputs, *node.outputs), inner, strict=True))
    tensors = subgraph.tensors

    def find(t: int) -> Tensor:
        return tensors[t]

    kernel.take(find, subgraph.nodes, node.inputs, node.outputs, names)


class _NoLibrary:
    """Nothing of the partition runs on the CPU."""

    def load(self, wanted: Mapping[str, set[str]]) -> None: ...

    def address(self, family: str, kernel: str) -> int:
        raise UnsupportedError("a compiled partition has no CPU kernels")


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
