"""The measurements of Reverie: each module here is one program, started by ``scripts/bench NAME``."""
