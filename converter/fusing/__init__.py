"""Passes that make a lowered model smaller: folding, fusing, removing."""
