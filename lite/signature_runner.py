"""SignatureRunner: calls a signature of a model like a function with named arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..schema.shown import shown
from .tensor_access import check_type
from .tensor_details import tensor_details

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .interpreter import Interpreter
    from .interpreter_wrapper import InterpreterWrapper


class _PublicInterpreter(Protocol):
    """What a runner needs of the public interpreter."""

    @property
    def _interpreter(self) -> InterpreterWrapper: ...

    @property
    def core(self) -> Interpreter: ...


class SignatureRunner:
    """Runs one signature: `runner(x=array)` gives a dictionary of results by name.

    Get one from Interpreter.get_signature_runner(). Each call is one run: Interpreter.cancel() ends it, and
    TimedOutError, where timeout_s is set, once it has taken that many seconds. Tools read the same private
    names as of LiteRT's.
    """

    timeout_s: float | None = None

    def __init__(
        self, interpreter: _PublicInterpreter | None = None, signature_key: str | None = None
    ) -> None:
        if not interpreter:
            raise ValueError("None interpreter provided.")
        if not signature_key:
            raise ValueError("None signature_key provided.")
        self._interpreter = interpreter
        self._signature_key = signature_key
        definitions = self._interpreter_wrapper.GetSignatureDefs()
        if signature_key not in definitions:
            raise ValueError(f'Invalid signature_key provided: "{shown(signature_key)}".')
        self._signature_def = definitions[signature_key]
        self._inputs = self._signature_def["inputs"]
        self._outputs = self._signature_def["outputs"].items()
        self._subgraph_index = self._interpreter_wrapper.GetSubgraphIndexFromSignature(signature_key)

    @property
    def _interpreter_wrapper(self) -> InterpreterWrapper:
        # Not kept: whoever holds the wrapper holds a view, and a view blocks the interpreter.
        return self._interpreter._interpreter

    def __call__(self, **kwargs: Any) -> dict[str, np.ndarray]:
        """Set the inputs (resized to the arrays' shapes), run, and copy the outputs.

        ValueError when an input is missing, unknown, no array or of another type; nothing has changed then.
        """
        with self._interpreter.core.limited(self.timeout_s):
            return self._run(kwargs)

    def _run(self, kwargs: dict[str, Any]) -> dict[str, np.ndarray]:
        core, subgraph_index = self._interpreter.core, self._subgraph_index
        if len(kwargs) != len(self._inputs):
            raise ValueError(
                "Invalid number of inputs provided for running a SignatureDef, "
                f"expected {len(self._inputs)} vs provided {len(kwargs)}"
            )
        values = {self._input_index(name): self._array(name, value) for name, value in kwargs.items()}
        for index, array in values.items():
            core.resize_input(index, array.shape, False, subgraph_index)
        core.allocate_tensors(subgraph_index)
        for index, array in values.items():
            core.set_tensor(index, array, subgraph_index)
        core.invoke(subgraph_index)
        return {name: core.get_tensor(index, subgraph_index) for name, index in self._outputs}

    def _input_index(self, name: str) -> int:
        if name not in self._inputs:
            raise ValueError(f"Invalid Input name ({shown(name)}) for SignatureDef")
        return self._inputs[name]

    def _array(self, name: str, value: object) -> np.ndarray:
        """The value, if it is an array, a list or a tuple of the input's type."""
        where = f"signature {self._signature_key!r}, input {name!r}"
        if not hasattr(value, "shape") and not isinstance(value, list | tuple):
            raise ValueError(f"{where}: it must be an array, got {type(value).__name__}")
        try:
            array = np.asarray(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{where}: it must be an array, got {type(value).__name__}: {error}") from error
        check_type(self._interpreter.core.tensor(self._inputs[name], self._subgraph_index), array)
        return array

    def get_input_details(self) -> dict[str, dict[str, Any]]:
        """Details of the input tensors by the signature's names."""
        return self._details(self._inputs.items())

    def get_output_details(self) -> dict[str, dict[str, Any]]:
        """Details of the output tensors by the signature's names."""
        return self._details(self._outputs)

    def _details(self, tensors: Iterable[tuple[str, int]]) -> dict[str, dict[str, Any]]:
        core, subgraph_index = self._interpreter.core, self._subgraph_index
        others = core.subgraph(subgraph_index).tensors
        return {name: tensor_details(core.tensor(index, subgraph_index), others) for name, index in tensors}


def only_signature(signatures: Mapping[str, object]) -> str:
    """The key of a model's one signature; ValueError where it has none, or several."""
    if len(signatures) != 1:
        raise ValueError(
            f"SignatureDef signature_key is None and model has {len(signatures)} Signatures. "
            "None is only allowed when the model has 1 SignatureDef"
        )
    return next(iter(signatures))
