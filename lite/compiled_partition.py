"""The custom operators of compiled models: which delegate runs one, and how."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, cast

from ..schema.shown import shown, shown_name
from .delegate import Delegate, DelegateParams, PartitionKernel
from .delegation import Delegation
from .errors import ModelError, PrepareError, UnsupportedError
from .partition_program import METADATA_NAME, PartitionProgram, parse_compilations, unpack_program
from .registration import Registration

if TYPE_CHECKING:
    from .context import Context
    from .kernel_call import KernelCall
    from .node import Node
    from .runtime import Runtime
    from .subgraph import Subgraph
    from .tensor import Shape

_MOST_SHOWN = 3  # tensors that a message lists


class CompiledPartition:
    """What one such operator carries, and, once prepared, the kernel that runs it."""

    __slots__ = ("carried", "kernel")

    def __init__(self, carried: PartitionProgram) -> None:
        self.carried = carried
        self.kernel: PartitionKernel | None = None


def compiled_registration(custom_code: str) -> Registration:
    """Runs the operators that a delegate has compiled; the delegate is looked for when they are prepared."""
    return Registration(
        custom_code,
        _prepare,
        _invoke,
        init=_init,
        free=_free,
        reset_variables=_reset_variables,
    )


def _init(context: Context, node: Node) -> CompiledPartition:
    """ModelError for operators that are damaged, or are not of this model."""
    subgraph = cast("Subgraph", context)
    where = subgraph.where(node)
    try:
        carried = unpack_program(node.custom_options)
        _check_origin(subgraph.runtime, node, carried)
        _check_declared(subgraph, node, carried)
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from error
    if carried.side_effects:
        node.registration = copy(node.registration)
        node.registration.side_effects = True
    return CompiledPartition(carried)


def _check_origin(runtime: Runtime, node: Node, carried: PartitionProgram) -> None:
    compilation = carried.compilation
    if compilation.custom_code != node.registration.name:
        raise ModelError(
            f"compiled partition: its program must be of the delegate that its operator names, got "
            f"{compilation.delegate!r}"
        )
    known = parse_compilations(runtime.metadata().get(METADATA_NAME, b"[]"))
    if compilation not in known:
        digests = ", ".join(f"{entry.delegate!r} of {entry.source_digest[:12]}" for entry in known)
        raise ModelError(
            f"compiled partition: its program must be of a compilation in metadata {METADATA_NAME!r} "
            f"({digests or 'there is none'}), got {compilation.delegate!r} of "
            f"{compilation.source_digest[:12]}"
        )


def _check_declared(subgraph: Subgraph, node: Node, carried: PartitionProgram) -> None:
    """ModelError where the file says of a tensor another shape than the program was compiled for."""
    for what, tensors, compiled in (
        ("input", node.inputs, carried.input_shapes),
        ("output", node.outputs, carried.output_shapes),
    ):
        declared = tuple(subgraph.tensors[t].shape for t in tensors)
        if compiled is not None and declared != compiled:
            raise ModelError(
                f"compiled partition: {what} shapes must be declared as it was compiled for, "
                f"{_differences(subgraph, tensors, compiled)}; compile the model again"
            )


def _differences(context: Context, tensors: Sequence[int], compiled: Sequence[Shape]) -> str:
    """The shapes that differ, of many the first ones, and whose they are."""
    if len(tensors) != len(compiled):
        return f"of {len(compiled)} tensors, got {len(tensors)}"
    pairs = [(context.tensor(t), shape) for t, shape in zip(tensors, compiled, strict=True)]
    differ = [(tensor, shape) for tensor, shape in pairs if tensor.shape != shape]
    shown = differ[:_MOST_SHOWN]
    wanted, present = tuple(shape for _, shape in shown), tuple(tensor.shape for tensor, _ in shown)
    names = ", ".join(f"tensor {tensor.index} {shown_name(tensor.name)}" for tensor, _ in shown)
    more = f" and {len(differ) - len(shown)} more" if len(differ) > len(shown) else ""
    return f"{wanted}, got {present} ({names}{more})"


def _prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    partition = _partition(node)
    if partition.kernel is None:
        _load(cast("Subgraph", context), node, partition)
    kernel = partition.kernel
    assert kernel is not None
    _check_shapes(context, node, "input", node.inputs, partition.carried.input_shapes)
    calls = kernel.prepare(context, node)
    _check_shapes(context, node, "output", node.outputs, partition.carried.output_shapes)
    return calls


def _load(subgraph: Subgraph, node: Node, partition: CompiledPartition) -> None:
    delegate = find_delegate(subgraph.runtime, partition.carried)
    partition.kernel = delegate.load_partition(subgraph, node, partition.carried.program)
    node.delegate = delegate
    node.options = DelegateParams(delegate, (), node.inputs, node.outputs)
    if subgraph.delegation is None:
        subgraph.delegation = Delegation()  # it plans the copies out of the delegate's memory
    for t in node.outputs:
        subgraph.tensors[t].delegate = delegate


def find_delegate(runtime: Runtime, carried: PartitionProgram) -> Delegate:
    """The delegate that was handed in, of the right name or class, or else the installed one.

    A program is code that a file brings: it is given to a delegate that the caller has handed in, or,
    where the caller trusts the file, to the installed one that it names. UnsupportedError says what
    would run it.
    """
    wanted = carried.compilation
    for delegate in (*runtime.delegates, *runtime.offered_delegates):
        if not isinstance(delegate, Delegate):
            continue  # it is refused when it is applied
        if delegate.loaded_as == wanted.delegate or class_path(delegate) == wanted.class_path:
            return _of_right_version(delegate, carried)
    if not runtime.settings.trust_compiled_code:
        raise UnsupportedError(
            f"{_needs(carried)}: what a file brings runs only where the caller says so; hand the delegate "
            f"in, experimental_delegates=[load_delegate({wanted.delegate!r})], or open the model with "
            "trust_compiled_code=True (commands: --trust-compiled-code)"
        )
    try:
        found = runtime.settings.find_delegate(wanted.delegate, wanted.options)
    except (ValueError, RuntimeError) as error:
        raise UnsupportedError(f"{_needs(carried)}: {error}") from error
    if found is None:
        raise UnsupportedError(
            f"{_needs(carried)}: install a package that has it in its entry points numlite.delegates, or "
            f"hand it in: experimental_delegates=[load_delegate({wanted.delegate!r})]"
        )
    # One delegate runs all partitions, so that tensors can stay in its memory between them.
    runtime.offered_delegates.append(found)
    return _of_right_version(found, carried)


def _needs(carried: PartitionProgram) -> str:
    wanted = carried.compilation
    return (
        f"the operator was compiled for delegate {wanted.delegate!r}, version {shown(wanted.version)} "
        f"({shown(wanted.class_path)}), which is needed to run it"
    )


def _of_right_version(delegate: Delegate, carried: PartitionProgram) -> Delegate:
    wanted = carried.compilation
    if delegate.version != wanted.version:
        raise UnsupportedError(
            f"the operator was compiled by version {wanted.version} of delegate {wanted.delegate!r}, got "
            f"version {delegate.version}; compile the source model ({wanted.source_digest[:12]}...) again"
        )
    return delegate


def class_path(delegate: Delegate) -> str:
    """Where the delegate's class is defined, as `module:name`."""
    kind = type(delegate)
    return f"{kind.__module__}:{kind.__qualname__}"


def _check_shapes(
    context: Context,
    node: Node,
    what: str,
    tensors: Sequence[int],
    compiled: tuple[Shape, ...] | None,
) -> None:
    if compiled is None:
        return
    present = tuple(context.tensor(t).shape for t in tensors)
    if present != compiled:
        raise PrepareError(
            f"{shown(node.registration.name)}: {what} shapes must be those it was compiled for, "
            f"{_differences(context, tensors, compiled)}; compile the model for these shapes"
        )


def _partition(node: Node) -> CompiledPartition:
    partition = node.user_data
    assert isinstance(partition, CompiledPartition)
    return partition


def _invoke(context: Context, node: Node) -> None:
    kernel = _partition(node).kernel
    assert kernel is not None
    kernel.invoke(context, node)


def _reset_variables(context: Context, node: Node) -> None:
    # A kernel without state need not have the hook.
    reset = getattr(_partition(node).kernel, "reset_variables", None)
    if reset is not None:
        reset(context, node)


def _free(context: Context, node: Node) -> None:
    partition = node.user_data
    # A node whose init has failed, or that was never prepared, has no kernel.
    if isinstance(partition, CompiledPartition) and partition.kernel is not None:
        partition.kernel.free()
