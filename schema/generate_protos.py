"""Makes <name>.py and .pyi from each .proto file: `python -m numlite.schema.generate_protos [--check]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as FieldProto

from .generate import differing, write_or_check

FOLDER = Path(__file__).parent

SCALARS = {
    "double": FieldProto.TYPE_DOUBLE,
    "float": FieldProto.TYPE_FLOAT,
    "int64": FieldProto.TYPE_INT64,
    "uint64": FieldProto.TYPE_UINT64,
    "int32": FieldProto.TYPE_INT32,
    "uint32": FieldProto.TYPE_UINT32,
    "sint64": FieldProto.TYPE_SINT64,
    "fixed32": FieldProto.TYPE_FIXED32,
    "fixed64": FieldProto.TYPE_FIXED64,
    "bool": FieldProto.TYPE_BOOL,
    "string": FieldProto.TYPE_STRING,
    "bytes": FieldProto.TYPE_BYTES,
}
_TOKEN = re.compile(r"\w[\w.]*|\"[^\"]*\"|[{}=;<>,]")


class Parser:
    """Reads the part of the proto3 language that our files use into a file descriptor."""

    def __init__(self, name: str, text: str, others: Mapping[str, FileDescriptorProto] | None = None) -> None:
        self.tokens = _TOKEN.findall(re.sub(r"//[^\n]*", "", text))
        self.at = 0
        self.file = FileDescriptorProto(name=f"numlite/{name}", syntax="proto3")
        # Files that this one may import, by name.
        self.others = others or {}

    def parse(self) -> FileDescriptorProto:
        """The whole file; ValueError for what it does not know."""
        while self.at < len(self.tokens):
            word = self.next()
            if word == "message":
                self.message(self.file.message_type.add())
            elif word == "enum":
                self.enum(self.file.enum_type.add())
            elif word == "import":
                self.file.dependency.append(self.imported(self.next().strip('"')).name)
                self.expect(";")
            elif word == "package":
                self.file.package = self.next()
                self.expect(";")
            elif word == "syntax":
                self.expect("=")
                self.next()
                self.expect(";")
            else:
                raise ValueError(f"{self.file.name}: cannot read {word!r}")
        known = [self.file, *(self.imported(name) for name in map(_file_name, self.file.dependency))]
        enums = {name for file in known for name in _enum_names(file)}
        messages = {name for file in known for m in file.message_type for name in _names(m, "")}
        for message in self.file.message_type:
            self.resolve(message, "", enums, messages)
        return self.file

    def imported(self, name: str) -> FileDescriptorProto:
        if name not in self.others:
            raise ValueError(f"{self.file.name}: no such file: {name}")
        return self.others[name]

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token: str) -> None:
        found = self.next()
        if found != token:
            raise ValueError(f"{self.file.name}: expected {token!r}, got {found!r}")

    def enum(self, enum: EnumDescriptorProto) -> None:
        enum.name = self.next()
        self.expect("{")
        while (name := self.next()) != "}":
            self.expect("=")
            enum.value.add(name=name, number=int(self.next()))
            self.expect(";")

    def message(self, message: DescriptorProto) -> None:
        message.name = self.next()
        self.expect("{")
        while (word := self.next()) != "}":
            if word == "message":
                self.message(message.nested_type.add())
            elif word == "enum":
                self.enum(message.enum_type.add())
            elif word == "oneof":
                message.oneof_decl.add(name=self.next())
                self.expect("{")
                while (member := self.next()) != "}":
                    self.field(message, member).oneof_index = len(message.oneof_decl) - 1
            elif word == "map":
                self.map(message)
            elif word in ("repeated", "optional"):
                field = self.field(message, self.next())
                field.label = FieldProto.LABEL_REPEATED if word == "repeated" else FieldProto.LABEL_OPTIONAL
                field.proto3_optional = word == "optional"
            else:
                self.field(message, word)
        # A field with explicit presence is, by the format, alone in a oneof; those come last.
        for field in message.field:
            if field.proto3_optional:
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")

    def field(self, message: DescriptorProto, type_name: str) -> FieldProto:
        field = message.field.add(label=FieldProto.LABEL_OPTIONAL, name=self.next())
        self.set_type(field, type_name)
        self.expect("=")
        field.number = int(self.next())
        self.expect(";")
        return field

    def map(self, message: DescriptorProto) -> None:
        """A map is a repeated message of key and value."""
        self.expect("<")
        key = self.next()
        self.expect(",")
        value = self.next()
        self.expect(">")
        field = self.field(message, "")
        field.label = FieldProto.LABEL_REPEATED
        entry = message.nested_type.add(name="".join(map(str.capitalize, field.name.split("_"))) + "Entry")
        field.type_name = entry.name
        entry.options.map_entry = True
        for number, (name, type_name) in enumerate((("key", key), ("value", value)), 1):
            part = entry.field.add(name=name, number=number, label=FieldProto.LABEL_OPTIONAL)
            self.set_type(part, type_name)

    def set_type(self, field: FieldProto, type_name: str) -> None:
        if type_name in SCALARS:
            field.type = SCALARS[type_name]
        else:
            field.type_name = type_name

    def resolve(self, message: DescriptorProto, outer: str, enums: set[str], messages: set[str]) -> None:
        """Give every named type its full name, the innermost in sight, and say what it is."""
        path = f"{outer}{message.name}."
        for nested in message.nested_type:
            self.resolve(nested, path, enums, messages)
        scopes = [path[: i + 1] for i in range(len(path) - 1, -1, -1) if path[i] == "."] + [""]
        for field in message.field:
            if field.type_name:
                names = [
                    scope + field.type_name for scope in scopes if scope + field.type_name in enums | messages
                ]
                if not names:
                    raise ValueError(f"{self.file.name}: no such type: {field.type_name}")
                field.type = FieldProto.TYPE_ENUM if names[0] in enums else FieldProto.TYPE_MESSAGE
                field.type_name = f".{self.file.package}.{names[0]}"


def _names(message: DescriptorProto, outer: str) -> list[str]:
    """Names of a message and of those inside it."""
    name = outer + message.name
    return [name, *(inner for nested in message.nested_type for inner in _names(nested, name + "."))]


def _enum_names(file: FileDescriptorProto) -> list[str]:
    """Names of the enums of the file and of those inside its messages."""
    found = [enum.name for enum in file.enum_type]
    stack = [("", message) for message in file.message_type]
    while stack:
        outer, message = stack.pop()
        path = f"{outer}{message.name}."
        found += [path + enum.name for enum in message.enum_type]
        stack += [(path, nested) for nested in message.nested_type]
    return found


def _file_name(dependency: str) -> str:
    return Path(dependency).name


def module_text(file: FileDescriptorProto) -> str:
    """The module: the file's descriptor, and its messages and enums by name."""
    modules = [Path(dependency).stem for dependency in file.dependency]
    given = "".join(f", {module}.DESCRIPTOR" for module in modules)
    content = file.SerializeToString(deterministic=True)
    lines = [content[i : i + 24] for i in range(0, len(content), 24)]
    names = [m.name for m in file.message_type] + [e.name for e in file.enum_type]
    return "\n".join(
        [
            f'"""Messages of {Path(file.name).name}. Generated by generate_protos.py."""',
            "",
            *(f"from . import {module}" for module in modules),
            "from .messages import load",
            "",
            "DESCRIPTOR = (",
            *(f"    {line!r}" for line in lines),
            ")",
            "",
            f"__all__ = {names!r}",
            "",
            f"globals().update(load({file.package!r}, DESCRIPTOR{given}))",
            "",
        ]
    )


