"""The parts of ``poison``: a memory for it, the channels, the owner's own facts, the recall beside the poison."""
