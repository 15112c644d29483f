"""Whether results agree without the activation that was fused: it hides how large the sums were.

Sums in another order, and XNNPACK's of halves, are apart by a part of their largest. Where a clamp leaves
small numbers alone these seem far apart; without it they are as near as the largest asks.
"""

from __future__ import annotations

from dataclasses import replace

from numlite import interpreter as numlite_api
from numlite.schema import tflite

from .entry import Entry, difference
from .litert_process import LiteRT, run
from .one_op import Trial

_OPTION = "fused_activation_function"


def agrees_unclamped(litert: LiteRT, trial: Trial, resolver: str, entry: Entry) -> bool:
    """Whether the model computes in floats, has an activation, and both give the same without it."""
    if "-> float" not in trial.told:  # the first operand may be a shape
        return False
    model = tflite.unpack(tflite.read(trial.content))
    clamped = [op.builtin_options for graph in model.subgraphs for op in graph.operators]
    clamped = [options for options in clamped if getattr(options, _OPTION, 0)]
    if not clamped:
        return False
    for options in clamped:
        setattr(options, _OPTION, tflite.ActivationFunctionType.NONE)
    plain = replace(trial, content=bytes(tflite.pack(model)))
    theirs = litert.run(plain, resolver)
    return bool(theirs.outputs) and not difference(entry, run(numlite_api, plain, resolver), theirs)
