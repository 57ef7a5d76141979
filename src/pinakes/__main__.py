"""``python -m pinakes`` is the ``pinakes`` command."""

from pinakes.cli import main

if __name__ == "__main__":
    main()
