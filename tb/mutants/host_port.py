"""Mutants of the host port."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "answers_mixed_up",
        "host_port",
        "self.i_port.tag[TAG_BITS:] == n",
        "self.i_port.tag[TAG_BITS:] == 0",
        "each client gets the answers to its requests",
    ),
    Mutant(
        "no_credits",
        "host_port",
        "take = delay(m, taking[n], 1",
        "take = delay(m, taking[n] & 0, 1",
        "a request is let through only with a place for its answer",
    ),
    Mutant(
        "credits_not_given_back",
        "host_port",
        "credits.give.eq(o.valid & o.ready)",
        "credits.give.eq(0)",
        "a place that becomes free is used again",
    ),
]
