"""The commands `numlite` and `convert-model`."""
