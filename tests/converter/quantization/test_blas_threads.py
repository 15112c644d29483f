"""Linear algebra in one thread while a model is improved, and as before afterwards."""

import numpy as np
import pytest
from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.blas_threads import blas_threads, single_threaded_blas
from numlite.converter.quantization.gptq import gptq

from .float_models import samples
from .uneven_models import depthwise, uneven


def test_one_thread_and_then_as_many_as_before() -> None:
    before = blas_threads()
    if before is None:
        pytest.skip("NumPy came without an OpenBLAS of its own")
    with pytest.raises(ZeroDivisionError), single_threaded_blas():
        assert blas_threads() == 1
        assert np.allclose(np.linalg.inv(2 * np.eye(300)), np.eye(300) / 2)
        raise ZeroDivisionError
    assert blas_threads() == before


def test_improving_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    if blas_threads() is None:
        pytest.skip("NumPy came without an OpenBLAS of its own")
    seen = []

    def watched(*arguments: object) -> np.ndarray:
        seen.append(blas_threads())
        return gptq(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("numlite.converter.quantization.mending.gptq", watched)
    content = uneven(depthwise)
    quantizer = Quantizer(content, recipes.static_int8())
    quantizer.quantize(quantizer.calibrate(samples(content, 20)))
    assert set(seen) == {1}
