"""Program: what all graphs of one conversion share."""

from __future__ import annotations

from ..ir.module import Function, Module
from ..lite_graph import LiteGraph, LiteTensor
from ..target_spec import Settings
from ..transforms.effects import Effects
from .limits import Limits
from .unsupported import Failures


class Program:
    """The settings, the functions of the module at hand, and what became of the nodes so far.

    keeps_lists leaves lists of tensors to TensorFlow's ops, all of them: what one op makes the next takes.
    """

    def __init__(self, settings: Settings, keeps_lists: bool = False) -> None:
        self.settings = settings
        self.keeps_lists = keeps_lists
        self.functions: dict[str, Function] = {}
        self.effects = Effects(self.functions)
        self.failures = Failures()
        # Name: what became of a node that is no operator's source.
        self.outcomes: dict[str, str] = {}
        # Graphs with operators that a model must not hold, unless a pass takes them in.
        self.unfinished: list[LiteGraph] = []
        # The functions whose bodies are being lowered, outermost first.
        self.calls: list[str] = []
        # What remains of tensors behind their leading elements: led_list.
        self.whole_lists: dict[LiteTensor, LiteTensor] = {}
        # Lists whose elements have the sizes that will be put in, though these are not known.
        self.sized_lists: set[LiteTensor] = set()
        self.limits = Limits()
        # Whether graphs have forms of other frameworks (conversion.Entry).
        self.has_foreign_forms = False

    def use(self, module: Module) -> None:
        """Go on with another module's functions."""
        self.functions = module.functions
        self.effects = Effects(self.functions)
        self.limits.admit(module)
