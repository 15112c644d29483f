"""CompiledModel: a model that runs on buffers of its caller, the API of LiteRT 2 name for name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from .compiled_model_options import (
    CpuKernelMode,
    CpuOptions,
    Environment,
    EnvironmentOptions,
    GpuOptions,
    HardwareAccelerator,
    IntelOpenVinoOptions,
    Options,
    QualcommOptions,
)
from .interpreter import Delegate, Interpreter, load_delegate
from .lite.buffered_signature import BufferedSignature
from .lite.errors import StateError, UnsupportedError
from .lite.interpreter import Interpreter as CoreInterpreter
from .lite.model import Signature
from .lite.tensor import Tensor
from .schema.shown import shown
from .tensor_buffer import TensorBuffer, dtype_name

__all__ = [
    "CompiledModel",
    "CpuKernelMode",
    "CpuOptions",
    "Environment",
    "EnvironmentOptions",
    "GpuOptions",
    "HardwareAccelerator",
    "IntelOpenVinoOptions",
    "Options",
    "QualcommOptions",
    "TensorBuffer",
]

# What LiteRT calls the signature of a model that has none.
_PLACEHOLDER = "<placeholder signature>"
_HOST_MEMORY = 1  # LiteRT's number of that kind of buffer

_Buffers = Iterable[tuple[str, TensorBuffer]]


class UnknownNameError(StateError, ValueError):
    """There is no signature, input or output of that name; LiteRT raises both kinds."""


class CompiledModel:
    """Runs signatures of one model on TensorBuffers, without a copy where their memory serves.

        model = numlite.CompiledModel.from_file("model.tflite")
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
        inputs[0].write(image)
        model.run_by_index(0, inputs, outputs)
        scores = outputs[0].read(1000, np.float32)

    Inputs and outputs are in the order of the model's; a model without signatures has one whose names are
    its tensors'. One run at a time. Variables keep their values from run to run until an input is resized.
    """

    def __init__(
        self, interpreter: Interpreter, environment: Environment, accelerators: HardwareAccelerator
    ) -> None:
        self.environment = environment
        self._interpreter: Interpreter | None = interpreter
        self._accelerators = accelerators
        self._signatures = [
            BufferedSignature(interpreter.core, found) for found in _signatures(interpreter.core)
        ]
        self._latest: BufferedSignature | None = None

    @classmethod
    def from_file(
        cls,
        model_path: str | PathLike[str],
        hardware_accel: HardwareAccelerator | None = None,
        environment: Environment | None = None,
        options: Options | None = None,
    ) -> CompiledModel:
        """Map a model's file. hardware_accel is short for Options(hardware_accelerators=...).

        Raises ValueError for a file that cannot be read, for wrong options and for both at once,
        UnsupportedError for options that numlite does not have, RuntimeError where the GPU cannot be used.
        """
        chosen = _chosen(options, hardware_accel)
        return cls._made(environment, chosen, lambda **settings: Interpreter(model_path, **settings))

    @classmethod
    def from_buffer(
        cls,
        model_data: bytes,
        hardware_accel: HardwareAccelerator | None = None,
        environment: Environment | None = None,
        options: Options | None = None,
    ) -> CompiledModel:
        """The same of a model's bytes, which are kept, not copied."""
        chosen = _chosen(options, hardware_accel)
        return cls._made(
            environment, chosen, lambda **settings: Interpreter(model_content=model_data, **settings)
        )

    @classmethod
    def _made(
        cls, environment: Environment | None, options: Options, make: Callable[..., Interpreter]
    ) -> CompiledModel:
        uses_gpu = bool(options.hardware_accelerators & HardwareAccelerator.GPU)
        mode = options.cpu_options.kernel_mode
        interpreter = make(
            num_threads=options.cpu_options.num_threads or None,
            experimental_op_resolver_type=(
                CpuKernelMode.DELEGATE if mode is None else CpuKernelMode(mode)
            ).resolver_type,
            experimental_delegates=[_load_gpu("ieee" if options.gpu_options.enforce_f32 else "tf32x3")]
            if uses_gpu
            else None,
        )
        model = cls(interpreter, environment or Environment.create(), options.hardware_accelerators)
        left = model._left_by_gpu()
        if left and not options.hardware_accelerators & HardwareAccelerator.CPU:
            raise UnsupportedError(
                "HardwareAccelerator.GPU: must run all operators where CPU is not given, too, but it leaves "
                f" {', '.join(map(shown, left))}; `numlite inspect --delegate cuda` says why"
            )
        return model

    def __enter__(self) -> CompiledModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back the memory. Buffers stay; any other call raises RuntimeError from now on."""
        self._interpreter = self._latest = None
        self._signatures = []

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """{key: {'inputs': [names], 'outputs': [names]}} of each signature."""
        return {
            found.key: {"inputs": list(found.inputs), "outputs": list(found.outputs)} for found in self._all()
        }

    def get_signature_by_index(self, index: int) -> dict[str, Any]:
        """Its 'key', and the names of its 'inputs' and 'outputs'."""
        found = self._at(index)
        return {"key": found.key, "inputs": list(found.inputs), "outputs": list(found.outputs)}

    def get_num_signatures(self) -> int:
        """How many signatures there are to run."""
        return len(self._all())

    def get_signature_index(self, key: str) -> int:
        """-1 where there is none of that key."""
        return next((n for n, found in enumerate(self._all()) if found.key == key), -1)

    def get_input_tensor_details(self, signature_key: str) -> dict[str, Any]:
        """name, index, dtype and shape of each input's tensor, by the signature's names."""
        found = self._of(signature_key)
        return {name: _details(found.tensor(t)) for name, t in found.inputs.items()}

    def get_output_tensor_details(self, signature_key: str) -> dict[str, Any]:
        """The same of the outputs, for the inputs' shapes as they are now."""
        found = self._of(signature_key)
        found.allocate()
        return {name: _details(found.tensor(t)) for name, t in found.outputs.items()}

    def get_input_buffer_requirements(self, input_index: int, signature_index: int = 0) -> dict[str, Any]:
        """buffer_size, in bytes, and supported_types: [1], which is host memory."""
        found = self._at(signature_index)
        return _requirements(found.tensor(_by_place(found, "input", input_index)))

    def get_output_buffer_requirements(self, output_index: int, signature_index: int = 0) -> dict[str, Any]:
        """The same of an output, for the inputs' shapes as they are now."""
        found = self._at(signature_index)
        found.allocate()
        return _requirements(found.tensor(_by_place(found, "output", output_index)))

    def is_fully_accelerated(self) -> bool:
        """Whether the GPU runs all operators, where it was asked for; the CPU always does."""
        return not self._left_by_gpu()

    def _left_by_gpu(self) -> list[str]:
        """The operators that the CPU runs though the GPU was asked for, by name."""
        core = self._open().core
        if not self._accelerators & HardwareAccelerator.GPU:
            return []
        nodes = [graph.nodes[n] for graph in core.subgraphs for n in graph.execution_plan]
        return sorted({node.registration.name for node in nodes if node.delegate is None})

    def create_input_buffer_by_name(self, signature_key: str, input_name: str) -> TensorBuffer:
        """Zeros of the shape that the input has now. UnknownNameError where there is none of the name."""
        found = self._of(signature_key)
        return _new_buffer(found, _by_name(found, "input", input_name))

    def create_output_buffer_by_name(self, signature_key: str, output_name: str) -> TensorBuffer:
        """Zeros of the shape that the output has now. UnknownNameError where there is none of the name."""
        found = self._of(signature_key)
        return _new_buffer(found, _by_name(found, "output", output_name))

    def create_input_buffers(self, signature_index: int) -> list[TensorBuffer]:
        """Zeros of the shapes that the inputs have now. UnsupportedError for strings and resources."""
        found = self._at(signature_index)
        return [_new_buffer(found, t) for t in found.inputs.values()]

    def create_output_buffers(self, signature_index: int) -> list[TensorBuffer]:
        """Room for the outputs that the inputs' shapes make now.

        UnsupportedError also for an output whose shape only a run finds.
        """
        found = self._at(signature_index)
        return [_new_buffer(found, t) for t in found.outputs.values()]

    def resize_input_tensor(
        self, input_index: int, dims: Sequence[int], signature_index: int = 0, strict: bool = True
    ) -> None:
        """Give an input another shape; with strict only sizes that the model leaves open may change."""
        found = self._at(signature_index)
        self._resize(found, _by_place(found, "input", input_index), dims, strict)

    def resize_input_tensor_by_name(
        self, signature_key: str, input_name: str, dims: Sequence[int], strict: bool = True
    ) -> None:
        """The same by names; ValueError where there are none such."""
        found = self._of(signature_key)
        self._resize(found, _by_name(found, "input", input_name), dims, strict)

    def _resize(self, found: BufferedSignature, index: int, dims: Sequence[int], strict: bool) -> None:
        if self._latest is not None:
            self._latest.unbind()
        found.resize(index, dims, strict)

    def run_by_name(
        self,
        signature_key: str,
        input_map: Mapping[str, TensorBuffer],
        output_map: Mapping[str, TensorBuffer],
    ) -> None:
        """Run a signature on buffers by its names.

        Each input and output needs one. A buffer of another shape resizes its input where the model leaves
        those sizes open.
        Raises ValueError for names and types that are not the signature's, RuntimeError for a buffer that
        does not fit and what Interpreter.invoke raises.
        """
        found = self._of(signature_key)
        for kind, needed, given in (
            ("input", found.inputs, input_map),
            ("output", found.outputs, output_map),
        ):
            for name in given:
                _by_name(found, kind, name)
            missing = [name for name in needed if name not in given]
            if missing:
                raise StateError(f"signature {found.key!r}: each {kind} needs a buffer, {missing} have none")
        self._run(found, input_map.items(), output_map.items())

    def run_by_index(
        self,
        signature_index: int,
        input_buffers: Sequence[TensorBuffer],
        output_buffers: Sequence[TensorBuffer],
    ) -> None:
        """Run a signature on buffers in the order of its inputs and outputs; otherwise as run_by_name."""
        found = self._at(signature_index)
        for kind, names, buffers in (
            ("input", found.inputs, input_buffers),
            ("output", found.outputs, output_buffers),
        ):
            if len(buffers) != len(names):
                raise StateError(
                    f"signature {found.key!r}: must get a buffer for each {kind}, {len(names)}, "
                    f"got {len(buffers)}"
                )
        inputs = zip(found.inputs, input_buffers, strict=True)
        self._run(found, inputs, zip(found.outputs, output_buffers, strict=True))

    def _run(self, found: BufferedSignature, inputs: _Buffers, outputs: _Buffers) -> None:
        if self._latest is not found and self._latest is not None:
            # Its subgraph may be one that this one calls: it runs in its own memory then.
            self._latest.unbind()
        self._latest = found
        found.run(inputs, outputs)

    def _open(self) -> Interpreter:
        if self._interpreter is None:
            raise StateError("CompiledModel: it is closed")
        return self._interpreter

    def _all(self) -> list[BufferedSignature]:
        self._open()
        return self._signatures

    def _at(self, index: int) -> BufferedSignature:
        found = self._all()
        if not 0 <= index < len(found):
            raise StateError(f"signature index: must be from 0 to {len(found) - 1}, got {index}")
        return found[index]

    def _of(self, key: str) -> BufferedSignature:
        index = self.get_signature_index(key)
        if index < 0:
            known = ", ".join(repr(found.key) for found in self._signatures)
            raise UnknownNameError(f"Unknown signature: {key!r}; the model's are {known}")
        return self._signatures[index]


