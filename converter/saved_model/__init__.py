"""SavedModels and checkpoints: read, and made into one frozen graph for each signature."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .checkpoint import Checkpoint, load_checkpoint
    from .frozen_graph import FrozenGraph
    from .loader import SavedModel, load_saved_model
    from .signature import Signature, SignatureTensor

# Name: module that has it. Nothing is imported before it is asked for.
_HOMES = {
    "Checkpoint": ".checkpoint",
    "FrozenGraph": ".frozen_graph",
    "SavedModel": ".loader",
    "Signature": ".signature",
    "SignatureTensor": ".signature",
    "load_checkpoint": ".checkpoint",
    "load_saved_model": ".loader",
}
__all__ = [
    "Checkpoint",
    "FrozenGraph",
    "SavedModel",
    "Signature",
    "SignatureTensor",
    "load_checkpoint",
    "load_saved_model",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
