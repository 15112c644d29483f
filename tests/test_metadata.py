"""numlite.metadata: what models say of themselves, read, changed, written; damage ends in an error."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import numlite
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite import metadata
from numlite.lite import associated_files
from numlite.lite.errors import ModelError
from numlite.lite.model import Model
from numlite.schema import model_metadata as schema
from numlite.schema import tflite
from numlite.schema.verifier import verify_metadata

from . import small_models

MODEL = small_models.chain()


def described() -> metadata.Metadata:
    """Every table of the format, and two files."""
    file = schema.AssociatedFileT(
        name="labels.txt", description="cats", type=schema.AssociatedFileType.TENSOR_AXIS_LABELS, locale="en"
    )
    units = [
        schema.NormalizationOptionsT(mean=[1.0, 2.0], std=[3.0, 4.0]),
        schema.ScoreCalibrationOptionsT(score_transformation=2, default_score=0.5),
        schema.ScoreThresholdingOptionsT(global_score_threshold=0.25),
        schema.BertTokenizerOptionsT(vocab_file=[schema.AssociatedFileT(name="vocab.txt", type=5)]),
        schema.SentencePieceTokenizerOptionsT(sentencePiece_model=[], vocab_file=[file]),
        schema.RegexTokenizerOptionsT(delim_regex_pattern=r"\W+"),
    ]
    image = schema.ImagePropertiesT(color_space=1, default_size=schema.ImageSizeT(width=4, height=1))
    x = schema.TensorMetadataT(
        name="image",
        description="what is seen",
        dimension_names=["batch", "", "größe"],
        content=schema.ContentT(content_properties=image, range=schema.ValueRangeT(min=1, max=2)),
        process_units=[schema.ProcessUnitT(options=unit) for unit in units],
        stats=schema.StatsT(max=[1.0], min=[-1.0]),
    )
    y = schema.TensorMetadataT(name="cat", associated_files=[file], process_units=x.process_units)
    main = schema.SubGraphMetadataT(
        input_tensor_metadata=[x],
        output_tensor_metadata=[y],
        input_tensor_groups=[schema.TensorGroupT(name="g", tensor_names=["a", "b"])],
        custom_metadata=[schema.CustomMetadataT(name="own", data=b"\0\1\2")],
    )
    table = schema.ModelMetadataT(name="Cats", author="me", subgraph_metadata=[main])
    return metadata.Metadata(table, {"labels.txt": b"cat\nno cat\n", "vocab.txt": "ä".encode()})


def test_what_is_written_is_read() -> None:
    given = described()
    again = metadata.read(metadata.with_metadata(MODEL, given))
    assert again.to_json() == given.to_json() and again.files == given.files
    x = again.inputs[0]
    assert x.dimension_names == ("batch", "", "größe")
    assert (x.content.content_properties.default_size.width, x.content.range.max) == (4, 2)
    assert again.labels() == again.labels(0, "en") == ["cat", "no cat"] and again.labels(0, "de") is None
    assert again.score_threshold() == 0.25 and again.score_threshold(1) is None
    mean, std = again.normalization() or ((), ())
    assert mean.tolist() == [1, 2] and std.tolist() == [3, 4] and again.normalization(1) is None
    assert bytes(again.model.subgraph_metadata[0].custom_metadata[0].data) == b"\0\1\2"


def test_the_model_stays_as_it_is() -> None:
    found = metadata.with_metadata(MODEL, described())
    assert found[4:8] == MODEL[4:8]
    before, after = (Model(content).root for content in (MODEL, found))
    assert repr(tflite.unpack(before.subgraphs[0])) == repr(tflite.unpack(after.subgraphs[0]))
    x = np.array([[-1, 2, -3, 4]], np.float32)
    runners = [numlite.Interpreter(model_content=m).get_signature_runner() for m in (MODEL, found)]
    assert runners[0](x=x)["y"].tobytes() == runners[1](x=x)["y"].tobytes()


def test_what_was_not_changed_is_kept_byte_for_byte() -> None:
    """Whoever wrote it: here with a vtable of its own for each table."""
    odd = schema.pack(described().model) + bytes(24)
    with_odd = metadata.with_metadata(MODEL, metadata.Metadata(schema.unpack(schema.read(odd))))
    root = tflite.unpack(Model(with_odd).root)
    root.buffers[root.metadata[0].buffer].data = odd
    content = tflite.pack(root)
    found = metadata.read(content)
    assert Model(metadata.with_metadata(content, found)).metadata()[metadata.NAME] == odd
    found.model.author = "you"
    changed = Model(metadata.with_metadata(content, found)).metadata()
    assert list(changed) == [metadata.NAME] and changed[metadata.NAME] != odd


def test_a_model_with_nothing_changed_is_the_same_file(tmp_path: Path) -> None:
    """Also what lies behind it: an archive of another writer, with its dates and compression."""
    plain = metadata.with_metadata(MODEL, metadata.Metadata(described().model))
    model = archive({"labels.txt": b"cat\n" * 99}, plain, compression=zipfile.ZIP_DEFLATED)
    path = tmp_path / "m.tflite"
    path.write_bytes(model)
    found = metadata.read(path)
    metadata.write(path, found, path)
    assert path.read_bytes() == model
    found.files["labels.txt"] = b"dog\n"
    metadata.write(path, found, path)
    assert path.read_bytes() != model and metadata.read(path).files == {"labels.txt": b"dog\n"}


def test_real_models_are_the_same_files(model_path: Path) -> None:
    """Those that have metadata have it from other writers, with an archive of labels."""
    content = model_path.read_bytes()
    found = metadata.read(content)
    again = metadata.with_metadata(content, found)
    if found.is_given:
        assert again == content and len(found.labels() or []) == 1001
    else:
        assert metadata.read(again).is_given


def of_subgraph(**fields: object) -> schema.ModelMetadataT:
    return schema.ModelMetadataT(subgraph_metadata=[schema.SubGraphMetadataT(**fields)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "table, version",
    (
        (schema.ModelMetadataT(name="a"), "1.0.0"),
        (schema.ModelMetadataT(associated_files=[schema.AssociatedFileT(type=5)]), "1.0.1"),
        (schema.ModelMetadataT(associated_files=[schema.AssociatedFileT(type=6)]), "1.4.0"),
        (schema.ModelMetadataT(associated_files=[schema.AssociatedFileT(version="2")]), "1.4.1"),
        (
            schema.ModelMetadataT(subgraph_metadata=[schema.SubGraphMetadataT(input_process_units=[])]),
            "1.1.0",
        ),
        (described().model, "1.5.0"),
    ),
)
def test_the_least_version_of_readers(table: schema.ModelMetadataT, version: str) -> None:
    found = metadata.read(metadata.with_metadata(MODEL, metadata.Metadata(table)))
    assert found.model.min_parser_version == version


def test_changes() -> None:
    found = metadata.read(MODEL)
    assert not found.is_given and found.labels() is None and found.normalization() is None
    found.set_labels(["a", "b"], name="old.txt")
    found.set_labels(["c", "d é"])
    found.set_normalization(127.5, [1, 2])
    found.set_normalization(0, 255)
    found.set_score_threshold(0.5)
    again = metadata.read(metadata.with_metadata(MODEL, found))
    assert again.labels() == ["c", "d é"] and list(again.files) == ["labels.txt"]
    assert [array.tolist() for array in again.normalization() or ()] == [[0], [255]]
    assert len(again.inputs[0].process_units or []) == 1 and again.score_threshold() == 0.5


@pytest.mark.parametrize("labels", ("cat", ["a\nb"]))
def test_labels_are_lines(labels: object) -> None:
    with pytest.raises(ValueError, match="labels: must be a list of single lines"):
        metadata.Metadata().set_labels(labels)  # type: ignore[arg-type]


def test_what_the_model_does_not_have_is_refused() -> None:
    found = metadata.read(MODEL)
    found.set_labels(["a"], output=1)
    with pytest.raises(ValueError, match="describes 2 outputs, the model has 1"):
        metadata.with_metadata(MODEL, found)
    found.model.subgraph_metadata = [schema.SubGraphMetadataT(), schema.SubGraphMetadataT()]
    with pytest.raises(ValueError, match="describes subgraph 1, the model has 1"):
        metadata.with_metadata(MODEL, found)


def test_labels_whose_file_is_missing() -> None:
    found = described()
    del found.files["labels.txt"]
    with pytest.raises(
        ModelError, match=r"the file 'labels.txt' must be in the model, which has \['vocab.txt'\]"
    ):
        found.labels()


def test_buffers_behind_the_model_come_along(tmp_path: Path) -> None:
    """As in models beyond 2 GB: an offset in the file in the place of data."""
    root = tflite.unpack(Model(small_models.chain()).root)
    values = np.arange(4, dtype=np.float32)
    graph = root.subgraphs[0]
    root.buffers.append(tflite.BufferT(offset=1 << 20, size=values.nbytes))
    graph.tensors.append(tflite.TensorT(shape=[4], buffer=len(root.buffers) - 1, name="constant"))
    size = len(tflite.pack(root))
    root.buffers[-1].offset = size
    content = tflite.pack(root) + values.tobytes()
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    metadata.write(path, described(), path)
    again = Model.from_path(path)
    place = len(again.root.buffers) - 2
    held = again.buffer(place)
    assert held is not None and held.tobytes() == values.tobytes()
    assert metadata.read(path).labels() == ["cat", "no cat"]


def archive(entries: dict[str, bytes], model: bytes = MODEL, **options: object) -> bytes:
    out = io.BytesIO(model)
    with zipfile.ZipFile(out, "a", **options) as file:  # type: ignore[arg-type]
        for name, content in entries.items():
            file.writestr(name, content)
    return out.getvalue()


def test_archives_of_other_writers() -> None:
    content = archive({"a.txt": b"a" * 1000, "folder/b": b""}, compression=zipfile.ZIP_DEFLATED)
    assert metadata.read(content).files == {"a.txt": b"a" * 1000, "folder/b": b""}


@pytest.mark.parametrize(
    "size, why", ((2, "'a' must have 2 bytes"), (0xF0000000, "must fit into memory, got 4,0"))
)
def test_archives_that_say_more_than_they_hold(size: int, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(associated_files, "available_bytes", lambda: 1 << 30)
    content = bytearray(archive({"a": b"a"}))
    at = content.rindex(b"PK\x01\x02") + 24
    content[at : at + 4] = size.to_bytes(4, "little")
    with pytest.raises(ModelError, match=f"associated files: {why}"):
        metadata.read(bytes(content))


@pytest.mark.parametrize("seed", range(60))
def test_damaged_metadata_ends_in_an_error(seed: int) -> None:
    random = np.random.default_rng(seed)
    packed = bytearray(schema.pack(described().model))
    for at in random.integers(0, len(packed), 1 + seed % 4):
        packed[at] = random.integers(256)
    try:
        verify_metadata(bytes(packed))
    except ModelError as error:
        assert str(error).startswith("metadata: ")
        return
    repr(schema.unpack(schema.read(bytes(packed))))  # what is accepted can be read


@settings(max_examples=60)
@given(st.binary(max_size=200), st.integers(0, 2000))
def test_damaged_archives_end_in_an_error(noise: bytes, at: int) -> None:
    content = bytearray(archive({"a.txt": b"some text", "b": bytes(50)}, compression=zipfile.ZIP_DEFLATED))
    at = len(MODEL) + at % (len(content) - len(MODEL))
    content[at : at + len(noise)] = noise
    try:
        metadata.read(bytes(content))
    except ModelError as error:
        assert "associated files" in str(error)


def test_json_names_enums_and_files() -> None:
    text = described().to_json()
    for expected in ('"TENSOR_AXIS_LABELS"', '"RGB"', '"ImageProperties"', '"größe"', '"labels.txt": 11'):
        assert expected in text
    assert "content_properties_type" not in text


def test_the_documented_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "metadata.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("model.tflite").write_bytes(MODEL)
    names: dict[str, metadata.Metadata] = {}
    exec(program, names)
    assert names["again"].labels() == ["cat", "dog"] and names["again"].model.author == "me"
