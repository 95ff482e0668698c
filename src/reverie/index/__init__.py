"""The derived index of an agent: chunks, words and vectors of its files, kept in ``index.sqlite``.

Nothing here is truth: the file may be deleted at any moment and is made again from the workspace and the
transcripts (choice C2, invariant I9). Start at :class:`reverie.index.index.Index`.
"""
