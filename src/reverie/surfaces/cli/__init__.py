"""The command line: ``reverie COMMAND``. Commands are loaded when they are used; see :mod:`.root` for the list."""

from reverie.surfaces.cli.root import main

__all__ = ["main"]
