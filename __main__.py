"""`python -m numlite` is the command `numlite`."""

from .cli.main import main

if __name__ == "__main__":
    main()