def stub_text(file: FileDescriptorProto) -> str:
    """The same names for the type checker."""
    lines = [
        f'"""Types of {Path(file.name).name}. Generated by generate_protos.py."""',
        "",
        "from collections.abc import Iterable, Mapping, MutableMapping",
        "",
        "from google.protobuf.internal.containers import (",
        "    MessageMap,",
        "    RepeatedCompositeFieldContainer,",
        "    RepeatedScalarFieldContainer,",
        ")",
        "from google.protobuf.message import Message",
        *_stub_imports(file),
        "",
        "DESCRIPTOR: bytes",
        "",
    ]
    for enum in file.enum_type:
        lines += [*_stub_enum(enum, ""), ""]
        lines += [*(f"{value.name}: int" for value in enum.value), ""]
    for message in file.message_type:
        lines += [*_stub_message(message, file.package, ""), ""]
    return "\n".join(lines).rstrip() + "\n"


def _stub_imports(file: FileDescriptorProto) -> list[str]:
    """Imports of the messages of other files that this file's fields are."""
    lines = []
    stack, used = list(file.message_type), set()
    own = {message.name for message in file.message_type}
    while stack:
        message = stack.pop()
        stack += message.nested_type
        for field in message.field:
            if field.type == FieldProto.TYPE_MESSAGE:
                used.add(field.type_name.removeprefix(f".{file.package}.").partition(".")[0])
    if file.dependency and used - own:
        # All come from one file: no two files of ours are imported together.
        [module] = [Path(dependency).stem for dependency in file.dependency]
        lines = ["", f"from .{module} import {', '.join(sorted(used - own))}"]
    return lines


