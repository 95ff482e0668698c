"""The parts of the speed benchmark: each measures one thing and returns tables."""
