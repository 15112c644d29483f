"""Images and boxes."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY, times


def _pair(c: ShapeContext, index: int) -> tuple[int, int]:
    """Height and width that an input gives."""
    sizes = c.numbers(index)
    if sizes is None:
        return ANY, ANY
    if len(sizes) != 2:
        raise c.fault(f"size must have 2 elements, got {len(sizes)}")
    height, width = (ANY if size is None else size for size in sizes)
    return height, width


def resize(c: ShapeContext) -> Results:
    x = c.ranked(0, 4)
    height, width = _pair(c, 1)
    return [(x[0], height, width, x[3])]


def quantized_resize(c: ShapeContext) -> Results:
    return [resize(c)[0], (), ()]


def resize_gradient(c: ShapeContext) -> Results:
    """As many images as the gradient has. ResizeNearestNeighborGrad has their size, the others an image."""
    x = c.ranked(0, 4)
    if c.op == "ResizeNearestNeighborGrad":
        height, width = _pair(c, 1)
        return [(x[0], height, width, x[3])]
    _, height, width, _ = c.ranked(1, 4)
    return [(x[0], height, width, x[3])]


def crop_and_resize(c: ShapeContext) -> Results:
    x, boxes = c.ranked(0, 4), c.ranked(1, 2)
    height, width = _pair(c, 3)
    return [(boxes[0], height, width, x[3])]


def non_max_suppression(c: ShapeContext) -> Results:
    """Indices of chosen boxes, at most as many as the third input; V4 and V5 may pad up to it."""
    most = c.number(2)
    padded = "pad_to_max_output_size" in c.attributes and c.flag("pad_to_max_output_size")
    chosen = (most if padded and most is not None else ANY,)
    if c.op == "NonMaxSuppressionV4":
        return [chosen, ()]
    if c.op == "NonMaxSuppressionV5":
        return [chosen, chosen, ()]
    return [chosen]


def combined_non_max_suppression(c: ShapeContext) -> Results:
    """Boxes, scores, classes and the number of them, for each image of the batch."""
    boxes, scores = c.ranked(0, 4), c.ranked(1, 3)
    batch = c.merged(boxes[:1], scores[:1])
    assert batch is not None
    per_class, total = c.number(2), c.number(3)
    count = ANY if total is None else total
    if c.flag("pad_per_class"):
        most = ANY if per_class is None else times(per_class, scores[2])
        count = ANY if ANY in (count, most) else min(count, most)
    return [(*batch, count, 4), (*batch, count), (*batch, count), batch]


def decode(c: ShapeContext) -> Results:
    """DecodePng and its kin: an image, or frames, with as many channels as asked for."""
    channels = c.integer("channels") if "channels" in c.attributes else 3
    if c.op == "DecodeGif":
        return [(ANY, ANY, ANY, 3)]
    if c.op == "DecodeImage" and c.flag("expand_animations"):
        return [None]
    return [(ANY, ANY, channels or ANY)]


def draw_boxes(c: ShapeContext) -> Results:
    return [c.ranked(0, 4)]


def extract_glimpse(c: ShapeContext) -> Results:
    x = c.ranked(0, 4)
    height, width = _pair(c, 1)
    return [(x[0], height, width, x[3])]


def transform(c: ShapeContext) -> Results:
    """ImageProjectiveTransform: the third input is height and width."""
    x = c.ranked(0, 4)
    height, width = _pair(c, 2)
    return [(x[0], height, width, x[3])]


_RESIZE = ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea", "ScaleAndTranslate")
_RESIZE_GRADIENT = ("ResizeBilinearGrad", "ResizeBicubicGrad", "ResizeNearestNeighborGrad")
_SUPPRESSION = tuple(f"NonMaxSuppression{v}" for v in ("", "V2", "V3", "V4", "V5", "WithOverlaps"))
_DECODE = ("DecodePng", "DecodeJpeg", "DecodeBmp", "DecodeGif", "DecodeImage", "DecodeAndCropJpeg")
REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(_RESIZE, resize),
    "QuantizedResizeBilinear": quantized_resize,
    **dict.fromkeys(_RESIZE_GRADIENT, resize_gradient),
    "CropAndResize": crop_and_resize,
    **dict.fromkeys(_SUPPRESSION, non_max_suppression),
    "CombinedNonMaxSuppression": combined_non_max_suppression,
    **dict.fromkeys(_DECODE, decode),
    **dict.fromkeys(("DrawBoundingBoxes", "DrawBoundingBoxesV2"), draw_boxes),
    **dict.fromkeys(("ExtractGlimpse", "ExtractGlimpseV2"), extract_glimpse),
    **dict.fromkeys(("ImageProjectiveTransformV2", "ImageProjectiveTransformV3"), transform),
}
