"""The computing half of each op family, and the driver that compiles it and keeps the result."""
