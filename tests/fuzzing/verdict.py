"""Which errors are good answers to a damaged file: numlite's own, that are no bug in disguise."""

from __future__ import annotations

from numlite.kernels.fallback.status import OpError
from numlite.lite import errors

OURS = (
    errors.ModelError,
    errors.UnsupportedError,
    errors.PrepareError,
    errors.StateError,
    errors.InvokeError,
    errors.DelegateError,
    errors.TimedOutError,
)
# The interpreter's own refusals have LiteRT's types.
PLAIN = (ValueError, RuntimeError)
GOOD = frozenset(kind.__name__ for kind in (*OURS, *PLAIN, OpError))


def judge(error: Exception, runs_models: bool = True) -> str:
    """The error in one line, that begins with its type, or with what is wrong about it.

    Where models are only read and converted, Python's own types are none of numlite's.
    """
    text = " ".join(str(error).split())[:400]
    own = next((type for type in (OpError, *OURS) if isinstance(error, type)), type(error))
    kind = own.__name__
    if kind not in GOOD or (own in PLAIN and not runs_models):
        return f"foreign {kind}: {text}"
    if (bug := bug_behind(error)) is not None:
        return f"unclear {kind} from {type(bug).__name__}: {text}"
    return f"{kind}: {text}"


def bug_behind(error: BaseException) -> BaseException | None:
    """What a node raised that is no error of numlite's, where that was only wrapped."""
    cause = error.__cause__
    wrapped = isinstance(error, errors.InvokeError) or "could not be prepared (" in str(error)
    if wrapped and cause is not None and not isinstance(cause, OURS):
        return cause
    return None
