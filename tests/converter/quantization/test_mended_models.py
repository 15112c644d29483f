"""Mended models: several of one float model, of which those that scale it alike share what takes long."""

from dataclasses import replace

from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.calibration import Calibration
from numlite.converter.quantization.float_graph import Site
from numlite.converter.quantization.full_integer import quantize_activations
from numlite.converter.quantization.mended_models import MendedModels
from numlite.converter.quantization.mending import PLAIN, Mending
from numlite.lite.model import Model

from .float_models import samples
from .uneven_models import depthwise, uneven


def mendings(found: Calibration) -> list[Mending]:
    """Of each kind one, scaled and not by turns."""
    scaled = Mending(share=1.0, channels=found.channels)
    half = replace(scaled, share=0.5)
    kept = {site: (0.5, 0.75) for site in found}
    return [PLAIN, scaled, replace(scaled, kept=kept), half, replace(PLAIN, kept=kept), PLAIN, scaled]


def test_models_are_those_that_are_made_one_by_one() -> None:
    model = Model(uneven(depthwise))
    found = Quantizer(model, recipes.static_int8()).calibrate(samples(bytes(model.content), 8))
    models = MendedModels(model, found)
    files = set()
    for mending in mendings(found):
        alone = quantize_activations(model, found, mending=mending)
        shared = quantize_activations(model, found, mending=mending, mended=models)
        made = shared.editor.finish().content()
        assert made == alone.editor.finish().content()
        assert shared.weights_db().keys() == alone.weights_db().keys()
        files.add(made)
    assert len(files) == 5


def test_integers_are_found_once_for_what_is_scaled_alike() -> None:
    model = Model(uneven(depthwise))
    found = Quantizer(model, recipes.static_int8()).calibrate(samples(bytes(model.content), 8))
    models, scaled = MendedModels(model, found), Mending(share=1.0, channels=found.channels)
    quantize_activations(model, found, mending=scaled, mended=models)
    first = models.made(scaled).rounded
    before = {key: id(values) for key, (_, values) in first.items()}
    assert before
    kept = replace(scaled, kept={site: (0.5, 0.5) for site in found})
    quantize_activations(model, found, mending=kept, mended=models)
    assert {key: id(values) for key, (_, values) in first.items()} == before
    assert models.made(PLAIN).rounded is not first
    assert not models.made(PLAIN).rounded


def test_ranges_that_are_kept_alike_are_the_same_mending() -> None:
    """What clips the same is not measured twice."""
    kept = {Site(0, 1): (0.5, 1.0)}
    assert replace(PLAIN, kept=kept).is_same(replace(PLAIN, kept=dict(kept)))
    assert not replace(PLAIN, kept=kept).is_same(replace(PLAIN, kept={Site(0, 1): (0.5, 0.75)}))
    assert not replace(PLAIN, kept=kept).is_same(PLAIN)
