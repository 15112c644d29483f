"""CompiledModel and the memory of its callers: where it is read, written, updated in place and refused."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.compiled_model import CompiledModel, TensorBuffer
from numlite.lite.errors import StateError
from numlite.schema import tflite

from . import small_models
from .compiled_models import Op, aligned, core_of, crossed, vector
from .model_builder import ModelBuilder


def is_bound(model: CompiledModel, array: np.ndarray) -> bool:
    """Whether a tensor of the model lies in the array's memory."""
    return any(t.address == array.ctypes.data for t in core_of(model).subgraph().tensors)


@pytest.mark.parametrize("offset", [0, 4], ids=["in place", "copied"])
def test_host_memory_is_read_and_written_where_it_is(offset: int) -> None:
    model = CompiledModel.from_buffer(small_models.chain((Op.NEG, Op.ABS), (2, 8)))
    x, y = aligned(20)[offset : offset + 16].reshape(2, 8), aligned(20)[offset : offset + 16]
    buffers = [TensorBuffer.create_from_host_memory(x)], [TensorBuffer.create_from_host_memory(y)]
    for value in (3, -4):
        x[...] = value
        model.run_by_index(0, *buffers)
        assert (y == abs(value)).all()
        assert is_bound(model, x) == is_bound(model, y) == (offset == 0)
    np.testing.assert_array_equal(buffers[1][0].read(2, np.float32), [4, 4])


def test_memory_at_the_end_of_a_page_is_copied() -> None:
    model = CompiledModel.from_buffer(vector())
    memory = np.zeros(3 * 4096, np.uint8)
    page = -memory.ctypes.data % 4096
    x = memory[page + 4096 - 64 : page + 4096].view(np.float32)
    model.resize_input_tensor(0, [16])
    outputs = model.create_output_buffers(0)
    x[...] = 2
    model.run_by_index(0, [TensorBuffer.create_from_host_memory(x)], outputs)
    assert (outputs[0].read(16, np.float32) == -2).all() and not is_bound(model, x)


def test_one_buffer_may_be_input_and_output() -> None:
    model = CompiledModel.from_buffer(vector())
    array = aligned(4)
    array[...] = 1, 2, 3, 4
    buffer = TensorBuffer.create_from_host_memory(array)
    for expected in (-1, 1):
        model.run_by_index(0, [buffer], [buffer])
        np.testing.assert_array_equal(array, np.arange(1, 5) * expected)


def cached(read: str) -> bytes:
    """A cache [8, 16] whose row `at` becomes the new one, and the rows' sums.

    They are those of before or after; at "last" of before, and computed behind the update.
    """
    model = ModelBuilder()
    cache, new = model.tensor([8, 16], name="cache"), model.tensor([1, 16], name="new")
    at = model.tensor([2], np.int32, name="at")
    updated, total = model.tensor([8, 16], name="updated"), model.tensor([8], name="total")
    places = {"before": cache, "after": updated, "last": cache}
    options = tflite.ReducerOptionsT()

    def add_total() -> None:
        model.op(Op.SUM, [places[read], model.constant([1])], [total], options)

    if read == "before":
        add_total()
    model.op(Op.DYNAMIC_UPDATE_SLICE, [cache, new, at], [updated], tflite.DynamicUpdateSliceOptionsT())
    if read != "before":
        add_total()
    return model.build([cache, new, at], [updated, total])


@pytest.mark.parametrize("read", ("before", "after", "last"))
@pytest.mark.parametrize("offset", (0, 4), ids=("in place", "copied"))
def test_a_cache_is_updated_where_it_lies(read: str, offset: int) -> None:
    """By one buffer for both: without a copy, but where the cache is read once it is changed."""
    model, memory = CompiledModel.from_buffer(cached(read)), aligned(160)
    cache, total, rng = memory[offset : offset + 128].reshape(8, 16), aligned(8), np.random.default_rng(1)
    cache[...] = rng.standard_normal(cache.shape)
    for row in (3, 0, 7):
        new, before = aligned(16), cache.copy()
        new[...] = rng.standard_normal(16)
        expected = before.copy()
        expected[row] = new
        buffers = [TensorBuffer.create_from_host_memory(x) for x in (cache, new, np.int32([row, 0]), total)]
        model.run_by_index(0, buffers[:3], [buffers[0], buffers[3]])
        np.testing.assert_array_equal(cache, expected)
        np.testing.assert_allclose(total, (expected if read == "after" else before).sum(1), rtol=1e-5)
        graph = core_of(model).subgraph()
        ends = {graph.tensors[t].address for t in (graph.inputs[0], graph.outputs[0])}
        assert (ends == {cache.ctypes.data}) == (offset == 0 and read != "last")


def widening() -> bytes:
    """A vector added to each row of a matrix."""
    model = ModelBuilder()
    row, rows, y = (
        model.tensor(shape, name=name) for shape, name in (([4], "row"), ([8, 4], "x"), ([8, 4], "y"))
    )
    model.op(Op.ADD, [row, rows], [y], tflite.AddOptionsT())
    return model.build([row, rows], [y])


