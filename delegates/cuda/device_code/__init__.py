"""The device code: Triton functions, a file a family, and CUDA C++ for what Triton does badly.

Nothing but delegates/cuda/compile.py and the simulated device imports these modules: they need Triton.
"""
