"""Program: what all graphs of one conversion share."""

from __future__ import annotations

from ..ir.module import Function, Module
from ..target_spec import Settings
from .unsupported import Failures


class Program:
    """The functions, the settings, and what became of the nodes so far."""

    def __init__(self, module: Module, settings: Settings) -> None:
        self.functions: dict[str, Function] = module.functions
        self.settings = settings
        self.failures = Failures()
        # Name: what became of a node that is no operator's source.
        self.fates: dict[str, str] = {}
        # The functions whose bodies are being lowered, outermost first.
        self.calls: list[str] = []
