"""Messages generated from our .proto files: current, complete, and apart from TensorFlow's."""

from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import Default
from numlite.schema import generate_protos, graph_def


def test_generated_files_are_current() -> None:
    assert [path.name for path in generate_protos.stale()] == []


def test_the_default_pool_is_left_alone() -> None:
    with pytest.raises(KeyError):
        Default().FindMessageTypeByName("numlite.tensorflow.GraphDef")


def test_parser_resolves_nested_names_and_maps() -> None:
    text = "package p; message A { message B { int32 x = 1; } map<string, B> b = 2; optional int32 c = 3; }"
    file = generate_protos.Parser("x.proto", text).parse()
    assert isinstance(file, FileDescriptorProto)
    [a] = file.message_type
    assert [nested.name for nested in a.nested_type] == ["B", "BEntry"]
    assert a.nested_type[1].field[1].type_name == ".p.A.B"
    assert a.field[1].proto3_optional and a.oneof_decl[0].name == "_c"


def test_parser_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match=r"x\.proto: cannot read 'service'"):
        generate_protos.Parser("x.proto", "service S {}").parse()
    with pytest.raises(ValueError, match="no such type: Missing"):
        generate_protos.Parser("x.proto", "message A { Missing m = 1; }").parse()


GRAPHS = sorted(Path(__file__).parents[3].glob("shared/convert/graphs/*.pb"))


@pytest.mark.skipif(not GRAPHS, reason="../shared/convert is absent")
def test_real_graphs_come_back_the_same() -> None:
    for path in GRAPHS[::20]:
        content = path.read_bytes()
        graph = graph_def.GraphDef.FromString(content)
        again = graph_def.GraphDef.FromString(graph.SerializeToString(deterministic=True))
        assert graph.ByteSize() == len(content) and graph == again, path.name
