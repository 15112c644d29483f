"""The transforms by name, in the order in which a graph is usually put through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..ir.module import Function, Graph, Module
from ..transforms.bodies import bodies
from ..transforms.const_dedupe_hoist import dedupe_and_hoist_constants
from ..transforms.constant_folding import fold_constants
from ..transforms.default_attrs import add_default_attrs, strip_default_attrs
from ..transforms.equal_nodes import common_subexpressions, prune_unused
from ..transforms.graph_to_func import lift_graph_to_func
from ..transforms.remapper import remap
from ..transforms.toposort import toposort
from ..transforms.unused_functions import drop_unused_functions, privatize
from .cf_sink import sink_into_branches
from .consolidate_attrs import consolidate_attrs
from .func_to_graph import lower_func_to_graph
from .functional_to_region import functional_to_region
from .name_compress import compress_names
from .passthrough_iter_args import eliminate_passthrough_iter_args
from .prepare_attrs import drop_output_shapes, lift_legacy_calls, prepare_attrs
from .region_to_functional import region_to_functional
from .shape_inference import infer_shapes


@dataclass(frozen=True)
class Transform:
    """A named change of a module; options are keywords of run, whose defaults are the usual."""

    name: str
    run: Callable[..., None]


def _of_bodies(change: Callable[[Graph | Function], None]) -> Callable[[Module], None]:
    """A change of one graph or function, made of all."""

    def run(module: Module) -> None:
        for body in bodies(module):
            change(body)

    return run


# Named as TensorFlow's tool names them.
TRANSFORMS = (
    Transform("tfg-lift-legacy-call", lift_legacy_calls),
    Transform("symbol-privatize", privatize),
    Transform("symbol-dce", drop_unused_functions),
    Transform("tfg-drop-unregistered-output-shapes", drop_output_shapes),
    Transform("tfg-consolidate-attrs", consolidate_attrs),
    Transform("tfg-lift-graph-to-func", lift_graph_to_func),
    Transform("tfg-add-default-attrs", _of_bodies(add_default_attrs)),
    Transform("tfg-shape-inference", infer_shapes),
    Transform("tfg-functional-to-region", functional_to_region),
    Transform("tfg-constant-folding", fold_constants),
    Transform("tfg-eliminate-passthrough-iter-args", _of_bodies(eliminate_passthrough_iter_args)),
    Transform("canonicalize", _of_bodies(prune_unused)),
    Transform("tfg-cse", _of_bodies(common_subexpressions)),
    Transform("tfg-cf-sink", _of_bodies(sink_into_branches)),
    Transform("tfg-remapper", remap),
    Transform("tfg-dedupe-hoist-constant", dedupe_and_hoist_constants),
    Transform("tfg-region-to-functional", region_to_functional),
    Transform("tfg-strip-default-attrs", _of_bodies(strip_default_attrs)),
    Transform("tfg-toposort", _of_bodies(toposort)),
    Transform("tfg-name-compress", _of_bodies(compress_names)),
    Transform("tfg-lower-func-to-graph", lower_func_to_graph),
    Transform("tfg-prepare-attrs-export", prepare_attrs),
)


def transform(name: str) -> Transform:
    """The transform of that name; KeyError when there is none."""
    return {transform.name: transform for transform in TRANSFORMS}[name]
