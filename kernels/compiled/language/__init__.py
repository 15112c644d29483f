"""What kernels are written in: pointers, elements, atomic words, vectors and functions of them."""
