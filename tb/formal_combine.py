"""Proofs of the combine stage and of the addresses of words, in a small configuration."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from amaranth.hdl import Array, Assume, Cat, Const, Module, Mux, Value
from combine_merge import CombineMerge
from kit.fold import byte_of
from kit.formal import Proof, StreamContract, contract_proofs, valid_proof
from kit.part_spec import PartSpec, part_proof
from kit.side_contract import side_proofs

from minmip.hw.combine import Combine
from minmip.hw.config import SMALL
from minmip.hw.lib.delay import delay
from minmip.hw.texel_groups import TexelGroups
from minmip.hw.word_addresses import WordAddresses
from minmip.hw.word_beats import TEXELS, WORDS
from minmip.hw.word_expand import WordExpand

__all__ = ["proofs"]

CONFIG = replace(SMALL, lanes=2, word_bytes=4)


class Bytes(PartSpec):
    """A byte of a word has its mask bit if a lane's texel is there, and the strongest value."""

    def __init__(self):
        super().__init__(WordExpand(CONFIG))
        self.slot, self.byte = self.free(2, "slot"), self.free(CONFIG.word_log2, "byte")

    def properties(self, m: Module) -> None:
        later = delay(m, Const(1, 1), 1, name="later", reset_less=False)
        for value in (self.slot, self.byte):
            m.d.comb += Assume(~later | (value == delay(m, value, 1, name="same")))
        super().properties(m)

    def legal(self, inputs: dict) -> Value:
        first, second = inputs["i"].rank
        return ((first == 1) & (second == 2)) | ((first == 2) & (second == 1))

    def rule(self, m: Module, inputs: dict) -> list:
        beat = inputs["i"]
        writes = Cat(
            Cat(
                lane.joins[t] & (lane.slot[t] == self.slot) & (lane.byte[t] == self.byte)
                for t in range(TEXELS)
            ).any()
            for lane in beat.lane
        )
        second = Mux(writes == 3, beat.rank[0] == 2, writes == 2)
        words = [self.block.o[n] for n in range(WORDS)]
        mask = Array(byte_of(word.mask, self.byte) for word in words)[self.slot]
        made = Array(byte_of(word.data, self.byte) for word in words)[self.slot]
        value = Mux(second, beat.value[1], beat.value[0])
        return [(mask, writes.any()), (mask & (made != value), 0)]


class Ranks(PartSpec):
    """The lanes by their values: the smallest first, or the largest; of equal ones the first."""

    def rule(self, m: Module, inputs: dict) -> list:
        beat = inputs["i"]
        first, second = (lane.value for lane in beat.lane)
        other = Mux(beat.descending, second > first, second < first)
        return [(self.block.o.rank[0], Mux(other, 2, 1)), (self.block.o.rank[1], Mux(other, 1, 2))]


class Words(PartSpec):
    """Each live lane is in one group; texels of a group have one slot when they share a word."""

    def __init__(self):
        super().__init__(TexelGroups(CONFIG))

    def rule(self, m: Module, inputs: dict) -> list:
        beat, out, bits = inputs["i"], self.block.o, CONFIG.word_log2
        live = Cat(lane.live for lane in beat.lane)
        laws = [((out.group[0] ^ out.group[1]) == live) & ((out.group[0] & out.group[1]) == 0)]
        texels = [(n, t) for n in range(CONFIG.lanes) for t in range(TEXELS)]

        def touched(n, t):
            lane = beat.lane[n]
            return lane.live & lane.x_touched[t & 1] & lane.y_touched[t >> 1]

        for (a, s), (b, t) in combinations(texels, 2):
            one, two = beat.lane[a], beat.lane[b]
            shared = (one.x[s & 1][bits:] == two.x[t & 1][bits:]) & (one.y[s >> 1] == two.y[t >> 1])
            if a != b:
                shared &= (one.slice == two.slice) & (one.mip == two.mip)
            together = Const(1, 1) if a == b else out.group[0].all() | out.group[1].all()
            asked = touched(a, s) & touched(b, t) & together
            laws.append(~asked | ((out.lane[a].slot[s] == out.lane[b].slot[t]) == shared))
        return [(law, 1) for law in laws]


def proofs() -> list[Proof]:
    return [
        *contract_proofs(
            "combine",
            lambda: StreamContract(Combine(CONFIG)),
            cover=Combine(CONFIG).latency + 6,
        ),
        Proof(
            block="combine",
            name="merge",
            says=str(CombineMerge.__doc__),
            make=lambda: CombineMerge(CONFIG),
            mode="bmc",
            depth=CombineMerge(CONFIG).clocks + 1,
            long=True,
        ),
        Proof(
            block="combine",
            name="merge-reached",
            says="Lanes of different values write the watched texel.",
            make=lambda: CombineMerge(CONFIG),
            mode="cover",
            depth=CombineMerge(CONFIG).clocks + 1,
        ),
        part_proof("combine", "bytes", str(Bytes.__doc__), Bytes),
        part_proof("combine", "ranks", str(Ranks.__doc__), lambda: Ranks(TexelGroups(CONFIG))),
        part_proof("combine", "words", str(Words.__doc__), Words),
        valid_proof("combine", lambda: TexelGroups(CONFIG)),
        *side_proofs(
            "word_addresses",
            lambda: WordAddresses(CONFIG),
            lambda block: (
                block.buffer.buffer,
                {block.buffer.queue: block.buffer.buffer.entry, block.words: block.expand.latency},
            ),
        ),
    ]
