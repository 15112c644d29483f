"""Metadata in which a model says how it was quantized."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema import tflite
from .model_editor import ModelEditor
from .weight_rewrite import Outcome

# Delegates may compute in float16 and sum in float32. Source: TensorFlow 2.21, on float16 weights.
REDUCED_PRECISION = "reduced_precision_support", b"fp16accfp32"
# Ranges came from random numbers: the model is for measuring time and size alone.
RANDOM_CALIBRATION = "numlite_calibration", b"random"


def note_float16(editor: ModelEditor, outcomes: Sequence[Outcome], widened: bool) -> None:
    """Say what float16 weights allow where there are some, and no longer where they were widened."""
    if any(outcome.scheme is not None and outcome.scheme.is_float16 for outcome in outcomes):
        set_note(editor, *REDUCED_PRECISION)
    elif widened:
        drop_note(editor, REDUCED_PRECISION[0])


def set_note(editor: ModelEditor, name: str, content: bytes) -> None:
    """Write an entry of metadata, instead of one of that name that was there."""
    drop_note(editor, name)
    entry = tflite.MetadataT(name=name, buffer=editor.buffer(np.frombuffer(content, np.uint8)))
    editor.root.metadata = [entry, *(editor.root.metadata or [])]


def drop_note(editor: ModelEditor, name: str) -> None:
    editor.root.metadata = [entry for entry in editor.root.metadata or [] if entry.name != name]
