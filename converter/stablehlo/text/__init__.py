"""Programs in MLIR's text: the module, its types and attributes, and the forms of operations."""
