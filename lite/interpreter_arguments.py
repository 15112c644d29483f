"""What the arguments of an Interpreter must be, and the errors that say what was meant."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .context import Numerics
from .model import Model
from .op_resolver import OpResolver
from .op_resolver_type import OpResolverType
from .settings import no_place

if TYPE_CHECKING:
    from .private_file import CodePlace


def numerics_of(resolver_type: object) -> Numerics:
    """The arithmetic of an OpResolverType, or of an OpResolver; ValueError for anything else."""
    if isinstance(resolver_type, OpResolver):
        return Numerics.DEFAULT
    if not isinstance(resolver_type, OpResolverType):
        raise ValueError(f"Unrecognized passed in op resolver type: {resolver_type}")
    return Numerics.REFERENCE if resolver_type.is_reference else Numerics.DEFAULT


def warn_of_kept_tensors(numerics: Numerics) -> None:
    """Warn who makes an interpreter of the default numerics that every tensor is kept, as LiteRT does."""
    if numerics is Numerics.DEFAULT:
        warnings.warn(
            "Warning: Enabling `experimental_preserve_all_tensors` with the BUILTIN or AUTO op resolver is "
            "intended for debugging purposes only: every intermediate tensor keeps memory of its own.",
            stacklevel=3,
        )


def opened_model(
    path: str | os.PathLike[str] | None,
    content: bytes | bytearray | memoryview | Model | None,
    code_place: Callable[[], CodePlace | None] = no_place,
) -> Model:
    """The model at a path, which the cache at code_place may know, or of this content."""
    if path and content:
        raise ValueError("Can't both provide `model_path` and `model_content`")
    if path:
        _check_path(path)
        return Model.from_path(path, code_place())
    if isinstance(content, Model):
        return content
    if content:
        if isinstance(content, str | os.PathLike):
            raise TypeError(
                f"model_content: must be a model's bytes, got the {type(content).__name__} "
                f"{str(content)[:80]!r}: a path is given as Interpreter(model_path=...)"
            )
        return Model(content)
    raise ValueError("`model_path` or `model_content` must be specified.")


def _check_path(path: object) -> None:
    if isinstance(path, bytes | bytearray | memoryview):
        data = bytes(path)
        if data[4:8] == b"TFL3" or b"\0" in data or not isinstance(path, bytes):
            raise ValueError(
                f"model_path: must be the path of a file, got {len(data):,} bytes: a model's content is "
                "given as Interpreter(model_content=...)"
            )
    elif not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"model_path: must be the path of a file (expected str, bytes or os.PathLike object, not "
            f"{type(path).__name__})"
        )


def check_num_threads(num_threads: object) -> None:
    if num_threads is None:
        return
    if not isinstance(num_threads, int):
        raise ValueError("type of num_threads should be int")
    if num_threads < 1:
        raise ValueError("num_threads should >= 1")


def listed_delegates(delegates: object) -> list[Any]:
    """The delegates as a list; TypeError for one that is not in a list."""
    if delegates is None:
        return []
    if isinstance(delegates, str | bytes) or not isinstance(delegates, Iterable):
        raise TypeError(
            f"experimental_delegates: must be a list of delegates, got {delegates!r}: put it in a list"
        )
    return list(delegates)


def listed_operators(registerers: object) -> list[Any]:
    """The (name, operator) pairs as a list; TypeError for one that is not in a list."""
    if registerers is None:
        return []
    if isinstance(registerers, str) or not isinstance(registerers, Iterable) or _is_pair(registerers):
        raise TypeError(
            f"custom_op_registerers: must be a list of (name, operator), got {registerers!r:.80}: put it "
            "in a list"
        )
    return list(registerers)


def _is_pair(registerers: object) -> bool:
    """Whether it is one (name, operator), which was to be in a list."""
    if not isinstance(registerers, tuple) or len(registerers) != 2:
        return False
    return isinstance(registerers[0], str) and not isinstance(registerers[1], str | tuple)
