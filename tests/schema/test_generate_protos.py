"""Messages generated from our .proto files: current, complete, and apart from TensorFlow's."""

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import Default
from numlite.schema import generate_protos, graph_def, saved_model

from ..shared_folder import SHARED


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


def test_parser_resolves_names_of_imported_files_and_nested_enums() -> None:
    first = generate_protos.Parser("a.proto", "package p; message A { enum E { X = 0; } }").parse()
    text = 'import "a.proto"; package p; message B { A a = 1; A.E e = 2; enum F { Y = 0; } F f = 3; }'
    file = generate_protos.Parser("b.proto", text, {"a.proto": first}).parse()
    assert list(file.dependency) == ["numlite/a.proto"]
    assert [field.type_name for field in file.message_type[0].field] == [".p.A", ".p.A.E", ".p.B.F"]
    with pytest.raises(ValueError, match=r"no such file: c\.proto"):
        generate_protos.Parser("b.proto", 'import "c.proto";', {"a.proto": first}).parse()


def test_messages_of_both_files_are_the_same() -> None:
    meta_graph = saved_model.MetaGraphDef(graph_def=graph_def.GraphDef(version=3))
    assert type(meta_graph.graph_def) is graph_def.GraphDef


def test_signatures_keep_their_order_and_unknown_fields_stay() -> None:
    meta_graph = saved_model.MetaGraphDef()
    for key in ("z", "a", "m"):
        meta_graph.signature_def.add(key=key)
    # Field 2000 is nobody's.
    content = meta_graph.SerializeToString() + b"\x80\x7d\x07"
    again = saved_model.MetaGraphDef.FromString(content)
    assert [entry.key for entry in again.signature_def] == ["z", "a", "m"]
    assert again.SerializeToString() == content


def test_parser_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match=r"x\.proto: cannot read 'service'"):
        generate_protos.Parser("x.proto", "service S {}").parse()
    with pytest.raises(ValueError, match="no such type: Missing"):
        generate_protos.Parser("x.proto", "message A { Missing m = 1; }").parse()


GRAPHS = sorted(SHARED.glob("convert/graphs/*.pb"))


@pytest.mark.skipif(not GRAPHS, reason="../shared/convert is absent")
def test_real_graphs_come_back_the_same() -> None:
    for path in GRAPHS[::20]:
        content = path.read_bytes()
        graph = graph_def.GraphDef.FromString(content)
        again = graph_def.GraphDef.FromString(graph.SerializeToString(deterministic=True))
        assert graph.ByteSize() == len(content) and graph == again, path.name
