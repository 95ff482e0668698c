"""Databases of an agent: one way to open SQLite, and the durable store that files cannot replace."""
