"""Programs that a measurement starts, each to look at one store from inside one process; they print JSON."""
