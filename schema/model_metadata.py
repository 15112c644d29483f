"""What a model says of itself, its inputs and its outputs: enums, readers and objects. Generated from model_metadata.fbs by generate.py."""

from .classes import Schema

# enum: {name: value}
ENUMS = {
    'AssociatedFileType': {'UNKNOWN': 0, 'DESCRIPTIONS': 1, 'TENSOR_AXIS_LABELS': 2, 'TENSOR_VALUE_LABELS': 3, 'TENSOR_AXIS_SCORE_CALIBRATION': 4, 'VOCABULARY': 5, 'SCANN_INDEX_FILE': 6},
    'ColorSpaceType': {'UNKNOWN': 0, 'RGB': 1, 'GRAYSCALE': 2},
    'BoundingBoxType': {'UNKNOWN': 0, 'BOUNDARIES': 1, 'UPPER_LEFT': 2, 'CENTER': 3},
    'CoordinateType': {'RATIO': 0, 'PIXEL': 1},
    'ScoreTransformationType': {'IDENTITY': 0, 'LOG': 1, 'INVERSE_LOGISTIC': 2},
}

# union: tables, numbered from 1
UNIONS = {
    'ContentProperties': ('FeatureProperties', 'ImageProperties', 'BoundingBoxProperties', 'AudioProperties'),
    'ProcessUnitOptions': ('NormalizationOptions', 'ScoreCalibrationOptions', 'ScoreThresholdingOptions', 'BertTokenizerOptions', 'SentencePieceTokenizerOptions', 'RegexTokenizerOptions'),
}

# table: (name, byte offset in the vtable, kind, type, default, alignment) of each field
TABLES = {
    'AssociatedFile': (
        ('name', 4, 'string', '', None, 0),
        ('description', 6, 'string', '', None, 0),
        ('type', 8, 'scalar', 'b', 0, 0),
        ('locale', 10, 'string', '', None, 0),
        ('version', 12, 'string', '', None, 0),
    ),
    'FeatureProperties': (),
    'ImageSize': (
        ('width', 4, 'scalar', 'I', 0, 0),
        ('height', 6, 'scalar', 'I', 0, 0),
    ),
    'ImageProperties': (
        ('color_space', 4, 'scalar', 'b', 0, 0),
        ('default_size', 6, 'table', 'ImageSize', None, 0),
    ),
    'AudioProperties': (
        ('sample_rate', 4, 'scalar', 'I', 0, 0),
        ('channels', 6, 'scalar', 'I', 0, 0),
    ),
    'BoundingBoxProperties': (
        ('index', 4, 'vector', 'I', None, 0),
        ('type', 6, 'scalar', 'b', 0, 0),
        ('coordinate_type', 8, 'scalar', 'b', 0, 0),
    ),
    'ValueRange': (
        ('min', 4, 'scalar', 'i', 0, 0),
        ('max', 6, 'scalar', 'i', 0, 0),
    ),
    'Content': (
        ('content_properties_type', 4, 'scalar', 'B', 0, 0),
        ('content_properties', 6, 'union', 'ContentProperties', None, 0),
        ('range', 8, 'table', 'ValueRange', None, 0),
    ),
    'NormalizationOptions': (
        ('mean', 4, 'vector', 'f', None, 0),
        ('std', 6, 'vector', 'f', None, 0),
    ),
    'ScoreCalibrationOptions': (
        ('score_transformation', 4, 'scalar', 'b', 0, 0),
        ('default_score', 6, 'scalar', 'f', 0.0, 0),
    ),
    'ScoreThresholdingOptions': (
        ('global_score_threshold', 4, 'scalar', 'f', 0.0, 0),
    ),
    'BertTokenizerOptions': (
        ('vocab_file', 4, 'tables', 'AssociatedFile', None, 0),
    ),
    'SentencePieceTokenizerOptions': (
        ('sentencePiece_model', 4, 'tables', 'AssociatedFile', None, 0),
        ('vocab_file', 6, 'tables', 'AssociatedFile', None, 0),
    ),
    'RegexTokenizerOptions': (
        ('delim_regex_pattern', 4, 'string', '', None, 0),
        ('vocab_file', 6, 'tables', 'AssociatedFile', None, 0),
    ),
    'ProcessUnit': (
        ('options_type', 4, 'scalar', 'B', 0, 0),
        ('options', 6, 'union', 'ProcessUnitOptions', None, 0),
    ),
    'Stats': (
        ('max', 4, 'vector', 'f', None, 0),
        ('min', 6, 'vector', 'f', None, 0),
    ),
    'TensorGroup': (
        ('name', 4, 'string', '', None, 0),
        ('tensor_names', 6, 'strings', '', None, 0),
    ),
    'TensorMetadata': (
        ('name', 4, 'string', '', None, 0),
        ('description', 6, 'string', '', None, 0),
        ('dimension_names', 8, 'strings', '', None, 0),
        ('content', 10, 'table', 'Content', None, 0),
        ('process_units', 12, 'tables', 'ProcessUnit', None, 0),
        ('stats', 14, 'table', 'Stats', None, 0),
        ('associated_files', 16, 'tables', 'AssociatedFile', None, 0),
    ),
    'CustomMetadata': (
        ('name', 4, 'string', '', None, 0),
        ('data', 6, 'vector', 'B', None, 16),
    ),
    'SubGraphMetadata': (
        ('name', 4, 'string', '', None, 0),
        ('description', 6, 'string', '', None, 0),
        ('input_tensor_metadata', 8, 'tables', 'TensorMetadata', None, 0),
        ('output_tensor_metadata', 10, 'tables', 'TensorMetadata', None, 0),
        ('associated_files', 12, 'tables', 'AssociatedFile', None, 0),
        ('input_process_units', 14, 'tables', 'ProcessUnit', None, 0),
        ('output_process_units', 16, 'tables', 'ProcessUnit', None, 0),
        ('input_tensor_groups', 18, 'tables', 'TensorGroup', None, 0),
        ('output_tensor_groups', 20, 'tables', 'TensorGroup', None, 0),
        ('custom_metadata', 22, 'tables', 'CustomMetadata', None, 0),
    ),
    'ModelMetadata': (
        ('name', 4, 'string', '', None, 0),
        ('description', 6, 'string', '', None, 0),
        ('version', 8, 'string', '', None, 0),
        ('subgraph_metadata', 10, 'tables', 'SubGraphMetadata', None, 0),
        ('author', 12, 'string', '', None, 0),
        ('license', 14, 'string', '', None, 0),
        ('associated_files', 16, 'tables', 'AssociatedFile', None, 0),
        ('min_parser_version', 18, 'string', '', None, 0),
    ),
}

SCHEMA = Schema(__name__, ENUMS, UNIONS, TABLES)
IDENTIFIER = b'M001'
ROOT = 'ModelMetadata'


def read(buffer):
    return SCHEMA.read(ROOT, buffer)


def pack(model_metadata):
    return SCHEMA.pack(model_metadata, IDENTIFIER)


unpack = SCHEMA.unpack


def __getattr__(name):
    made = SCHEMA.named(name)
    globals()[name] = made
    return made


def __dir__():
    return sorted({*globals(), *SCHEMA.names()})
