"""The runtime and the contracts that kernels and delegates are written against."""
