"""Types of model_metadata.py. Generated from model_metadata.fbs by generate.py."""

from collections.abc import Sequence
from enum import IntEnum
from mmap import mmap

import numpy as np

from .classes import RawField, Schema
from .flatbuffer import Table, TableVector
from .objects import TableT

ENUMS: dict[str, dict[str, int]]
UNIONS: dict[str, tuple[str, ...]]
TABLES: dict[str, tuple[RawField, ...]]
SCHEMA: Schema
IDENTIFIER: bytes
ROOT: str

def read(buffer: bytes | bytearray | memoryview | mmap | np.ndarray) -> ModelMetadata: ...
def pack(model_metadata: ModelMetadataT) -> bytes: ...
def unpack(table: ModelMetadata) -> ModelMetadataT: ...

class AssociatedFileType(IntEnum):
    UNKNOWN = 0
    DESCRIPTIONS = 1
    TENSOR_AXIS_LABELS = 2
    TENSOR_VALUE_LABELS = 3
    TENSOR_AXIS_SCORE_CALIBRATION = 4
    VOCABULARY = 5
    SCANN_INDEX_FILE = 6

class ColorSpaceType(IntEnum):
    UNKNOWN = 0
    RGB = 1
    GRAYSCALE = 2

class BoundingBoxType(IntEnum):
    UNKNOWN = 0
    BOUNDARIES = 1
    UPPER_LEFT = 2
    CENTER = 3

class CoordinateType(IntEnum):
    RATIO = 0
    PIXEL = 1

class ScoreTransformationType(IntEnum):
    IDENTITY = 0
    LOG = 1
    INVERSE_LOGISTIC = 2

class ContentProperties(IntEnum):
    NONE = 0
    FeatureProperties = 1
    ImageProperties = 2
    BoundingBoxProperties = 3
    AudioProperties = 4

class ProcessUnitOptions(IntEnum):
    NONE = 0
    NormalizationOptions = 1
    ScoreCalibrationOptions = 2
    ScoreThresholdingOptions = 3
    BertTokenizerOptions = 4
    SentencePieceTokenizerOptions = 5
    RegexTokenizerOptions = 6

class AssociatedFile(Table):
    @property
    def name(self) -> str | None: ...
    @property
    def description(self) -> str | None: ...
    @property
    def type(self) -> int: ...
    @property
    def locale(self) -> str | None: ...
    @property
    def version(self) -> str | None: ...

class AssociatedFileT(TableT):
    name: str | None
    description: str | None
    type: int
    locale: str | None
    version: str | None
    def __init__(
        self,
        *,
        name: str | None = ...,
        description: str | None = ...,
        type: int = ...,
        locale: str | None = ...,
        version: str | None = ...,
    ) -> None: ...

class FeatureProperties(Table):
    pass

class FeaturePropertiesT(TableT):
    def __init__(self) -> None: ...

class ImageSize(Table):
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...

class ImageSizeT(TableT):
    width: int
    height: int
    def __init__(
        self,
        *,
        width: int = ...,
        height: int = ...,
    ) -> None: ...

class ImageProperties(Table):
    @property
    def color_space(self) -> int: ...
    @property
    def default_size(self) -> ImageSize | None: ...

class ImagePropertiesT(TableT):
    color_space: int
    default_size: ImageSizeT | None
    def __init__(
        self,
        *,
        color_space: int = ...,
        default_size: ImageSizeT | None = ...,
    ) -> None: ...

class AudioProperties(Table):
    @property
    def sample_rate(self) -> int: ...
    @property
    def channels(self) -> int: ...

class AudioPropertiesT(TableT):
    sample_rate: int
    channels: int
    def __init__(
        self,
        *,
        sample_rate: int = ...,
        channels: int = ...,
    ) -> None: ...

class BoundingBoxProperties(Table):
    @property
    def index(self) -> np.ndarray: ...
    @property
    def type(self) -> int: ...
    @property
    def coordinate_type(self) -> int: ...

class BoundingBoxPropertiesT(TableT):
    index: Sequence[int] | np.ndarray | None
    type: int
    coordinate_type: int
    def __init__(
        self,
        *,
        index: Sequence[int] | np.ndarray | None = ...,
        type: int = ...,
        coordinate_type: int = ...,
    ) -> None: ...

class ValueRange(Table):
    @property
    def min(self) -> int: ...
    @property
    def max(self) -> int: ...

