"""`python -m numlite.packs build`: compiles the packs that wheels carry, for any machine, on this one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from ..kernels.compiled.driver.pack_builder import PACKED, build_pack, write_index
from ..kernels.compiled.driver.packs import PACKAGE_FOLDER
from ..kernels.compiled.language.targets import SYSTEMS, TARGETS


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m numlite.packs", description=__doc__)
    commands = parser.add_subparsers(required=True)
    building = commands.add_parser(
        "build",
        help="compile packs and write index.json beside them; what is compiled already is not compiled again",
    )
    everything = [name for arch in ("x86_64", "aarch64") for name in PACKED[arch]]
    building.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: {' '.join(everything)}")
    building.add_argument(
        "--system", choices=SYSTEMS, default="", help="for another system than Linux: nobody has run these"
    )
    building.add_argument("--out", help="the folder (default: the package's own, or one of the system in it)")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.targets) - set(TARGETS))
    everything = list(PACKED[given.system]) if given.system else everything
    out = given.out or os.path.join(PACKAGE_FOLDER, given.system)
    if unknown:
        parser.error(f"TARGET: must be one of {', '.join(TARGETS)}, got {', '.join(unknown)}")
    if given.system:
        arch, _ = SYSTEMS[given.system]
        foreign = [name for name in given.targets if TARGETS[name].arch != arch]
        if foreign:
            parser.error(f"--system {given.system}: TARGET must be of {arch}, got {foreign[0]}")
    for name in given.targets or everything:
        path, nbytes = build_pack(TARGETS[name], out, system=given.system)
        print(f"{path}: {nbytes:,} bytes", flush=True)
    for path in write_index(out):
        print(f"{path}: removed, it was of other sources", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
