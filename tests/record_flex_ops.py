"""Makes flex_ops.txt: `python tests/record_flex_ops.py flex_allowlist.json`.

The JSON file lists the ops of LiteRT's allowlisted_flex_ops.cc by kind.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from numlite.converter.lowering.flex import ALLOWLIST_FILE


def main(source: str) -> None:
    kinds = json.loads(Path(source).read_text())
    names = {name for kind, ops in kinds.items() if kind.endswith("_ops") for name in ops}
    ALLOWLIST_FILE.write_text("\n".join(sorted(names)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
