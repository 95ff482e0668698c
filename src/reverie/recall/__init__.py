"""Floor 3: from a question to ranked hits, and from a session to the prompt block."""
