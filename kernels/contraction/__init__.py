"""Sums of products: convolutions and matrix products in every type, one stem for each operator."""
