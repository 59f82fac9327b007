"""Mutants of the board's host link; `PROOFS` names the proof that must also fail."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "crc_off",
        "board.packet_receiver",
        "with m.If(~crc.match_detected):",
        "with m.If(0):",
        "a packet with a wrong CRC is refused",
    ),
    Mutant(
        "crc_of_the_payload_only",
        "board.packet_receiver",
        'with m.State("length"):\n',
        'with m.State("length"):\n                m.d.comb += begin.eq(1)\n',
        "the CRC is of the header too",
    ),
    Mutant(
        "half_packet_waits",
        "board.packet_receiver",
        "with m.Elif(silence == 0):",
        "with m.Elif(0):",
        "half a packet is dropped after a silence",
    ),
    Mutant(
        "stop_bit_ignored",
        "board.packet_receiver",
        "with m.If(self.broken):",
        "with m.If(0):",
        "a byte without a stop bit breaks its packet",
    ),
    Mutant(
        "rest_of_a_broken_packet_is_read",
        "board.packet_receiver",
        'm.d.sync += reason.eq(Status.CRC)\n                    m.next = "drain"',
        "m.d.sync += reason.eq(Status.CRC)",
        "what comes behind a broken packet is thrown away up to a silence",
    ),
    Mutant(
        "any_length",
        "board.packet_receiver",
        "with m.If(length > MAX_PAYLOAD):",
        "with m.If(0):",
        "a packet longer than the buffer is refused",
    ),
    Mutant(
        "sequence_ignored",
        "board.session",
        "with m.Elif(request.sequence == following):",
        "with m.Elif(1):",
        "a request is carried out once, in order",
    ),
    Mutant(
        "done_again",
        "board.session",
        'm.d.sync += answer.eq(kept)\n                        m.next = "reply"',
        'm.next = "start"',
        "a request that comes again is answered again, not carried out",
    ),
    Mutant(
        "reply_not_kept",
        "board.session",
        "m.d.sync += kept.eq(answer)",
        "m.d.sync += kept.eq(kept)",
        "the reply that is sent again is the one of that request",
    ),
    Mutant(
        "works_without_a_session",
        "board.session",
        "with m.Elif(~self.is_open):",
        "with m.Elif(0):",
        "nothing is carried out before hello",
    ),
    Mutant(
        "hello_resets_nothing",
        "board.session",
        "self.reset.eq(1), self.is_open.eq(1), patience",
        "self.is_open.eq(1), patience",
        "hello resets the unit",
    ),
    Mutant(
        "waits_for_ever",
        "board.session",
        "stuck = patience == 0",
        "stuck = 0",
        "a request that does not end closes the session",
    ),
    Mutant(
        "glitch_is_a_start_bit",
        "board.uart",
        'with m.If(line):\n                        m.next = "rest"',
        'with m.If(0):\n                        m.next = "rest"',
        "a start bit lasts half a bit at least",
    ),
    Mutant(
        "samples_at_the_edge",
        "board.uart",
        "Cat(phase, middle).eq((1 << _PHASE_BITS - 1) + late), bits",
        "Cat(phase, middle).eq(late), bits",
        "bits are read in their middle",
    ),
    Mutant(
        "start_bit_too_long",
        "board.uart",
        "Cat(phase, tick).eq(self.step),  # `tick` is a clock late",
        "Cat(phase, tick).eq(0),",
        "bits are as long as each other",
    ),
    Mutant(
        "no_time_after_a_reset",
        "board.session",
        'm.next = "release"',
        'm.next = "start"',
        "a reset has left the unit when a request begins",
    ),
    Mutant(
        "news_not_held",
        "board.packet_receiver",
        "m.d.comb += self.o.valid.eq(1)\n                with m.If(self.o.ready):",
        "m.d.comb += self.o.valid.eq(1)\n                with m.If(1):",
        "a packet is told of until the session has taken it",
    ),
    Mutant(
        "reply_cut",
        "board.packet_sender",
        "with m.If(count == header.length):",
        "with m.If((count == header.length) | (count == 1)):",
        "the whole payload is sent",
    ),
    Mutant(
        "reply_not_waited_for",
        "board.packet_sender",
        "self.o.payload.eq(short)]\n                with m.If(moves):",
        "self.o.payload.eq(short)]\n                with m.If(1):",
        "a byte of the CRC is sent until the line has taken it",
    ),
]

PROOFS = {
    "crc_off": "packet_receiver-packets",
    "half_packet_waits": "packet_receiver-packets",
    "news_not_held": "packet_receiver-contract",
    "sequence_ignored": "session-rules",
    "no_time_after_a_reset": "session-rules",
    "reply_cut": "packet_sender-packets",
    "reply_not_waited_for": "packet_sender-packets",
    "samples_at_the_edge": "uart_receiver-bytes4",
    "start_bit_too_long": "uart_transmitter-bytes4",
}

PROOF_ONLY = {"news_not_held", "start_bit_too_long"}
"""What the simulations do not see: in them it makes no difference."""
