"""``python -m pinakes.cli`` is the ``pinakes`` command."""

from pinakes.cli import main

if __name__ == "__main__":
    main()
