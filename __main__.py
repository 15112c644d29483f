"""`python -m numlite` is the command `numlite`."""

from .cli import numlite

if __name__ == "__main__":
    numlite()
