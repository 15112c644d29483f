"""`python -m numlite.packs build`: compiles the packs that wheels carry, for any machine, on this one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..kernels.compiled.driver.pack_builder import PACKED, build_pack, write_index
from ..kernels.compiled.driver.packs import PACKAGE_FOLDER
from ..kernels.compiled.language.targets import TARGETS


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m numlite.packs", description=__doc__)
    commands = parser.add_subparsers(required=True)
    building = commands.add_parser(
        "build",
        help="compile packs and write index.json beside them; what is compiled already is not compiled again",
    )
    everything = [name for names in PACKED.values() for name in names]
    building.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: {' '.join(everything)}")
    building.add_argument("--out", default=PACKAGE_FOLDER, help="the folder (default: the package's own)")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.targets) - set(TARGETS))
    if unknown:
        parser.error(f"TARGET: must be one of {', '.join(TARGETS)}, got {', '.join(unknown)}")
    for name in given.targets or everything:
        path, nbytes = build_pack(TARGETS[name], given.out)
        print(f"{path}: {nbytes:,} bytes", flush=True)
    for path in write_index(given.out):
        print(f"{path}: removed, it was of other sources", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
