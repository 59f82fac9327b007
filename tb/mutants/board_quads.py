"""Mutants of the quads of the host link; `PROOFS` names the proof that must also fail."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "tag_stays",
        "board.quad_loader",
        "m.d.sync += tag.eq(tag + 1)",
        "m.d.sync += tag.eq(tag)",
        "quads are numbered",
    ),
    Mutant(
        "mask_cut",
        "board.quad_loader",
        "mask[8:].eq(self.i.payload)",
        "mask[8:].eq(0)",
        "every group may be sent",
    ),
    Mutant(
        "words_from_high_to_low",
        "board.quad_loader",
        "target.eq(Cat(word, self.i.payload))",
        "target.eq(Cat(self.i.payload, word))",
        "bytes come lowest first",
    ),
    Mutant(
        "half_a_record_is_sent",
        "board.quad_loader",
        'm.d.comb += [self.done.eq(1), self.broken.eq(1)]\n                m.next = "rest"',
        'm.next = "send"',
        "a record that is not whole is not sent",
    ),
    Mutant(
        "room_ignored",
        "board.quad_loader",
        "with m.If(self.i.valid & self.room):",
        "with m.If(self.i.valid):",
        "no quad without a place for its answer",
    ),
    Mutant(
        "quad_not_held",
        "board.quad_loader",
        "with m.If(self.o.ready):\n                    m.d.sync += tag",
        "with m.If(1):\n                    m.d.sync += tag",
        "a quad is offered until it is taken",
    ),
]

PROOFS = {"quad_not_held": "quad_loader-contract"}

PROOF_ONLY = {"quad_not_held"}
"""What the simulations do not see: in them it makes no difference."""
