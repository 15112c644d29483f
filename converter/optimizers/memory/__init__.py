"""memory: graphs that need less of a device's memory at once. `register` has what each mode does."""
