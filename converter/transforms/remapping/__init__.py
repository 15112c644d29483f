"""Rules of the remapper: several nodes that one fused op does."""
