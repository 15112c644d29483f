"""CuDNNLSTM and CuDNNGRU of Keras 1 and 2: LSTM and GRU whose weights lie as NVIDIA's library has them."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError
from .call import Call, Result
from .kind import Kind
from .rnn import REGISTRATIONS as PLAIN
from .rnn import recurrent_result

_GATES = {"LSTMCell": 4, "GRUCell": 3}


def cudnn(c: Call) -> Result:
    """The layer's result; its weights are brought into Keras's order first.

    Each gate's part of both kernels is stored transposed, and biases of inputs and of states stand behind
    each other.
    Source: Keras saving/legacy/hdf5_format.py, _convert_rnn_weights.
    """
    cell = c.layer.parts["cell"]
    gates, weights = _GATES[cell.kind], cell.weights
    bias = weights["bias"]
    units = cell.config.positive("units")
    if bias.shape == (2 * gates * units,):
        halves = bias.reshape(2, gates * units)
        weights["kernel"] = np.hstack([_turned(part) for part in _parts(weights["kernel"], gates)])
        weights["recurrent_kernel"] = np.hstack(
            [part.T for part in _parts(weights["recurrent_kernel"], gates)]
        )
        weights["bias"] = halves.sum(axis=0) if cell.kind == "LSTMCell" else halves
    return recurrent_result(c)


def _parts(array: np.ndarray, gates: int) -> list[np.ndarray]:
    if array.ndim != 2 or array.shape[1] % gates:
        raise ModelError(f"weights must be a matrix of {gates} gates, got the shape {list(array.shape)}")
    return np.hsplit(array, gates)


def _turned(part: np.ndarray) -> np.ndarray:
    """The transposed numbers of the part in its own shape."""
    return part.T.reshape(part.shape, order="F")


REGISTRATIONS: dict[str, Kind] = {
    f"CuDNN{name}": Kind(cudnn, parts=PLAIN[name].parts) for name in ("GRU", "LSTM")
}
