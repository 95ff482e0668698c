"""Reading Zstandard frames (RFC 8878), which newer OpenClaw databases and archives hold."""

from __future__ import annotations

from reverie.core.errors import ImportRefused


def decompress(data: bytes, limit: int) -> bytes:
    """Return what one or several frames hold.

    Raises:
        ImportRefused: the data is damaged, needs a dictionary, or holds more than ``limit`` bytes.
    """
    # Loaded here: only databases of newer versions need it.
    import zstandard

    found = b""
    rest = data
    while rest:
        reader = zstandard.ZstdDecompressor().decompressobj(read_across_frames=False)
        try:
            found += reader.decompress(rest)
        except zstandard.ZstdError as error:
            raise ImportRefused("A compressed message is damaged", cause=str(error)) from error
        if not reader.eof:
            raise ImportRefused("A compressed message breaks off")
        if len(found) > limit:
            raise ImportRefused("A compressed message holds more than is expected", limit=limit)
        rest = reader.unused_data
    return found
