"""The CUDA delegate: runs models on an NVIDIA GPU, int8 equal to the CPU bit for bit."""

from .delegate import CudaDelegate, create_delegate

__all__ = ["CudaDelegate", "create_delegate"]
