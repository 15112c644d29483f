"""Where packs lie: the kernels compiled for each target, which wheels carry and a checkout has not."""
