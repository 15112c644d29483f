"""Preprocessing of images; random changes do nothing at inference."""

from __future__ import annotations

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.movement import padded
from ..building.tensor import Tensor
from .call import Call, Result
from .config import plain
from .core import identity
from .interpolation import resized
from .kind import Kind


def rescaling(c: Call) -> Tensor:
    """x * scale + offset; one number, or one for each channel."""
    x = c.floats(c.x)
    scale, offset = (c.as_tensor(plain(c.config.get(name)), name) for name in ("scale", "offset"))
    y = x * c.floats(scale)
    return y if offset.data is not None and not offset.data.any() else y + c.floats(offset)


def resizing(c: Call) -> Tensor:
    """To a size, cut or put around to keep the shape of what is seen."""
    size = [c.config.positive("height"), c.config.positive("width")]
    return as_batch(c, lambda x: resized_as_told(c, x, size, c.config.flag("crop_to_aspect_ratio")))


def as_batch(c: Call, change: object) -> Tensor:
    """The change of [n, h, w, c], also for one image [h, w, c] and channels first."""
    assert callable(change)
    x = c.x
    if x.rank not in (3, 4):
        raise ModelError(f"its input must have 3 or 4 dimensions, got {x.rank}")
    alone = x.rank == 3
    x = c.make("ExpandDims", x, c.body.scalar(0, DT_INT32)) if alone else x
    y = c.back(change(c.last(x)))
    return c.make("Squeeze", y, squeeze_dims=[0]) if alone else y


def _known(x: Tensor) -> tuple[int, int]:
    height, width = x.sizes[1:3]
    if -1 in (height, width):
        raise UnsupportedError("height and width must be known; input_shapes tells them")
    return height, width


def resized_as_told(c: Call, x: Tensor, size: list[int], crops: bool) -> Tensor:
    mode = c.config.text("interpolation", "bilinear").lower()
    if crops:
        height, width = _known(x)
        inner = (
            max(min(height, int(width * size[0] / size[1])), 1),
            max(min(width, int(height * size[1] / size[0])), 1),
        )
        x = box(x, [int((height - inner[0]) / 2), int((width - inner[1]) / 2)], list(inner))
    elif c.config.flag("pad_to_aspect_ratio"):
        x = _put_around(c, x, size)
    return resized(x, size, mode, c.config.flag("antialias"))


def _put_around(c: Call, x: Tensor, size: list[int]) -> Tensor:
    height, width = _known(x)
    outer = max(height, int(width * size[0] / size[1])), max(width, int(height * size[1] / size[0]))
    c.config.choice("fill_mode", ("constant",), "constant")
    first = int((outer[0] - height) / 2), int((outer[1] - width) / 2)
    pairs = [(first[i], outer[i] - size - first[i]) for i, size in enumerate((height, width))]
    return padded(x, [(0, 0), *pairs, (0, 0)], c.body.scalar(c.config.real("fill_value", 0.0), x.type))


def box(x: Tensor, start: list[int], size: list[int]) -> Tensor:
    """A part of each image."""
    body = x.body
    return body.op("Slice", x, body.integers([0, *start, 0]), body.integers([-1, *size, -1]))


def center_crop(c: Call) -> Tensor:
    """The middle; images that are too small are made larger before."""
    size = [c.config.positive("height"), c.config.positive("width")]

    def change(x: Tensor) -> Tensor:
        spare = [old - new for old, new in zip(_known(x), size, strict=True)]
        if min(spare) < 0:
            return resized_as_told(c, x, size, True)
        return box(x, [each // 2 for each in spare], size)

    return c.floats(as_batch(c, change))


def random_crop(c: Call) -> Result:
    """Keras 3 changes nothing at inference, Keras 2 makes the image as large as the part would be."""
    if not c.importer.shared.is_keras_2:
        return identity(c)
    size = [c.config.positive("height"), c.config.positive("width")]
    return as_batch(c, lambda x: resized_as_told(c, x, size, True))


_RANDOM = (
    *("AugMix", "CutMix", "MixUp", "RandAugment", "RandomBrightness", "RandomColorDegeneration"),
    *("RandomColorJitter", "RandomContrast", "RandomElasticTransform", "RandomErasing", "RandomFlip"),
    *("RandomGaussianBlur", "RandomGrayscale", "RandomHeight", "RandomHue", "RandomInvert"),
    *("RandomPerspective", "RandomPosterization", "RandomRotation", "RandomSaturation", "RandomSharpness"),
    *("RandomShear", "RandomTranslation", "RandomWidth", "RandomZoom"),
)
REGISTRATIONS: dict[str, Kind] = {
    **{name: Kind(identity, keeps_mask=True) for name in _RANDOM},
    "CenterCrop": Kind(center_crop),
    "RandomCrop": Kind(random_crop),
    "Rescaling": Kind(rescaling),
    "Resizing": Kind(resizing),
}
