"""What comes in from other programs: their transcripts become sessions, their notes copies, their settings a proposal.

A source is opened for reading only. Nothing that comes in is trusted above what the host of the source recorded, or
what the owner vouches for.
"""
