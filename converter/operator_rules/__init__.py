"""Rules of lowered operators: folding, fusing, removing, so that a model gets smaller."""
