"""Many rows through one model: a Predictor for Ray Data and Spark, and `numlite map` on one machine."""

from .predictor import Predictor

__all__ = ["Predictor"]