class ValueRangeT(TableT):
    min: int
    max: int
    def __init__(
        self,
        *,
        min: int = ...,
        max: int = ...,
    ) -> None: ...

class Content(Table):
    @property
    def content_properties_type(self) -> int: ...
    @property
    def content_properties(self) -> Table | None: ...
    @property
    def range(self) -> ValueRange | None: ...

class ContentT(TableT):
    content_properties_type: int
    content_properties: TableT | None
    range: ValueRangeT | None
    def __init__(
        self,
        *,
        content_properties_type: int = ...,
        content_properties: TableT | None = ...,
        range: ValueRangeT | None = ...,
    ) -> None: ...

class NormalizationOptions(Table):
    @property
    def mean(self) -> np.ndarray: ...
    @property
    def std(self) -> np.ndarray: ...

class NormalizationOptionsT(TableT):
    mean: Sequence[float] | np.ndarray | None
    std: Sequence[float] | np.ndarray | None
    def __init__(
        self,
        *,
        mean: Sequence[float] | np.ndarray | None = ...,
        std: Sequence[float] | np.ndarray | None = ...,
    ) -> None: ...

class ScoreCalibrationOptions(Table):
    @property
    def score_transformation(self) -> int: ...
    @property
    def default_score(self) -> float: ...

class ScoreCalibrationOptionsT(TableT):
    score_transformation: int
    default_score: float
    def __init__(
        self,
        *,
        score_transformation: int = ...,
        default_score: float = ...,
    ) -> None: ...

class ScoreThresholdingOptions(Table):
    @property
    def global_score_threshold(self) -> float: ...

class ScoreThresholdingOptionsT(TableT):
    global_score_threshold: float
    def __init__(
        self,
        *,
        global_score_threshold: float = ...,
    ) -> None: ...

class BertTokenizerOptions(Table):
    @property
    def vocab_file(self) -> TableVector[AssociatedFile]: ...

class BertTokenizerOptionsT(TableT):
    vocab_file: list[AssociatedFileT] | None
    def __init__(
        self,
        *,
        vocab_file: list[AssociatedFileT] | None = ...,
    ) -> None: ...

class SentencePieceTokenizerOptions(Table):
    @property
    def sentencePiece_model(self) -> TableVector[AssociatedFile]: ...
    @property
    def vocab_file(self) -> TableVector[AssociatedFile]: ...

class SentencePieceTokenizerOptionsT(TableT):
    sentencePiece_model: list[AssociatedFileT] | None
    vocab_file: list[AssociatedFileT] | None
    def __init__(
        self,
        *,
        sentencePiece_model: list[AssociatedFileT] | None = ...,
        vocab_file: list[AssociatedFileT] | None = ...,
    ) -> None: ...

class RegexTokenizerOptions(Table):
    @property
    def delim_regex_pattern(self) -> str | None: ...
    @property
    def vocab_file(self) -> TableVector[AssociatedFile]: ...

class RegexTokenizerOptionsT(TableT):
    delim_regex_pattern: str | None
    vocab_file: list[AssociatedFileT] | None
    def __init__(
        self,
        *,
        delim_regex_pattern: str | None = ...,
        vocab_file: list[AssociatedFileT] | None = ...,
    ) -> None: ...

class ProcessUnit(Table):
    @property
    def options_type(self) -> int: ...
    @property
    def options(self) -> Table | None: ...

class ProcessUnitT(TableT):
    options_type: int
    options: TableT | None
    def __init__(
        self,
        *,
        options_type: int = ...,
        options: TableT | None = ...,
    ) -> None: ...

class Stats(Table):
    @property
    def max(self) -> np.ndarray: ...
    @property
    def min(self) -> np.ndarray: ...

class StatsT(TableT):
    max: Sequence[float] | np.ndarray | None
    min: Sequence[float] | np.ndarray | None
    def __init__(
        self,
        *,
        max: Sequence[float] | np.ndarray | None = ...,
        min: Sequence[float] | np.ndarray | None = ...,
    ) -> None: ...

class TensorGroup(Table):
    @property
    def name(self) -> str | None: ...
    @property
    def tensor_names(self) -> tuple[str, ...]: ...

class TensorGroupT(TableT):
    name: str | None
    tensor_names: Sequence[str] | None
    def __init__(
        self,
        *,
        name: str | None = ...,
        tensor_names: Sequence[str] | None = ...,
    ) -> None: ...

