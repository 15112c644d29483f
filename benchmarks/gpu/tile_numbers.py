"""The numbers of delegates/cuda/tiles.py, read off machine code for sm_90 without a GPU.

    python benchmarks/gpu/tile_numbers.py int8

For each tile of a type: registers of a thread, stack, shared memory, and the instructions of a warp that are
issued once and in each step of the main loop; of a 1x1 and of a 3x3 convolution.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from layers import Layer
from machine_code import layer_launches
from numlite.delegates.cuda.launch import ELEMENT_BYTES, Kernel
from numlite.delegates.cuda.tiles import TILES, Tile
from numlite.tests.delegates.cuda.machine_code import machine_code

_LAYERS = (Layer("conv", 14, 256, 256), Layer("conv", 14, 256, 256, 3))
_ELEMENTS = {"int8": "i8", "bfloat16": "bf16", "float16": "fp16", "tf32x3": "fp32", "tf32": "fp32"}


def _with_tile(kernel: Kernel, tile: Tile) -> Kernel:
    constants = dict(kernel.constants) | {"BM": tile.rows, "BN": tile.columns, "BK": tile.depth}
    return replace(kernel, constants=tuple(constants.items()), warps=tile.warps, stages=tile.stages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("mode", choices=_ELEMENTS)
    mode = parser.parse_args().mode
    for layer in _LAYERS:
        print(layer)
        launches = layer_launches(layer, 256, mode)
        kernel = next(launch.kernel for launch in launches if launch.kernel.function == "conv")
        for entry in TILES[ELEMENT_BYTES[_ELEMENTS[mode]]]:
            code = machine_code(_with_tile(kernel, entry.tile))
            once = len(code.listing) - len(code.loop)
            outputs = entry.tile.rows * entry.tile.columns // (32 * entry.tile.warps)
            print(
                f"    {tuple(entry.tile)} registers {code.registers} stack {code.stack} "
                f"shared {code.shared >> 10}K once {once} ({once / outputs:.1f} an output) "
                f"loop {len(code.loop)}; in the table {entry[1:]}"
            )


if __name__ == "__main__":
    main()
