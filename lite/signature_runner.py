"""SignatureRunner: calls a signature of a model like a function with named arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .tensor_details import tensor_details

if TYPE_CHECKING:
    from .interpreter import Interpreter
    from .model import Signature


class _HasCore(Protocol):
    """What a runner needs of the public interpreter."""

    @property
    def core(self) -> Interpreter: ...


class SignatureRunner:
    """Runs one signature: `runner(x=array)` gives a dictionary of results by name.

    Get one from Interpreter.get_signature_runner().
    """

    def __init__(self, interpreter: _HasCore | None = None, signature_key: str | None = None) -> None:
        if not interpreter:
            raise ValueError("None interpreter provided.")
        if not signature_key:
            raise ValueError("None signature_key provided.")
        self._core = interpreter.core
        if signature_key not in self._core.signatures:
            raise ValueError(f'Invalid signature_key provided: "{signature_key}".')
        self._signature_key = signature_key
        self._signature: Signature = self._core.signatures[signature_key]

    def __call__(self, **kwargs: Any) -> dict[str, np.ndarray]:
        """Set the inputs (resized to the arrays' shapes), run, and copy the outputs."""
        core, signature = self._core, self._signature
        if len(kwargs) != len(signature.inputs):
            raise ValueError(
                "Invalid number of inputs provided for running a SignatureDef, "
                f"expected {len(signature.inputs)} vs provided {len(kwargs)}"
            )
        subgraph_index = signature.subgraph_index
        values = {}
        for name, value in kwargs.items():
            if name not in signature.inputs:
                raise ValueError(f"Invalid Input name ({name}) for SignatureDef")
            values[signature.inputs[name]] = array = np.asarray(value)
            core.resize_input(signature.inputs[name], array.shape, False, subgraph_index)
        core.allocate_tensors(subgraph_index)
        for index, array in values.items():
            core.set_tensor(index, array, subgraph_index)
        core.invoke(subgraph_index)
        return {name: core.get_tensor(index, subgraph_index) for name, index in signature.outputs.items()}

    def get_input_details(self) -> dict[str, dict[str, Any]]:
        """Details of the input tensors by the signature's names."""
        return self._details(self._signature.inputs)

    def get_output_details(self) -> dict[str, dict[str, Any]]:
        """Details of the output tensors by the signature's names."""
        return self._details(self._signature.outputs)

    def _details(self, tensors: dict[str, int]) -> dict[str, dict[str, Any]]:
        subgraph_index = self._signature.subgraph_index
        return {
            name: tensor_details(self._core.tensor(index, subgraph_index)) for name, index in tensors.items()
        }
