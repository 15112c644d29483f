"""SavedModels and checkpoints: read, and made into one frozen graph for each signature."""
