"""``python -m decodescope`` is the ``decodescope`` command."""

from .cli.main import main

if __name__ == "__main__":
    main()
