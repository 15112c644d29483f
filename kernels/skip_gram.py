"""SKIP_GRAM: groups of a sentence's words that follow one another, give or take a few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..lite.context import Context
from ..lite.errors import InvokeError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.string_tensor import pack_strings, strings_of
from ..lite.tensor import TensorType
from .index_vector import check_counts, check_index_type
from .operators import registration

_SPACES = b" \t\n\v\f\r"


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("SKIP_GRAM", node, 1)
    y = context.output(node, 0)
    check_index_type("SKIP_GRAM", "input", context.input(node, 0), (TensorType.STRING,))
    check_index_type("SKIP_GRAM", "output", y, (TensorType.STRING,))
    context.set_dynamic(y)
    return None


def words_of(sentence: bytes) -> list[bytes]:
    """The words of a sentence.

    As in the reference, a first character that is a space and the rest behind the last space belong
    to words, even where that makes a word of spaces.
    """
    words = []
    start = 0
    for i in range(1, len(sentence)):
        if sentence[i] in _SPACES:
            if i > start and sentence[start] not in _SPACES:
                words.append(sentence[start:i])
            start = i + 1
    if len(sentence) > start:
        words.append(sentence[start:])
    return words


def grams(count: int, size: int, skip: int, every_size: bool) -> Iterator[tuple[int, ...]]:
    """Rising word numbers under count, `size` of them or up to `size`; each leaves out up to `skip` words."""

    def longer(gram: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(gram) < size:
            for following in range(gram[-1] + 1, min(gram[-1] + skip + 2, count)):
                yield from longer((*gram, following))
        if every_size or len(gram) == size:
            yield gram

    for first in range(count):
        yield from longer((first,))


def invoke(context: Context, node: Node) -> None:
    x, y, options = context.input(node, 0), context.output(node, 0), node.options
    strings = strings_of(x)
    if not strings:
        raise InvokeError("SKIP_GRAM: the input must hold a string, got none")
    words = words_of(strings[0])
    size, skip = int(getattr(options, "ngram_size", 0)), int(getattr(options, "max_skip_size", 0))
    chosen: list[bytes] = []
    if len(words) >= size > 0:
        for gram in grams(len(words), size, skip, bool(getattr(options, "include_all_ngrams", False))):
            context.cancellation.check()
            chosen.append(b" ".join(words[i] for i in gram))
    context.resize_tensor(y, (len(chosen),))
    y.bind(pack_strings(chosen))


REGISTRATIONS = (registration("SKIP_GRAM", prepare, invoke),)