def _by_name(found: BufferedSignature, kind: str, name: str) -> int:
    """The tensor's index."""
    names = found.inputs if kind == "input" else found.outputs
    if name not in names:
        known = ", ".join(map(repr, names)) or "none"
        raise UnknownNameError(f"Unknown {kind} {name!r} for signature {found.key!r}; it has {known}")
    return names[name]


def _by_place(found: BufferedSignature, kind: str, place: int) -> int:
    tensors = list((found.inputs if kind == "input" else found.outputs).values())
    if not 0 <= place < len(tensors):
        raise StateError(f"signature {found.key!r}: {kind} index must be below {len(tensors)}, got {place}")
    return tensors[place]


def _new_buffer(found: BufferedSignature, index: int) -> TensorBuffer:
    found.allocate()
    tensor = found.tensor(index)
    if not tensor.has_fixed_size:
        raise UnsupportedError(
            f"tensor {tensor!r}: no buffer holds such values; Interpreter.set_tensor and get_tensor take them"
        )
    if index in found.outputs.values() and (tensor.is_dynamic or not found.graph.is_planned):
        raise UnsupportedError(
            f"tensor {tensor!r}: its shape is known only when it runs; memory that is large enough does, by "
            "TensorBuffer.create_from_host_memory"
        )
    return TensorBuffer.allocated(tensor.type, tensor.shape, tensor.nbytes)


def _details(tensor: Tensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "index": tensor.index,
        "dtype": dtype_name(tensor.type),
        "shape": list(tensor.shape),
    }


def _requirements(tensor: Tensor) -> dict[str, Any]:
    return {"buffer_size": tensor.nbytes, "supported_types": [_HOST_MEMORY]}


def _signatures(core: CoreInterpreter) -> Iterable[Signature]:
    """The model's, or one whose names are those of the main graph's tensors."""
    if core.signatures:
        return core.signatures.values()
    graph = core.subgraph()
    inputs, outputs = ({graph.tensors[t].name: t for t in ts} for ts in (graph.inputs, graph.outputs))
    return [Signature(_PLACEHOLDER, 0, inputs, outputs)]


def _chosen(options: Options | None, accelerators: HardwareAccelerator | None) -> Options:
    if options is not None and accelerators is not None:
        raise ValueError("Pass either options or hardware_accel, not both.")
    if options is None:
        options = Options() if accelerators is None else Options(accelerators)
    options.check()
    return options


def _load_gpu(precision: str) -> Delegate:
    return load_delegate("cuda", {"precision": precision})
