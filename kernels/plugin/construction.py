"""What a plugin's kernel may ask of its node when it is made: TF_OpKernelConstruction_*."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from ...schema.graph_def import AttrValue
from ..fallback.kernel import KernelConstruction
from ..fallback.status import InvalidArgumentError, NotFoundError, OpError
from .callbacks import Answer, name_text
from .handles import Handles
from .status import op_error, read_status
from .tensor import tensor_of_proto

# By the end of the function's name: the field of the attribute and the type that the kernel reads.
_SCALARS: dict[str, tuple[str, type[ctypes._SimpleCData]]] = {
    "Type": ("type", ctypes.c_int),
    "Int32": ("i", ctypes.c_int32),
    "Int64": ("i", ctypes.c_int64),
    "Float": ("f", ctypes.c_float),
    "Bool": ("b", ctypes.c_ubyte),
}
_PREFIX = "TF_OpKernelConstruction_"


class CConstruction:
    """A TF_OpKernelConstruction."""

    def __init__(self, construction: KernelConstruction) -> None:
        self.construction = construction
        self.error: OpError | None = None
        self._name = ctypes.create_string_buffer(construction.name.encode(errors="surrogateescape"))
        self._view = (ctypes.c_uint64 * 2)(ctypes.addressof(self._name), len(self._name) - 1)

    def name_view(self) -> int:
        """Address of a TF_StringView of the node's name."""
        return ctypes.addressof(self._view)

    def attribute(self, name: bytes | None, field: str = "") -> AttrValue:
        """NotFoundError when the node has none of the name; InvalidArgumentError when it is of another
        kind.
        """
        found = self.construction.attributes.get(name_text(name))
        where = f"{self.construction.op}: attribute {name_text(name)!r}"
        if found is None:
            raise NotFoundError(f"{where} is not there")
        held = found.WhichOneof("value")
        if field and held != field:
            raise InvalidArgumentError(f"{where} must be held as {field!r}, got {held!r}")
        return found


def construction_answers(handles: Handles) -> Mapping[str, Answer]:
    """What the functions of TF_OpKernelConstruction do, with handles of CConstruction."""

    def held(handle: int) -> CConstruction:
        return handles.get(handle, CConstruction)

    def size(handle: int, name: bytes | None, list_size: int, total_size: int) -> None:
        _there(list_size, total_size)
        sizes = _sizes(held(handle).attribute(name))
        ctypes.c_int32.from_address(list_size).value, ctypes.c_int32.from_address(total_size).value = sizes

    def string(handle: int, name: bytes | None, value: int, room: int) -> None:
        text = held(handle).attribute(name, "s").s
        _copy(value, text, room)

    def strings(
        handle: int, name: bytes | None, values: int, lengths: int, count: int, storage: int, room: int
    ) -> None:
        used = 0
        for index, text in enumerate(list(held(handle).attribute(name, "list").list.s)[: max(count, 0)]):
            _there(values, lengths, storage)
            if used + len(text) > room:
                raise InvalidArgumentError(
                    f"attribute {name_text(name)!r}: must fit in {room} bytes of storage"
                )
            ctypes.c_void_p.from_address(values + 8 * index).value = storage + used
            ctypes.c_size_t.from_address(lengths + 8 * index).value = len(text)
            _copy(storage + used, text, len(text))
            used += len(text)

    def tensor(handle: int, name: bytes | None, value: int) -> None:
        _there(value)
        made = tensor_of_proto(held(handle).attribute(name, "tensor").tensor)
        ctypes.c_void_p.from_address(value).value = made

    def shape(handle: int, name: bytes | None, dims: int, count: int) -> None:
        found = held(handle).attribute(name, "shape").shape
        for index, dim in enumerate(list(found.dim)[:count]):
            _there(dims)
            ctypes.c_int64.from_address(dims + 8 * index).value = dim.size

    def failure(handle: int, status: int) -> None:
        held(handle).error = op_error(*read_status(status))

    answers: dict[str, Answer] = {
        "HasAttr": lambda handle, name: name_text(name) in held(handle).construction.attributes,
        "GetName": lambda handle: held(handle).name_view(),
        "GetAttrSize": size,
        "GetAttrString": string,
        "GetAttrStringList": strings,
        "GetAttrTensor": tensor,
        "GetAttrTensorShape": shape,
        "Failure": failure,
    }
    for kind, (field, ctype) in _SCALARS.items():
        answers[f"GetAttr{kind}"] = _scalar(handles, field, ctype)
        answers[f"GetAttr{kind}List"] = _list(handles, field, ctype)
    return {f"{_PREFIX}{name}": answer for name, answer in answers.items()}


def _scalar(handles: Handles, field: str, ctype: type[ctypes._SimpleCData]) -> Answer:
    def answer(handle: int, name: bytes | None, value: int) -> None:
        _there(value)
        found = getattr(handles.get(handle, CConstruction).attribute(name, field), field)
        ctype.from_address(value).value = found

    return answer


def _list(handles: Handles, field: str, ctype: type[ctypes._SimpleCData]) -> Answer:
    def answer(handle: int, name: bytes | None, values: int, count: int) -> None:
        found = getattr(handles.get(handle, CConstruction).attribute(name, "list").list, field)
        for index, each in enumerate(list(found)[: max(count, 0)]):
            _there(values)
            ctype.from_address(values + ctypes.sizeof(ctype) * index).value = each

    return answer


def _sizes(value: AttrValue) -> tuple[int, int]:
    """Elements of a list and bytes or sizes in all, -1 for what has none.

    Source: TensorFlow c/kernels.h, TF_OpKernelConstruction_GetAttrSize.
    """
    kind = value.WhichOneof("value")
    if kind == "s":
        return -1, len(value.s)
    if kind == "shape":
        return -1, -1 if value.shape.unknown_rank else len(value.shape.dim)
    if kind != "list":
        return -1, -1
    fields = value.list.ListFields()
    if not fields:
        return 0, 0
    field, items = fields[0]
    if field.name == "s":
        return len(items), sum(map(len, items))
    if field.name == "shape":
        return len(items), sum(len(each.dim) for each in items)
    return len(items), -1


def _copy(address: int, text: bytes, room: int) -> None:
    if text and room:
        _there(address)
        ctypes.memmove(address, text, min(len(text), room))


def _there(*pointers: int) -> None:
    if not all(pointers):
        raise InvalidArgumentError("pointers to what is filled in: must not be null")