class TensorMetadata(Table):
    @property
    def name(self) -> str | None: ...
    @property
    def description(self) -> str | None: ...
    @property
    def dimension_names(self) -> tuple[str, ...]: ...
    @property
    def content(self) -> Content | None: ...
    @property
    def process_units(self) -> TableVector[ProcessUnit]: ...
    @property
    def stats(self) -> Stats | None: ...
    @property
    def associated_files(self) -> TableVector[AssociatedFile]: ...

class TensorMetadataT(TableT):
    name: str | None
    description: str | None
    dimension_names: Sequence[str] | None
    content: ContentT | None
    process_units: list[ProcessUnitT] | None
    stats: StatsT | None
    associated_files: list[AssociatedFileT] | None
    def __init__(
        self,
        *,
        name: str | None = ...,
        description: str | None = ...,
        dimension_names: Sequence[str] | None = ...,
        content: ContentT | None = ...,
        process_units: list[ProcessUnitT] | None = ...,
        stats: StatsT | None = ...,
        associated_files: list[AssociatedFileT] | None = ...,
    ) -> None: ...

class CustomMetadata(Table):
    @property
    def name(self) -> str | None: ...
    @property
    def data(self) -> np.ndarray: ...

class CustomMetadataT(TableT):
    name: str | None
    data: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        name: str | None = ...,
        data: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class SubGraphMetadata(Table):
    @property
    def name(self) -> str | None: ...
    @property
    def description(self) -> str | None: ...
    @property
    def input_tensor_metadata(self) -> TableVector[TensorMetadata]: ...
    @property
    def output_tensor_metadata(self) -> TableVector[TensorMetadata]: ...
    @property
    def associated_files(self) -> TableVector[AssociatedFile]: ...
    @property
    def input_process_units(self) -> TableVector[ProcessUnit]: ...
    @property
    def output_process_units(self) -> TableVector[ProcessUnit]: ...
    @property
    def input_tensor_groups(self) -> TableVector[TensorGroup]: ...
    @property
    def output_tensor_groups(self) -> TableVector[TensorGroup]: ...
    @property
    def custom_metadata(self) -> TableVector[CustomMetadata]: ...

class SubGraphMetadataT(TableT):
    name: str | None
    description: str | None
    input_tensor_metadata: list[TensorMetadataT] | None
    output_tensor_metadata: list[TensorMetadataT] | None
    associated_files: list[AssociatedFileT] | None
    input_process_units: list[ProcessUnitT] | None
    output_process_units: list[ProcessUnitT] | None
    input_tensor_groups: list[TensorGroupT] | None
    output_tensor_groups: list[TensorGroupT] | None
    custom_metadata: list[CustomMetadataT] | None
    def __init__(
        self,
        *,
        name: str | None = ...,
        description: str | None = ...,
        input_tensor_metadata: list[TensorMetadataT] | None = ...,
        output_tensor_metadata: list[TensorMetadataT] | None = ...,
        associated_files: list[AssociatedFileT] | None = ...,
        input_process_units: list[ProcessUnitT] | None = ...,
        output_process_units: list[ProcessUnitT] | None = ...,
        input_tensor_groups: list[TensorGroupT] | None = ...,
        output_tensor_groups: list[TensorGroupT] | None = ...,
        custom_metadata: list[CustomMetadataT] | None = ...,
    ) -> None: ...

class ModelMetadata(Table):
    @property
    def name(self) -> str | None: ...
    @property
    def description(self) -> str | None: ...
    @property
    def version(self) -> str | None: ...
    @property
    def subgraph_metadata(self) -> TableVector[SubGraphMetadata]: ...
    @property
    def author(self) -> str | None: ...
    @property
    def license(self) -> str | None: ...
    @property
    def associated_files(self) -> TableVector[AssociatedFile]: ...
    @property
    def min_parser_version(self) -> str | None: ...

class ModelMetadataT(TableT):
    name: str | None
    description: str | None
    version: str | None
    subgraph_metadata: list[SubGraphMetadataT] | None
    author: str | None
    license: str | None
    associated_files: list[AssociatedFileT] | None
    min_parser_version: str | None
    def __init__(
        self,
        *,
        name: str | None = ...,
        description: str | None = ...,
        version: str | None = ...,
        subgraph_metadata: list[SubGraphMetadataT] | None = ...,
        author: str | None = ...,
        license: str | None = ...,
        associated_files: list[AssociatedFileT] | None = ...,
        min_parser_version: str | None = ...,
    ) -> None: ...
