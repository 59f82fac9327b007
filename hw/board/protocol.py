"""Numbers of the host link, in plain Python: the board and the host side both read them.

A packet is SYNC, sequence number, code, length of the payload (2 bytes), payload, CRC-32 (4 bytes)
of everything between SYNC and itself. Numbers are little endian. The code of a request is a
`Command`, that of a reply a `Status`. `docs/board.md` has the rules.
"""

from enum import IntEnum

__all__ = [
    "ANSWER_BYTES",
    "COUNTER_BYTES",
    "HEADER_BYTES",
    "MAX_ANSWERS",
    "MAX_PAYLOAD",
    "NUMBER_BYTES",
    "PAYLOAD_BYTES",
    "PROTOCOL",
    "SYNC",
    "Command",
    "Status",
]

PROTOCOL = 1
"""Version of all this; `hello` answers with it."""
SYNC = 0x6D
"""First byte of a packet."""
HEADER_BYTES = 4
"""Sequence number, code, length."""
MAX_PAYLOAD = 2047
"""Bytes of a payload: a block RAM holds one."""
ANSWER_BYTES = 12
"""An answer of the unit, filled up to 32-bit words."""
MAX_ANSWERS = MAX_PAYLOAD // ANSWER_BYTES
"""Quads in a packet."""
COUNTER_BYTES = 6
"""An event counter."""


class Command(IntEnum):
    """What a request asks for; `PAYLOAD_BYTES` has the fields."""

    HELLO = 1
    """Open a session: reset the unit, take this sequence number. Reply: the build, JSON."""
    BOUNDS = 2
    """Set the first 256-byte block of the map memory and the first one behind it."""
    CLEAR = 3
    """Fill a range of the map memory with a byte: start, length, value."""
    WRITE = 4
    """Write whole memory words: byte address, then the bytes."""
    READ = 5
    """Read whole memory words: byte address, number of words. Reply: the bytes."""
    QUADS = 6
    """Send quads and flushes. Reply: their answers."""
    COUNTERS = 7
    """Read all event counters. Reply: the sums."""


PAYLOAD_BYTES = {
    Command.HELLO: (),
    Command.BOUNDS: (5, 6),
    Command.CLEAR: (6, 4, 1),
    Command.WRITE: (6,),
    Command.READ: (6, 2),
    Command.QUADS: (),
    Command.COUNTERS: (),
}
"""Bytes of each number that a request begins with; only WRITE and QUADS have more behind."""
NUMBER_BYTES = max(sum(sizes) for sizes in PAYLOAD_BYTES.values())
"""Room for these numbers."""


class Status(IntEnum):
    """What became of a request. From MALFORMED on it was looked at, below (but DONE) it was not."""

    DONE = 0
    CRC = 1
    """The packet is broken."""
    SHORT = 2
    """The packet stopped in the middle."""
    NOISE = 3
    """A byte of the packet had no stop bit."""
    LONG = 4
    """The packet announces more than MAX_PAYLOAD bytes."""
    SEQUENCE = 5
    """Neither the request that follows the last one, nor that one again."""
    CLOSED = 6
    """No session: the board was reset."""
    MALFORMED = 16
    """There is no such command, or its payload does not fit."""
    OUTSIDE = 17
    """Some bytes lie outside the map memory; those inside it were written."""
    STUCK = 18
    """The unit did not answer: the session is closed."""
