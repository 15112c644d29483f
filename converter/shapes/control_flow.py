"""Control flow: switches, and calls, whose nodes say their results' shapes."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction


def switch(c: ShapeContext) -> Results:
    return [c.shape_of(0)] * max(len(c.given), 1)


def called(c: ShapeContext) -> Results:
    """If, Case, While: as `output_shapes` says, when it says something of all results."""
    if "output_shapes" not in c.attributes:
        return [None] * len(c.given)
    shapes = c.shapes("output_shapes")
    return shapes if len(shapes) == len(c.given) else [None] * len(c.given)


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Switch", "RefSwitch", "_SwitchN"), switch),
    **dict.fromkeys((*("If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile"),), called),
}
