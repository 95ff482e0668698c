"""Reading Zstandard frames (RFC 8878), which newer OpenClaw databases and archives hold."""

from __future__ import annotations

from reverie.core.errors import ImportRefused

#: Bytes that are unpacked at a time. One can become tens of thousands; too many are noticed before they are there.
_STEP = 512


def decompress(data: bytes, limit: int) -> bytes:
    """Return what one or several frames hold.

    Raises:
        ImportRefused: the data is damaged, needs a dictionary, or holds more than ``limit`` bytes.
    """
    # Loaded here: only databases of newer versions need it.
    import zstandard

    found, at = bytearray(), 0
    while at < len(data):
        reader = zstandard.ZstdDecompressor().decompressobj(read_across_frames=False)
        while at < len(data) and not reader.eof:
            try:
                found += reader.decompress(data[at : at + _STEP])
            except zstandard.ZstdError as error:
                raise ImportRefused("A compressed message is damaged", cause=str(error)) from error
            if len(found) > limit:
                raise ImportRefused("A compressed message holds more than is expected", limit=limit)
            at = min(at + _STEP, len(data))
        if not reader.eof:
            raise ImportRefused("A compressed message breaks off")
        at -= len(reader.unused_data)
    return bytes(found)
