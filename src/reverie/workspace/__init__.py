"""Floor 1: the files of a workspace - reading, writing without loss, Markdown by line, the named notes."""
