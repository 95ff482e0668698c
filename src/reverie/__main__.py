"""``python -m reverie`` is the command ``reverie``."""

from reverie.surfaces.cli import main

if __name__ == "__main__":
    main()
