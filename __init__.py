"""numlite: reads .tflite models and runs them with compiled kernels, delegates and a converter.

The names below are the public API; each is loaded when it is first used, so that
`import numlite` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .lite.environment import VERSION, warn_of_unknown

if TYPE_CHECKING:
    from . import authoring, metadata
    from .compiled_model import CompiledModel, HardwareAccelerator, TensorBuffer
    from .interpreter import (
        Delegate,
        Interpreter,
        InterpreterBuilder,
        InterpreterWithCustomOps,
        Model,
        OpResolver,
        OpResolverType,
        SignatureRunner,
        load_delegate,
    )
    from .lite.context import Context
    from .lite.errors import (
        DelegateError,
        InvokeError,
        ModelError,
        PrepareError,
        StateError,
        UnsupportedError,
    )
    from .lite.kernel_call import KernelCall
    from .lite.node import Node
    from .lite.registration import Registration
    from .lite.tensor import Tensor, TensorType
    from .model_comparison import compare_models

__version__ = VERSION

__all__ = [
    "CompiledModel",
    "Context",
    "Delegate",
    "DelegateError",
    "HardwareAccelerator",
    "Interpreter",
    "InterpreterBuilder",
    "InterpreterWithCustomOps",
    "InvokeError",
    "KernelCall",
    "Model",
    "ModelError",
    "Node",
    "OpResolver",
    "OpResolverType",
    "PrepareError",
    "Registration",
    "SignatureRunner",
    "StateError",
    "Tensor",
    "TensorBuffer",
    "TensorType",
    "UnsupportedError",
    "authoring",
    "compare_models",
    "load_delegate",
    "metadata",
]

_ERRORS = ("DelegateError", "InvokeError", "ModelError", "PrepareError", "StateError", "UnsupportedError")
_HOMES = {
    "CompiledModel": ".compiled_model",
    "HardwareAccelerator": ".compiled_model",
    "InterpreterBuilder": ".interpreter_builder",
    "TensorBuffer": ".compiled_model",
    "compare_models": ".model_comparison",
    "Context": ".lite.context",
    "KernelCall": ".lite.kernel_call",
    "Node": ".lite.node",
    "Registration": ".lite.registration",
    "Tensor": ".lite.tensor",
    "TensorType": ".lite.tensor",
    **dict.fromkeys(_ERRORS, ".lite.errors"),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("authoring", "metadata"):
        return import_module(f".{name}", __name__)
    return getattr(import_module(_HOMES.get(name, ".interpreter"), __name__), name)


def __dir__() -> list[str]:
    return sorted([*(name for name in globals() if name.startswith("__")), *__all__])


warn_of_unknown()
