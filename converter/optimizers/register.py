"""The optimizers in the order in which they run, with what turns them on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from .config import OptimizerConfig
from .toggle import MemoryMode, Toggle
from .turn import Turn


@dataclass(frozen=True)
class Optimizer:
    """One optimizer: its name among config.optimizers, the name of TensorFlow's class, and its field of the
    config.

    home is "module:function" of this folder. is_on_by_default: it runs for DEFAULT, too. runs_once: in the
    first iteration only.
    """

    name: str
    class_name: str
    field: str
    home: str
    is_on_by_default: bool = True
    runs_once: bool = False

    def run(self, turn: Turn) -> None:
        """Change the turn's item."""
        self.function()(turn)

    def function(self) -> Callable[[Turn], None]:
        """What it does."""
        module, _, name = self.home.partition(":")
        found: Callable[[Turn], None] = getattr(import_module(f".{module}", __package__), name)
        return found

    def level(self, config: OptimizerConfig) -> Toggle:
        """How far it goes; OFF when it does not run."""
        held = getattr(config, self.field)
        if self.field == "disable_model_pruning":
            return Toggle.OFF if held else Toggle.ON
        if self.field == "memory_optimization":
            wanted = held not in (MemoryMode.DEFAULT_MEM_OPT, MemoryMode.NO_MEM_OPT)
            held = (
                Toggle.ON if wanted else Toggle.DEFAULT if held == MemoryMode.DEFAULT_MEM_OPT else Toggle.OFF
            )
        elif self.field == "auto_parallel":
            held = Toggle.ON if held.enable else Toggle.OFF
        if held == Toggle.DEFAULT:
            return Toggle.DEFAULT if self.is_on_by_default else Toggle.OFF
        return Toggle(held)


# Source: TensorFlow core/grappler/optimizers/meta_optimizer.cc, InitializeOptimizers.
OPTIMIZERS = (
    Optimizer("pruning", "model_pruner", "disable_model_pruning", "pruning:prune"),
    Optimizer(
        "implementation_selector",
        "implementation_selector",
        "implementation_selector",
        "implementation_selector:select_implementations",
    ),
    Optimizer("function", "function_optimizer", "function_optimization", "function:simplify_calls"),
    # In TensorFlow a part of function, for what is marked.
    Optimizer(
        "lower_functional_ops",
        "lower_functional_ops",
        "lower_functional_ops",
        "lower_functional_ops:lower_functional_ops",
        is_on_by_default=False,
    ),
    Optimizer(
        "common_subgraph_elimination",
        "common_subgraph_elimination",
        "common_subgraph_elimination",
        "common_subgraph:share_equal_nodes",
    ),
    Optimizer(
        "debug_stripper", "debug_stripper", "debug_stripper", "debug_stripper:strip", is_on_by_default=False
    ),
    Optimizer("constfold", "constant_folding", "constant_folding", "constant_folding:fold"),
    Optimizer("shape", "shape_optimizer", "shape_optimization", "shape:simplify_shapes"),
    Optimizer(
        "auto_mixed_precision",
        "auto_mixed_precision",
        "auto_mixed_precision",
        "mixed_precision.register:narrow_for_cuda",
        is_on_by_default=False,
        runs_once=True,
    ),
    Optimizer(
        "auto_mixed_precision_onednn_bfloat16",
        "auto_mixed_precision_onednn_bfloat16",
        "auto_mixed_precision_onednn_bfloat16",
        "mixed_precision.register:narrow_for_onednn",
        is_on_by_default=False,
        runs_once=True,
    ),
    Optimizer(
        "auto_mixed_precision_mkl",
        "auto_mixed_precision_mkl",
        "auto_mixed_precision_mkl",
        "mixed_precision.register:narrow_for_onednn",
        is_on_by_default=False,
        runs_once=True,
    ),
    Optimizer(
        "auto_mixed_precision_cpu",
        "auto_mixed_precision_cpu",
        "auto_mixed_precision_cpu",
        "mixed_precision.register:emulate_half",
        is_on_by_default=False,
        runs_once=True,
    ),
    Optimizer(
        "pin_to_host",
        "pin_to_host_optimizer",
        "pin_to_host_optimization",
        "pin_to_host:pin_to_host",
        is_on_by_default=False,
    ),
    Optimizer(
        "arithmetic", "arithmetic_optimizer", "arithmetic_optimization", "arithmetic.register:run_stages"
    ),
    Optimizer(
        "layout",
        "generic_layout_optimizer",
        "layout_optimizer",
        "layout.register:convert_layouts",
        runs_once=True,
    ),
    Optimizer("remap", "remapper", "remapping", "remapper.register:fuse"),
    Optimizer("loop", "loop_optimizer", "loop_optimization", "loop:simplify_loops", runs_once=True),
    Optimizer("dependency", "dependency_optimizer", "dependency_optimization", "dependency:simplify"),
    Optimizer(
        "memory", "memory_optimizer", "memory_optimization", "memory.register:save_memory", runs_once=True
    ),
    Optimizer(
        "autoparallel",
        "auto_parallel",
        "auto_parallel",
        "auto_parallel:replicate",
        is_on_by_default=False,
        runs_once=True,
    ),
    Optimizer(
        "scoped_allocator",
        "scoped_allocator_optimizer",
        "scoped_allocator_optimization",
        "scoped_allocator:allocate_together",
        is_on_by_default=False,
    ),
)


def optimizer(name: str) -> Optimizer | None:
    """The optimizer of that name, or of that name of TensorFlow's class; None when there is none."""
    return next((each for each in OPTIMIZERS if name in (each.name, each.class_name)), None)
