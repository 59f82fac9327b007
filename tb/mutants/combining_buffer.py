"""Mutants of the combining buffer."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "stale_look_up",
        "word_match",
        "here = word.valid & asked_valid & ~hold",
        "here = word.valid & asked_valid",
        "beats behind one that changed the entries are looked up anew",
    ),
    Mutant(
        "look_up_skips",
        "replay_queue",
        "Mux(self.again, head_at, ahead_at) + 1",
        "Mux(self.again, head_at + 1, ahead_at) + 1",
        "the look-up goes back to the beat behind",
    ),
    Mutant(
        "conflict_ignored",
        "word_match",
        "is_op = asked.op == entry.op",
        "is_op = asked.op == asked.op",
        "a word held with another operation is written first",
    ),
    Mutant(
        "conflict_elsewhere",
        "combining_buffer",
        "Mux(is_conflict, own[n], hand[n])",
        "hand[n]",
        "a word is in one entry only",
    ),
    Mutant(
        "victim_lost",
        "combining_buffer",
        "out.eq((visit | start) & dirty)",
        "out.eq(visit & dirty)",
        "what an entry held is written when another word takes it",
    ),
    Mutant(
        "never_old",
        "combining_buffer",
        "due.eq(left[-1] | drain)",
        "due.eq(drain)",
        "a word leaves after its age",
    ),
    Mutant(
        "drained_early",
        "combining_buffer",
        "& (credits.credit == credits.places - credits.kept_back)",
        "",
        "what is on its way out is not drained",
    ),
    Mutant(
        "drained_without_entries",
        "combining_buffer",
        "& ~dirty.any()\n",
        "\n",
        "what is held is not drained",
    ),
    Mutant(
        "dirty_forgotten",
        "combining_buffer",
        "dirty.eq(touched | start | (dirty",
        "dirty.eq((touched & ~dirty) | start | (dirty",
        "a merge in the clock of the visit is written later",
    ),
    Mutant(
        "alias",
        "word_match",
        "for at in range(0, len(a), _CHUNK)",
        "for at in range(0, _CHUNK, _CHUNK)",
        "all of the address is compared",
    ),
    Mutant(
        "old_bytes_merge",
        "held_word",
        "replace = (fresh | ~self.mask[n])",
        "replace = (~self.mask[n])",
        "an entry that starts afresh forgets its bytes",
    ),
    Mutant(
        "mask_kept",
        "held_word",
        "taken | (self.mask & ~fresh.replicate(lanes))",
        "taken | self.mask",
        "an entry that starts afresh forgets its mask",
    ),
]
