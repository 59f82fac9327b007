"""A write-combining buffer of few and short words, as its proofs look at it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from unittest.mock import patch

from amaranth.hdl import Assume, Fragment, Module, ResetSignal
from amaranth.lib.data import View
from amaranth.utils import exact_log2
from kit.formal import Spec
from kit.named import named

from minmip.hw import shapes, word_beats, word_match
from minmip.hw.combining_buffer import CombiningBuffer
from minmip.hw.config import SMALL
from minmip.hw.lib.credit_counter import CreditCounter
from minmip.hw.lib.queue import Queue
from minmip.hw.replay_queue import ReplayQueue
from minmip.hw.shapes import memory_request
from minmip.hw.word_beats import words_request

__all__ = ["BEATS", "CFG", "PLACES", "PLACE_BITS", "Probed"]

CFG = replace(SMALL, word_bytes=4, combine_entries=2, combine_age=32)
ADDRESS_BITS = 12
CHUNK = 5
"""Word addresses of 10 bits, which the look-up compares in two pieces."""
BEATS = 4
"""Rows of beats in the proof: one for each step of the look-up and one more."""
PLACES = 4
"""Rows and credits of the queue at the output: more than the credits that are kept back."""
PLACE_BITS = exact_log2(PLACES)


class Probed(Spec):
    """A buffer of short queues, elaborated at once so that what is inside is known by name."""

    def __init__(self, cfg=CFG):
        with ExitStack() as short:
            for module in (shapes, word_beats, word_match):
                short.enter_context(patch.object(module, "ADDRESS_BITS", ADDRESS_BITS))
            short.enter_context(patch.object(word_match, "_CHUNK", CHUNK))
            block = CombiningBuffer(cfg)
            block.rows = ReplayQueue(words_request(cfg), BEATS)
            block.queue = Queue(memory_request(cfg), PLACES, never_full=True)
            block.credits = CreditCounter(PLACES, registers=1)
            self.views = [block.rows.rows.read_port(domain="comb") for _ in range(BEATS)]
            self.leaving = [block.queue.rows.read_port(domain="comb") for _ in range(PLACES)]
            super().__init__(block)
            self.fragment = Fragment.get(block, None)
        self.inside = named(self.fragment)
        self.look_up = named(self.fragment, "match")
        self.words = [named(self.fragment, f"word{n}") for n in range(cfg.combine_entries)]

    def beat(self, signal):
        return View(self.block.rows.shape, signal)

    def elaborate(self, platform):
        m = Module()
        m.submodules.block = self.fragment
        m.d.comb += Assume(~ResetSignal(allow_reset_less=True))
        self.properties(m)
        return m
