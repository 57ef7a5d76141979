"""``python -m loccit`` is the ``loccit`` command."""

from loccit.cli import main

if __name__ == "__main__":
    main()
