"""How many columns a panel of packed weights has, by the target.

It stands beside the kernels: what these import from elsewhere counts by its value in the digests of their
sources, which are the same for all targets.
"""

from __future__ import annotations

from .target import target

# Packed weights are panels of PANEL_COLUMNS output channels; the last has NARROW_COLUMNS where that is
# enough. With AVX2 a panel is what a tile of rows takes at a time, so that it is read as one stream: of
# wider ones every other line would be.
PANEL_COLUMNS, NARROW_COLUMNS = 16 if target().vector_bytes == 32 else 32, 16
