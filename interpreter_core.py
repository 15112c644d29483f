"""What an Interpreter runs: a core that is built from its arguments, or the start of a prepared model."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from .kernels.compiled.driver.library import Library
from .lite.environment import debug_level, kept_bytes
from .lite.op_resolver_type import OpResolverType

if TYPE_CHECKING:
    import mmap
    from collections.abc import Mapping, Sequence

    from .kernels.register import BuiltinOpResolver as OpResolver
    from .lite.delegate import Delegate
    from .lite.interpreter import Interpreter as CoreInterpreter
    from .lite.kernel_call import KernelLibrary
    from .lite.model import Model
    from .lite.prepared_start import PreparedStart
    from .lite.turn import Turn

_IS_SHOWN = debug_level() > 0  # what a start does is not
# The choices of Settings with which models are run as most are.
USUAL = {
    "preserve_all_tensors": False,
    "compress_zero_points": False,
    "delegate_clustering": True,
    "delegate_node_fusion": True,
    "force_delegate_node_profiling": False,
    "trust_compiled_code": False,
}


def usual_start(
    path: object, num_threads: object, resolver_type: object, library: KernelLibrary
) -> PreparedStart | None:
    """The start of a model that is run as most are, on one thread.

    None where none is kept, where plans are to be shown, and for arguments that are not the usual.
    """
    threads_are_usual = num_threads is None or (type(num_threads) is int and num_threads == 1)
    if not isinstance(path, str | os.PathLike) or not isinstance(resolver_type, OpResolverType):
        return None
    if not threads_are_usual or type(library) is not Library or _IS_SHOWN or not kept_bytes():
        return None
    place = Library.place()
    if place is None:
        return None
    from .lite.prepared_start import prepared_start  # where none is kept nothing of it is needed

    whole = partial(_whole_core, resolver_type, library)
    return prepared_start(path, place, resolver_type.is_reference, library, whole)


def _whole_core(
    resolver_type: OpResolverType,
    library: KernelLibrary,
    content: mmap.mmap,
    info: os.stat_result,
    turn: Turn,
) -> CoreInterpreter:
    """The core that the same arguments give without a start."""
    from .kernels.register import BuiltinOpResolver
    from .lite.interpreter import Interpreter as CoreInterpreter
    from .lite.interpreter_arguments import numerics_of
    from .lite.model import Model
    from .lite.settings import Settings

    settings = Settings(
        numerics_of(resolver_type), code_place=Library.place, find_delegate=_installed_delegate
    )
    return CoreInterpreter(Model.of_known(content, info), BuiltinOpResolver(), library, settings, turn)


def built_core(
    model_path: str | os.PathLike[str] | None,
    model_content: bytes | bytearray | memoryview | Model | None,
    resolver_type: OpResolverType | OpResolver,
    registerers: Sequence[Any],
    library: KernelLibrary,
    prepared_model: str | os.PathLike[str] | None,
    **choices: Any,
) -> tuple[CoreInterpreter, OpResolver]:
    """The core for an Interpreter's arguments, and what finds its operators; choices are those of Settings.

    Raises what making an Interpreter raises.
    """
    from .kernels.register import BuiltinOpResolver
    from .lite.interpreter import Interpreter as CoreInterpreter
    from .lite.interpreter_arguments import opened_model
    from .lite.settings import Settings, no_place
    from .lite.subgraph_builder import no_collection

    place = Library.place if kept_bytes() or prepared_model is not None else no_place
    with no_collection():
        model = opened_model(model_path, model_content, place)
    resolver = BuiltinOpResolver()
    if isinstance(resolver_type, BuiltinOpResolver):
        resolver = resolver_type.copy()  # custom operators below are this one's alone
    for registerer in registerers:
        from .lite.custom_op import register_custom_op

        register_custom_op(resolver, registerer)
    settings = Settings(
        prepared_model=None if prepared_model is None else os.fspath(prepared_model),
        code_place=place,
        find_delegate=_installed_delegate,
        **choices,
    )
    return CoreInterpreter(model, resolver, library, settings), resolver


def flex_delegate(resolver: OpResolver) -> Delegate:
    """What runs the TensorFlow ops that a model has."""
    from .lite.extras import needed_for

    with needed_for("models with TensorFlow ops"):
        from .delegates.flex import FlexDelegate

    return FlexDelegate(resolver.fallback_kernels())


def _installed_delegate(name: str, options: Mapping[str, str]) -> Delegate | None:
    from .delegates.loading import installed_delegate

    return installed_delegate(name, options)
