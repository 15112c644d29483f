"""What authors of delegates use, and the delegates that come with numlite."""
