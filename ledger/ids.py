"""UUIDs of version 7 (RFC 9562 section 5.7): they sort by time. Python has them from 3.14 on."""

from collections.abc import Callable
from uuid import UUID


def uuid7(at_ms: int, random: Callable[[int], bytes]) -> str:
    """Return a UUID of the time *at_ms* (milliseconds since 1970) and 74 random bits."""
    value = (at_ms & (1 << 48) - 1) << 80 | int.from_bytes(random(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(UUID(int=value))
