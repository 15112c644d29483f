"""What metadata_peer.py has done in a Python with tflite-support.

python tests/metadata_peer_child.py write model.tflite out.tflite
python tests/metadata_peer_child.py read model.tflite
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import flatbuffers
from tflite_support import metadata
from tflite_support import metadata_schema_py_generated as schema


def write(model: str, out: str) -> None:
    """A copy of the model with a name, labels, a normalization and a threshold."""
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder) / "labels.txt"
        labels.write_text("cat\ndog\nemu")
        populator = metadata.MetadataPopulator.with_model_buffer(Path(model).read_bytes())
        populator.load_metadata_buffer(packed())
        populator.load_associated_files([str(labels)])
        populator.populate()
        Path(out).write_bytes(populator.get_model_buffer())


def packed() -> bytes:
    image, scores = schema.TensorMetadataT(), schema.TensorMetadataT()
    normalization = schema.NormalizationOptionsT()
    normalization.mean, normalization.std = [127.5], [64.0]
    image.processUnits = [unit(schema.ProcessUnitOptions.NormalizationOptions, normalization)]
    threshold = schema.ScoreThresholdingOptionsT()
    threshold.globalScoreThreshold = 0.25
    scores.processUnits = [unit(schema.ProcessUnitOptions.ScoreThresholdingOptions, threshold)]
    labels = schema.AssociatedFileT()
    labels.name, labels.type = "labels.txt", schema.AssociatedFileType.TENSOR_AXIS_LABELS
    scores.associatedFiles = [labels]
    graph, model = schema.SubGraphMetadataT(), schema.ModelMetadataT()
    graph.inputTensorMetadata, graph.outputTensorMetadata = [image], [scores]
    model.name, model.subgraphMetadata = "peer", [graph]
    builder = flatbuffers.Builder(0)
    builder.Finish(model.Pack(builder), metadata.MetadataPopulator.METADATA_FILE_IDENTIFIER)
    return bytes(builder.Output())


def unit(kind: int, options: object) -> schema.ProcessUnitT:
    made = schema.ProcessUnitT()
    made.optionsType, made.options = kind, options
    return made


def read(model: str) -> None:
    shown = metadata.MetadataDisplayer.with_model_file(model)
    names = shown.get_packed_associated_file_list()
    files = {name: shown.get_associated_file_buffer(name).decode() for name in names}
    print(json.dumps({"metadata": json.loads(shown.get_metadata_json()), "files": files}))


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
