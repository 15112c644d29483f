"""Where models and corpora are that tests read: NUMLITE_SHARED, else beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(os.environ.get("NUMLITE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
