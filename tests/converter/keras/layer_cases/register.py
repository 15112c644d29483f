"""All cases of layers."""

from __future__ import annotations

from .arrangements import merging, normalizations, reshaping
from .case import Case
from .further_operations import further_operations
from .measuring_operations import measuring_operations
from .preprocessing import preprocessing, texts
from .sequences import attentions, recurrent
from .units import activations, dense
from .whole_models import models, more_operations, operations
from .windows import convolutions, locally_connected, pooling

FAMILIES = (
    *(dense, activations, convolutions, locally_connected, pooling, normalizations, merging, reshaping),
    *(recurrent, attentions, preprocessing, texts, operations, models),
    *(more_operations, further_operations, measuring_operations),
)


def cases() -> list[Case]:
    """All cases; names are given once."""
    found = [case for family in FAMILIES for case in family()]
    assert len({case.name for case in found}) == len(found)
    return found