def _stub_enum(enum: EnumDescriptorProto, indent: str) -> list[str]:
    return [
        f"{indent}class {enum.name}(int):",
        *(f"{indent}    @classmethod", f"{indent}    def Name(cls, number: int) -> str: ..."),
        *(f"{indent}    @classmethod", f"{indent}    def Value(cls, name: str) -> int: ..."),
    ]


def _stub_message(message: DescriptorProto, package: str, indent: str) -> list[str]:
    entries = {nested.name: nested for nested in message.nested_type if nested.options.map_entry}
    lines = [f"{indent}class {message.name}(Message):"]
    for enum in message.enum_type:
        lines += _stub_enum(enum, indent + "    ")
        lines += [f"{indent}    {value.name}: int" for value in enum.value]
    for nested in message.nested_type:
        if nested.name not in entries:
            lines += _stub_message(nested, package, indent + "    ")
    arguments = []
    for field in message.field:
        held, given = _stub_types(field, entries, package)
        if field.type == FieldProto.TYPE_MESSAGE or field.label == FieldProto.LABEL_REPEATED:
            lines += [f"{indent}    @property", f"{indent}    def {field.name}(self) -> {held}: ..."]
        else:
            lines.append(f"{indent}    {field.name}: {held}")
        arguments.append(f"{indent}        {field.name}: {given} | None = ...,")
    if not arguments:
        return [*lines, f"{indent}    def __init__(self) -> None: ..."]
    head, tail = [f"{indent}    def __init__(", f"{indent}        self,"], f"{indent}    ) -> None: ..."
    return [*lines, *head, f"{indent}        *,", *arguments, tail]


def _stub_types(field: FieldProto, entries: dict[str, DescriptorProto], package: str) -> tuple[str, str]:
    """Type of the attribute, and of the argument of the constructor."""
    entry = entries.get(field.type_name.rpartition(".")[2])
    if entry is not None:
        key, value = (_python_type(part, package) for part in entry.field)
        of_messages = entry.field[1].type == FieldProto.TYPE_MESSAGE
        container = "MessageMap" if of_messages else "MutableMapping"
        return f"{container}[{key}, {value}]", f"Mapping[{key}, {value}]"
    item = _python_type(field, package)
    if field.label != FieldProto.LABEL_REPEATED:
        return item, item
    kind = "Composite" if field.type == FieldProto.TYPE_MESSAGE else "Scalar"
    return f"Repeated{kind}FieldContainer[{item}]", f"Iterable[{item}]"


def _python_type(field: FieldProto, package: str) -> str:
    if field.type == FieldProto.TYPE_MESSAGE:
        return field.type_name.removeprefix(f".{package}.")
    names = {FieldProto.TYPE_DOUBLE: "float", FieldProto.TYPE_FLOAT: "float", FieldProto.TYPE_BOOL: "bool"}
    names |= {FieldProto.TYPE_STRING: "str", FieldProto.TYPE_BYTES: "bytes"}
    return names.get(field.type, "int")


def outputs() -> dict[Path, str]:
    """The generated files and what they should hold."""
    texts = {}
    files: dict[str, FileDescriptorProto] = {}
    # A file comes after those that it imports.
    for path in sorted(FOLDER.glob("*.proto")):
        file = files[path.name] = Parser(path.name, path.read_text(encoding="utf-8"), files).parse()
        texts[path.with_suffix(".py")] = module_text(file)
        texts[path.with_suffix(".pyi")] = stub_text(file)
    return texts


def stale() -> list[Path]:
    """The generated files that no longer follow from their .proto file."""
    return differing(outputs())


if __name__ == "__main__":
    sys.exit(write_or_check(outputs(), "python -m numlite.schema.generate_protos"))
