"""Which ops of a graph or function would not convert, told before anyone converts it.

The names are those of tf.lite.experimental.authoring.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from .lite.errors import UnsupportedError
from .schema.shown import shown

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from .converter.converter import Converter
    from .converter.lite_graph import Failure
    from .converter.target_spec import TargetSpec

    Graph = Converter | Message | bytes | str | PathLike[str]


class CompatibilityError(UnsupportedError):
    """Ops of a graph would not convert; the message lists them."""


class CompatibilityWarning(UserWarning):
    """An op of a function would not convert."""


@dataclass(frozen=True)
class Compatibility:
    """What would not convert: each node with its op, the function it is of, why, and what would take it.

    True where nothing is in the way.
    """

    failures: tuple[Failure, ...]

    def __bool__(self) -> bool:
        return not self.failures

    def __str__(self) -> str:
        return "\n".join(self.log()) or "all ops convert"

    def log(self) -> list[str]:
        """One line for each op and reason, with its nodes and the setting that would take it."""
        return list(_lines(self.failures))


@overload
def compatible(
    target: None = None,
    converter_target_spec: TargetSpec | None = None,
    converter_allow_custom_ops: bool | None = None,
    raise_exception: bool = False,
) -> Callable[[Callable[..., object]], CompatibleFunction]: ...


@overload
def compatible(
    target: Graph,
    converter_target_spec: TargetSpec | None = None,
    converter_allow_custom_ops: bool | None = None,
    raise_exception: bool = False,
) -> Compatibility: ...


@overload
def compatible(
    target: Callable[..., object],
    converter_target_spec: TargetSpec | None = None,
    converter_allow_custom_ops: bool | None = None,
    raise_exception: bool = False,
) -> CompatibleFunction | Compatibility: ...


def compatible(
    target: object = None,
    converter_target_spec: TargetSpec | None = None,
    converter_allow_custom_ops: bool | None = None,
    raise_exception: bool = False,
) -> object:
    """Which ops would not convert to a model of the target spec; builtin operators only by default.

    target is one of
    - a GraphDef (a message, ours or TensorFlow's, its serialized form, or its file), the folder of a
      SavedModel, a Converter, or a concrete function of TensorFlow: gives a Compatibility. No
      model is made. A Converter's own settings stand where none are given;
    - a tf.function: gives a CompatibleFunction, which is called in its place;
    - None: gives a decorator for a tf.function (`@compatible(raise_exception=True)`).
    Raises CompatibilityError where raise_exception is set and ops are in the way, ModelError for a
    graph that is wrong, TypeError for another target.
    """
    check = _Check(converter_target_spec, converter_allow_custom_ops, raise_exception)
    if target is None:
        return lambda function: CompatibleFunction(function, check)
    if hasattr(target, "get_concrete_function"):
        return CompatibleFunction(target, check)
    found = check.find(_converter_of(target))
    check.refuse(found)
    return found


@dataclass(frozen=True)
class _Check:
    """The arguments of a check."""

    target_spec: TargetSpec | None
    allow_custom_ops: bool | None
    raise_exception: bool

    def find(self, converter: Converter) -> Compatibility:
        spec, custom = converter.target_spec, converter.allow_custom_ops
        try:
            if self.target_spec is not None:
                converter.target_spec = self.target_spec
            if self.allow_custom_ops is not None:
                converter.allow_custom_ops = self.allow_custom_ops
            return Compatibility(tuple(converter.failures()))
        finally:
            converter.target_spec, converter.allow_custom_ops = spec, custom

    def refuse(self, found: Compatibility) -> None:
        """CompatibilityError where one is asked for and ops are in the way."""
        if self.raise_exception and not found:
            raise CompatibilityError(str(found))


class CompatibleFunction:
    """A tf.function that is checked before its first call; a CompatibilityWarning tells of each op."""

    def __init__(self, function: Any, check: _Check) -> None:
        if not hasattr(function, "get_concrete_function"):
            raise TypeError(f"compatible: target must be a tf.function or a graph, got {function!r}")
        self._function = function
        self._check = check
        self._found: Compatibility | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function, which is checked when that has not been done."""
        if self._found is None:
            concrete = self.get_concrete_function(*arguments, **named)
            self._found = self._check.find(_converter_of(concrete))
            if not self._check.raise_exception:
                for line in self._found.log():
                    warnings.warn(line, CompatibilityWarning, stacklevel=2)
        self._check.refuse(self._found)
        return self._function(*arguments, **named)

    def get_concrete_function(self, *arguments: Any, **named: Any) -> Any:
        """TensorFlow's concrete function for such arguments."""
        return self._function.get_concrete_function(*arguments, **named)

    def get_compatibility_log(self) -> list[str]:
        """One line for each op that would not convert; RuntimeError before the first call."""
        if self._found is None:
            raise RuntimeError("the function must have been called, so that its ops are known")
        return self._found.log()


def _converter_of(target: Any) -> Converter:
    from google.protobuf.message import Message

    from .converter.converter import Converter

    if isinstance(target, Converter):
        return target
    if isinstance(target, str | PathLike) and Path(fspath(target)).is_dir():
        return Converter.from_saved_model(target)
    if isinstance(target, Message | bytes | str | PathLike):
        return Converter.from_graph_def(target)
    if hasattr(target, "structured_outputs"):
        return Converter.from_concrete_functions([target])
    raise TypeError(f"compatible: target must be a tf.function or a graph, got {target!r}")


def _lines(failures: tuple[Failure, ...]) -> Iterator[str]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for failure in failures:
        where = f"{failure.name!r} of function {failure.scope!r}" if failure.scope else repr(failure.name)
        groups.setdefault((failure.op, failure.reason, failure.setting), []).append(where)
    for (op, reason, setting), nodes in groups.items():
        what = f"{op}: {reason}" if reason else f"{op}: there is no builtin operator for it"
        taken = f"{setting} would take it" if setting else "no setting would take it"
        yield shown(f"{what} ({'nodes' if len(nodes) > 1 else 'node'} {', '.join(nodes)}); {taken}")