def test_an_output_larger_than_the_input_in_its_memory_does_not_take_it() -> None:
    model, memory, x = CompiledModel.from_buffer(widening()), aligned(32), aligned(32).reshape(8, 4)
    x[...] = np.arange(32).reshape(8, 4)
    for _ in range(2):
        memory[:4] = row = np.float32([1, 2, 3, 4])
        arrays = memory[:4], x, memory.reshape(8, 4)
        buffers = [TensorBuffer.create_from_host_memory(array) for array in arrays]
        model.run_by_index(0, buffers[:2], buffers[2:])
        np.testing.assert_array_equal(arrays[2], row + x)


def test_one_buffer_for_an_input_that_comes_out_and_another_one() -> None:
    """No node writes the output."""
    builder, memory = ModelBuilder(), aligned(16)
    a, b = (builder.tensor([16], name=name) for name in "ab")
    model = CompiledModel.from_buffer(builder.build([a, b], [b]))
    memory[:] = 1
    same = TensorBuffer.create_from_host_memory(memory)
    model.run_by_index(0, [same, same], [same])
    np.testing.assert_array_equal(memory, 1)


def test_inputs_that_come_out_may_change_places() -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor([16], name=name) for name in "ab")
    model = CompiledModel.from_buffer(builder.build([a, b], [a, b]))
    first, second = (aligned(16) for _ in range(2))
    first[:], second[:] = 1, 2
    buffers = [TensorBuffer.create_from_host_memory(array) for array in (first, second)]
    for expected in (2, 1):
        model.run_by_index(0, buffers, buffers[::-1])
        np.testing.assert_array_equal(first, expected)
        np.testing.assert_array_equal(second, 3 - expected)


def test_other_buffers_take_over() -> None:
    model = CompiledModel.from_buffer(vector())
    results = [aligned(4), aligned(4)]
    for n, result in enumerate(results):
        x = aligned(4)
        x[...] = n + 1
        model.run_by_index(
            0, [TensorBuffer.create_from_host_memory(x)], [TensorBuffer.create_from_host_memory(result)]
        )
    np.testing.assert_array_equal(results, [[-1] * 4, [-2] * 4])


def test_inputs_take_the_shape_of_their_buffer_where_it_is_open() -> None:
    model = CompiledModel.from_buffer(vector())
    for count in (6, 4, 6):
        x, y = aligned(count), aligned(count)
        x[...] = np.arange(count)
        model.run_by_index(
            0, [TensorBuffer.create_from_host_memory(x)], [TensorBuffer.create_from_host_memory(y)]
        )
        np.testing.assert_array_equal(y, -np.arange(count))
    assert model.get_output_tensor_details("<placeholder signature>")["y"]["shape"] == [6]


def test_buffers_that_do_not_fit() -> None:
    model = CompiledModel.from_buffer(crossed())
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    host = TensorBuffer.create_from_host_memory
    with pytest.raises(StateError, match=r"must be \(2,\), got \(3,\)"):
        model.run_by_index(0, [inputs[1], inputs[1]], outputs)
    with pytest.raises(ValueError, match="its type must be"):
        model.run_by_index(0, [host(np.zeros(2, np.int32)), inputs[1]], outputs)
    with pytest.raises(StateError, match="room for the 12 bytes"):
        model.run_by_index(0, inputs, [outputs[0], outputs[0]])
    read_only = np.zeros(2, np.float32)
    read_only.flags.writeable = False
    with pytest.raises(StateError, match="read-only"):
        model.run_by_index(0, inputs, [host(read_only), outputs[1]])
    model.run_by_index(0, [host(read_only), inputs[1]], outputs)
    outputs[1].destroy()
    with pytest.raises(ValueError, match="destroyed"):
        model.run_by_index(0, inputs, outputs)


def test_writing_and_reading_check_type_and_size() -> None:
    buffer = CompiledModel.from_buffer(vector()).create_input_buffers(0)[0]
    buffer.write(np.float32([1, 2]))
    np.testing.assert_array_equal(buffer.read(4, np.float32), [1, 2, 0, 0])
    buffer.write(np.arange(8, dtype=np.float32)[::2].reshape(2, 2))
    np.testing.assert_array_equal(buffer.read(4, "float32"), [0, 2, 4, 6])
    with pytest.raises(StateError, match="room for 16 bytes, got 20"):
        buffer.write(np.zeros(5, np.float32))
    with pytest.raises(StateError, match="holds 16 bytes"):
        buffer.read(5, np.float32)
    for wrong in (np.zeros(4, np.int32), np.zeros(4, ">f4"), [1.0]):
        with pytest.raises(ValueError):
            buffer.write(wrong)
    with pytest.raises(ValueError, match="elements are float32, got int8"):
        buffer.read(4, np.int8)
    with pytest.raises(ValueError, match="C-contiguous"):
        TensorBuffer.create_from_host_memory(np.zeros((2, 4), np.float32)[:, ::2])
    with pytest.raises(ValueError, match="Unsupported dtype"):
        TensorBuffer.create_from_host_memory(np.array(["text"]))
