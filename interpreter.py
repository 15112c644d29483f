"""The public interpreter: a drop-in for ai_edge_litert.interpreter, name for name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from sys import getrefcount
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .interpreter_core import USUAL, built_core, flex_delegate, usual_start
from .kernels.compiled.driver.library import Library
from .lite import metrics
from .lite.errors import StateError
from .lite.op_resolver_type import OpResolverType
from .lite.turn import NO_COPY, VIEW_ALIVE

if TYPE_CHECKING:
    from .interpreter_builder import InterpreterBuilder
    from .kernels.register import BuiltinOpResolver as OpResolver
    from .lite.delegate import Delegate as PythonDelegate
    from .lite.interpreter import Interpreter as CoreInterpreter
    from .lite.interpreter_wrapper import InterpreterWrapper
    from .lite.kernel_call import KernelLibrary
    from .lite.memory_report import MemoryReport
    from .lite.model import Model
    from .lite.prepared_start import PreparedStart
    from .lite.profiler import OpProfile
    from .lite.signature_runner import SignatureRunner

__all__ = [
    "Delegate",
    "Interpreter",
    "InterpreterBuilder",
    "InterpreterWithCustomOps",
    "Model",
    "OpResolver",
    "OpResolverType",
    "SignatureRunner",
    "load_delegate",
]

# Public names that most programs do without.
_HOMES = {
    "InterpreterBuilder": "interpreter_builder.InterpreterBuilder",
    "Model": "lite.model.Model",
    "OpResolver": "kernels.register.BuiltinOpResolver",
    "SignatureRunner": "lite.signature_runner.SignatureRunner",
}
# The wrapper is held by the interpreter; getrefcount's own argument counts as well.
_NO_VIEWS = 2


class Delegate:
    """A delegate that was found by name; `delegate` is the object that does the work."""

    def __init__(self, library: str, options: dict[Any, Any] | None = None) -> None:
        from .delegates.loading import load_delegate

        self.delegate: PythonDelegate = load_delegate(library, options)

    def _get_native_delegate_pointer(self) -> PythonDelegate:
        return self.delegate


def load_delegate(library: str, options: dict[Any, Any] | None = None) -> Delegate:
    """Find a delegate by entry point (group `numlite.delegates`) or by module path; options are its keywords.

    Raises ValueError, which is an OSError as well where there is none of that name.
    """
    return Delegate(library, options)


class Interpreter:
    """Runs a .tflite model.

        interpreter = Interpreter("model.tflite")
        interpreter.allocate_tensors()
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image)
        interpreter.invoke()
        result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

    The model is a file or its content; delegates are numlite.Delegates or what load_delegate gave. Raises
    ModelError for a file that is wrong, UnsupportedError for one that is right and cannot be run here.
    """

    _custom_op_registerers: Sequence[Any] = ()
    _library: KernelLibrary = Library()

    def __init__(
        self,
        model_path: str | os.PathLike[str] | None = None,
        model_content: bytes | bytearray | memoryview | Model | None = None,
        experimental_delegates: Sequence[Any] | None = None,
        num_threads: int | None = None,
        experimental_op_resolver_type: OpResolverType | OpResolver = OpResolverType.AUTO,
        experimental_preserve_all_tensors: bool = False,
        experimental_disable_delegate_clustering: bool = False,
        experimental_default_delegate_latest_features: bool = False,
        experimental_compress_quantization_zero_points: bool = False,
        experimental_disable_delegate_node_fusion: bool = False,
        experimental_force_delegate_node_profiling: bool = False,
        *,
        trust_compiled_code: bool = False,
        prepared_model: str | os.PathLike[str] | None = None,
    ) -> None:
        """Open a model by path (the file is mapped) or by content (kept, not copied, if it is bytes).

        model_content may also be a Model, which several interpreters then share.

        experimental_preserve_all_tensors lets get_tensor read every intermediate tensor after invoke; it does
        not change any result. experimental_delegates are Delegate objects of numlite.delegates, or what
        load_delegate returned; they are applied in this order, and after them the flex delegate where
        TensorFlow ops (Flex...) are left.
        experimental_disable_delegate_clustering keeps the order of the nodes for them,
        experimental_disable_delegate_node_fusion gives them one node at a time, and
        experimental_force_delegate_node_profiling gives their nodes rows of their own in profile()
        also where they tell the times of the operators inside.
        experimental_compress_quantization_zero_points keeps one zero point of a tensor whose zero points are
        equal, also in its details.
        A compiled model (numlite compile) carries a delegate's programs, machine code perhaps. They run
        when that delegate is among experimental_delegates; trust_compiled_code also lets the model
        choose among the installed ones, and its options. Without either, preparing it raises RuntimeError.
        prepared_model is a file of `numlite prepare`, made for this model with these settings by the same
        numlite on the same kind of processor; it holds addresses that kernels write to, so that it has to be
        trusted as a program is. allocate_tensors raises ValueError where it is for anything else.
        experimental_op_resolver_type may also be an OpResolver, OpResolver.from_selection(path) say.
        Raises ValueError when the model cannot be read or an argument is wrong, RuntimeError when
        a delegate cannot be applied.
        """
        compresses = bool(experimental_compress_quantization_zero_points)
        self._experimental_compress_quantization_zero_points = compresses
        self._model_content = model_content
        self._delegates: list[PythonDelegate | Delegate] = []
        self._watched: object = object()  # what views of memory hold on to: the wrapper, once there is one
        choices = {
            "preserve_all_tensors": bool(experimental_preserve_all_tensors),
            "compress_zero_points": compresses,
            "delegate_clustering": not experimental_disable_delegate_clustering,
            "delegate_node_fusion": not experimental_disable_delegate_node_fusion,
            "force_delegate_node_profiling": bool(experimental_force_delegate_node_profiling),
            "trust_compiled_code": bool(trust_compiled_code),
        }
        given = model_content, experimental_delegates, prepared_model, self._custom_op_registerers or None
        start = None
        if choices == USUAL and all(argument is None for argument in given):
            start = usual_start(model_path, num_threads, experimental_op_resolver_type, self._library)
        if start is not None:
            self._core: CoreInterpreter | PreparedStart = start
        else:
            from .lite import interpreter_arguments as arguments  # a start does without

            numerics = arguments.numerics_of(experimental_op_resolver_type)
            if experimental_preserve_all_tensors:
                arguments.warn_of_kept_tensors(numerics)
            arguments.check_num_threads(num_threads)
            delegates = arguments.listed_delegates(experimental_delegates)
            self._core, resolver = built_core(
                model_path,
                model_content,
                experimental_op_resolver_type,
                self._custom_op_registerers,
                self._library,
                prepared_model,
                numerics=numerics,
                num_threads=int(num_threads or 1),
                offered_delegates=tuple(map(_unwrapped, delegates)),
                **choices,
            )
            for delegate in delegates:
                self.modify_graph_with_delegate(delegate)
            if self._core.has_flex_operators:
                self.modify_graph_with_delegate(flex_delegate(resolver))
        self._metrics = metrics.TFLiteMetrics()
        self._metrics.increase_counter_interpreter_creation()

    @property
    def core(self) -> CoreInterpreter:
        """The runtime's own interpreter, below this drop-in."""
        core = self._core = self._core.whole()
        return core

    @property
    def _interpreter(self) -> InterpreterWrapper:
        """LiteRT's wrapper by name. Views hold on to it."""
        from .lite.interpreter_wrapper import InterpreterWrapper  # few programs have a use for it

        if not isinstance(self._watched, InterpreterWrapper):
            self._watched = InterpreterWrapper(self.core)
        return self._watched

    def allocate_tensors(self) -> None:
        """Prepare the model and give its tensors memory. Needed before invoke, and after a resize."""
        self._ensure_safe()
        self._core.allocate_tensors()

    def resize_tensor_input(
        self, input_index: int, tensor_size: Sequence[int] | np.ndarray, strict: bool = False
    ) -> None:
        """Give an input another shape; with strict only dimensions that are -1 in its shape_signature."""
        self._ensure_safe()
        self.core.resize_input(input_index, np.array(tensor_size, np.int32), strict)

    def reset_all_variables(self) -> None:
        """Set variables to zero; operators and delegates by their hook (InvokeError for one that fails)."""
        self.core.reset_all_variables()

    def release_nonpersistent_memory(self) -> None:
        """Give back the arena until the next allocate_tensors(); variables keep their values."""
        self._ensure_safe()
        self.core.release_nonpersistent_memory()

    def set_tensor(self, tensor_index: int, value: object) -> None:
        """Copy value into a tensor; its dtype and shape must be the tensor's."""
        self._core.set_tensor(tensor_index, value)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> np.ndarray:
        """A copy of a tensor's value.

        ValueError while it has none, and for an intermediate whose memory is used for others; with
        experimental_preserve_all_tensors none is.
        """
        return self._core.get_tensor(tensor_index, subgraph_index)

    def tensor(self, tensor_index: int) -> Callable[[], np.ndarray]:
        """A function that gives a view of a tensor's memory; ValueError where get_tensor raises it.

        Keep the function, not the view: while a view is alive, invoke, allocate_tensors and
        resize_tensor_input raise RuntimeError.
        """
        return lambda: self._interpreter.tensor(self._interpreter, tensor_index)

    def typed_input_tensor(self, i: int, dtype: type[np.generic] | np.dtype) -> np.ndarray:
        """A view of the i-th input's memory, to be written before invoke; see tensor().

        TypeError where the input's elements are not of dtype. Source: LiteRT tflite/core/interpreter.h.
        """
        from .lite.tensor_access import typed_view  # few programs have a use for it

        return typed_view(lambda t: self.tensor(t)(), self.core.subgraph().inputs, i, dtype, "input")

    def typed_output_tensor(self, i: int, dtype: type[np.generic] | np.dtype) -> np.ndarray:
        """A view of the i-th output's memory after invoke; the same as typed_input_tensor otherwise."""
        from .lite.tensor_access import typed_view

        return typed_view(lambda t: self.tensor(t)(), self.core.subgraph().outputs, i, dtype, "output")

    def invoke(self, timeout_s: float | None = None) -> None:
        """Run the model. Releases the GIL while kernels run. RuntimeError when a node fails.

        Ctrl-C raises KeyboardInterrupt (or what the program's own handler raises), cancel() ends the run
        with CancelledError, and timeout_s, in seconds, with TimedOutError, which is a TimeoutError too. The
        interpreter can be used again at once: inputs keep their values, outputs and intermediate tensors
        have values of this run or of the last, variables those that the nodes before the stop gave them.
        """
        if getrefcount(self._watched) != _NO_VIEWS:
            raise StateError(VIEW_ALIVE)
        if timeout_s is None:
            self._core.invoke()
        else:
            with self._core.limited(timeout_s):
                self._core.invoke()

    def cancel(self) -> None:
        """Stop what runs in another thread, invoke() say, which raises CancelledError there.

        Does not wait for it. Where nothing runs it does nothing: the next invoke() runs as ever.
        """
        self._core.cancel()

    def _safe_to_run(self) -> bool:
        return getrefcount(self._watched) == _NO_VIEWS

    def _ensure_safe(self) -> None:
        if not self._safe_to_run():
            raise StateError(VIEW_ALIVE)

    def num_subgraphs(self) -> int:
        """How many graphs the model has; the first is the one that invoke runs."""
        return len(self.core.subgraphs)

    def get_input_details(self) -> list[dict[str, Any]]:
        """name, index, shape, shape_signature, dtype and quantization of each input, in the file's order."""
        return self._core.input_details()

    def get_output_details(self) -> list[dict[str, Any]]:
        """The same as get_input_details, of the outputs."""
        return self._core.output_details()

    def get_tensor_details(self, subgraph_index: int = 0) -> list[dict[str, Any]]:
        """Details of all tensors of a subgraph, without the scratch memory of its operators."""
        from .lite.tensor_details import all_tensor_details

        return all_tensor_details(self.core.subgraphs, subgraph_index)

    def _get_tensor_details(self, tensor_index: int, subgraph_index: int = 0) -> dict[str, Any]:
        from .lite.tensor_details import tensor_details

        tensor = self.core.tensor(int(tensor_index), int(subgraph_index))
        return tensor_details(tensor, self.core.subgraph(int(subgraph_index)).tensors)

    def _get_op_details(self, op_index: int) -> dict[str, Any]:
        from .lite.tensor_details import operator_details

        return operator_details(self.core.subgraph(), self._interpreter.node(op_index))

    def _get_ops_details(self) -> list[dict[str, Any]]:
        from .lite.tensor_details import operator_details

        return [operator_details(self.core.subgraph(), node) for node in self.core.subgraph().nodes]

    @property
    def experimental_compress_quantization_zero_points(self) -> bool:
        return self._experimental_compress_quantization_zero_points

    def __getstate__(self) -> object:
        raise TypeError(NO_COPY)

    def _native_handle(self) -> NoReturn:
        self._interpreter.interpreter()

    def modify_graph_with_delegate(self, delegate: PythonDelegate | Delegate) -> None:
        """Let a delegate take the nodes that it can run; allocate_tensors() comes after it.

        Raises RuntimeError when it fails; the model then runs without any delegate.
        """
        self._ensure_safe()
        self.core.modify_graph_with_delegate(_unwrapped(delegate))
        self._delegates.append(delegate)

    def profile(self, runs: int = 20) -> list[OpProfile]:
        """The time each operator takes, in order of execution, over real invokes.

        The inputs are used as they are set; variables advance as with invoke.
        """
        self._ensure_safe()
        return self.core.profile(runs)

    def memory_report(self) -> MemoryReport:
        """Bytes of the arenas and their lower bound; offset and lifetime of every tensor."""
        return self.core.memory_report()

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """{key: {'inputs': [names], 'outputs': [names]}} of each signature."""
        return {
            key: {"inputs": list(signature.inputs), "outputs": list(signature.outputs)}
            for key, signature in self.core.signatures.items()
        }

    @property
    def _signature_defs(self) -> dict[str, dict[str, list[str]]]:
        return self.get_signature_list()

    def _get_full_signature_list(self) -> dict[str, dict[str, dict[str, int]]]:
        return self._interpreter.GetSignatureDefs()

    def get_signature_runner(self, signature_key: str | None = None) -> SignatureRunner:
        """A function of named arrays for a signature; the key may be left out when there is only one."""
        from .lite.signature_runner import SignatureRunner, only_signature  # most programs have no use for it

        key = only_signature(self.core.signatures) if signature_key is None else signature_key
        return SignatureRunner(interpreter=self, signature_key=key)


class InterpreterWithCustomOps(Interpreter):
    """An Interpreter with custom operators written in Python.

    Each registerer is a pair (name, operator), where operator is a Registration or an object with
    prepare(context, node) and invoke(context, node), or a function that calls the OpResolver's add_custom.
    """

    def __init__(self, custom_op_registerers: Sequence[Any] | None = None, **kwargs: Any) -> None:
        from .lite.interpreter_arguments import listed_operators

        self._custom_op_registerers = listed_operators(custom_op_registerers)
        super().__init__(**kwargs)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, given = _HOMES[name].rpartition(".")
    return getattr(import_module(f".{module}", __package__), given)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _unwrapped(delegate: PythonDelegate | Delegate) -> PythonDelegate:
    return delegate.delegate if isinstance(delegate, Delegate) else delegate
