"""Feeds damaged files to numlite, in child processes: no crash, no hang, no strange error.

Tensors and files lie between pages that cannot be touched, so that a stray read or write is a crash.

    python tests/fuzz_models.py                              # 10 000 mutants of models
    python tests/fuzz_models.py --count 500 a.tflite folder/
    python tests/fuzz_models.py --kind strings --seconds 300
    python tests/fuzz_models.py --kind models --show 4711    # what one mutant does, in this process
    nice python tests/fuzz_models.py --kind all --seconds 3600 --first $(date +%s)000 --keep found  # a night

Every mutant has a number, and the same number is the same mutant for as long as the seeds are the same.
Memory: a process seems to have 512 MiB left, and must stay under 2 GiB in all.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fuzzing.caches import CACHES
from tests.fuzzing.checkpoints import CHECKPOINTS
from tests.fuzzing.compiled_models import COMPILED
from tests.fuzzing.descriptions import DESCRIPTIONS
from tests.fuzzing.driver import main
from tests.fuzzing.flex_models import FLEX
from tests.fuzzing.graphs import GRAPH_TEXTS, GRAPHS, TFG
from tests.fuzzing.keras_files import KERAS
from tests.fuzzing.models import MODELS
from tests.fuzzing.onnx_models import ONNX
from tests.fuzzing.recipes import RECIPES
from tests.fuzzing.saved_models import SAVED
from tests.fuzzing.small_files import ARRAYS, METADATA, SELECTIONS
from tests.fuzzing.stablehlo_programs import STABLEHLO, STABLEHLO_TEXTS
from tests.fuzzing.string_models import STRINGS

_MODELS = (MODELS, STRINGS, FLEX, DESCRIPTIONS, COMPILED)
_GRAPHS = (GRAPHS, GRAPH_TEXTS, TFG, SAVED, CHECKPOINTS, ONNX, STABLEHLO, STABLEHLO_TEXTS, KERAS)
KINDS = {kind.name: kind for kind in (*_MODELS, *_GRAPHS, ARRAYS, SELECTIONS, RECIPES, METADATA, CACHES)}

if __name__ == "__main__":
    sys.exit(main(__file__, KINDS))
