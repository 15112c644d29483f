"""Handles, and the shim's own structs."""

from __future__ import annotations

import ctypes
from threading import Thread

import pytest
from numlite.kernels.fallback.status import InvalidArgumentError
from numlite.kernels.plugin.handles import Handles


def test_a_handle_is_of_one_object_of_its_kind() -> None:
    handles = Handles()
    one, other = handles.new("text"), handles.new(5)
    assert handles.get(one, str) == "text" and handles.get(other, int) == 5
    for wrong in (0, None, one + 1, 12345):
        with pytest.raises(InvalidArgumentError):
            handles.get(wrong, str)
    with pytest.raises(InvalidArgumentError, match="must be of int, got str"):
        handles.get(one, int)


def test_a_handle_of_what_is_gone_is_never_given_again() -> None:
    handles = Handles()
    first = handles.new("a")
    handles.drop(first)
    handles.drop(first)
    handles.drop(0)
    assert handles.new("b") != first
    with pytest.raises(InvalidArgumentError, match="nothing that is alive"):
        handles.get(first, str)


def test_handles_of_several_threads_differ() -> None:
    handles, found = Handles(), list[int]()
    threads = [Thread(target=lambda: found.extend(handles.new(i) for i in range(500))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 2000 == len(handles)


def test_tensors_share_their_storage_and_all_of_it_goes() -> None:
    from numlite.kernels.compiled.driver.image import uses_shared_objects

    if not uses_shared_objects():
        pytest.skip("the shim is a shared object for Linux on x86-64")
    from numlite.kernels.plugin.shim import shim

    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    host, before = shim(), shim().live()
    tensor = host.call("TF_AllocateTensor", pointer, 1, (ctypes.c_int64 * 2)(2, 3), 2, size(24))
    shared = host.call("numlite_share", pointer, pointer(tensor))
    assert host.call("TF_TensorData", pointer, pointer(tensor)) == host.call(
        "TF_TensorData", pointer, pointer(shared)
    )
    assert host.call("TF_TensorElementCount", ctypes.c_int64, pointer(shared)) == 6
    assert host.call("TF_TensorIsAligned", ctypes.c_ubyte, pointer(shared)) == 1
    other = host.call("TF_AllocateTensor", pointer, 3, None, 0, size(4))
    dims = (ctypes.c_int64 * 1)(6)
    with_status = host.call("TF_NewStatus", pointer)
    host.call("TF_TensorBitcastFrom", None, pointer(tensor), 3, pointer(other), dims, 1, pointer(with_status))
    assert host.call("TF_TensorType", ctypes.c_int, pointer(other)) == 3
    assert host.call("TF_Dim", ctypes.c_int64, pointer(other), 0) == 6
    for each in (tensor, shared, other):
        host.call("TF_DeleteTensor", None, pointer(each))
    host.call("TF_DeleteStatus", None, pointer(with_status))
    assert host.live() == before


def test_statuses_and_buffers() -> None:
    from numlite.kernels.compiled.driver.image import uses_shared_objects

    if not uses_shared_objects():
        pytest.skip("the shim is a shared object for Linux on x86-64")
    from numlite.kernels.plugin.buffer import Buffer, content
    from numlite.kernels.plugin.shim import shim
    from numlite.kernels.plugin.status import Status, set_status

    before = shim().live()
    with Status() as status, Buffer(b"bytes") as buffer, Buffer() as empty:
        assert (status.code, status.message) == (0, "")
        set_status(status.address, 5, "no\0such")
        assert (status.code, status.message) == (5, "no\\0such")
        set_status(status.address, 0, "kept?")
        assert (status.code, status.message) == (0, "")
        set_status(0, 3, "nobody reads it")
        assert buffer.content() == b"bytes" and buffer.is_set
        assert empty.content() == b"" and not empty.is_set
        with pytest.raises(InvalidArgumentError):
            content(0)
    assert shim().live() == before
