"""Sessions: which conversation a message belongs to, and the transcript that keeps it whole."""
