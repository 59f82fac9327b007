"""cocotb bench of the memory port: who was let in is seen at the ports, then the model follows."""

from __future__ import annotations

import os

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, with_timeout
from cocotb_stream import Port
from kit.packing import beats_of_ints, ints_of_beats, pack, unpack
from kit.vlib import TRAFFIC
from memory_bench import BASE, BLOCKS, SMALL, apply_in_order

from minmip.hw.shapes import CLIENT_BITS, MemoryOp, host_request, host_response, memory_request

WORDS = BLOCKS * 256 // SMALL.word_bytes
OWN, HOST = memory_request(SMALL), host_request(SMALL, CLIENT_BITS)


class Bench:
    """Drives both requesters, and notes what is accepted and answered."""

    def __init__(self, dut, traffic):
        self.dut, self.traffic = dut, traffic
        self.accepted: list[tuple[str, int]] = []  # (stream, beat)
        self.answers: list[int] = []
        with np.load(os.environ["MINMIP_BENCH"]) as file:
            self.sent = {name: ints_of_beats(file[f"i:{name}"]) for name in ("i", "i_host")}

    async def start(self):
        dut = self.dut
        dut.base.value, dut.limit.value = BASE, BASE + BLOCKS
        cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
        await self.reset()
        cocotb.start_soon(self.watch())
        await self.send("i_host", self.every_word((1 << SMALL.word_bytes) - 1))

    async def reset(self):
        for name in ("i", "i_host"):
            getattr(self.dut, f"{name}__valid").value = 0
        self.dut.rst.value = 1
        for _ in range(3):
            await RisingEdge(self.dut.clk)
        self.dut.rst.value = 0

    def every_word(self, mask):
        address = BASE * 256 // SMALL.word_bytes + np.arange(WORDS)
        data = (address[:, None] * 37 + np.arange(SMALL.word_bytes)) % 256
        columns = {"address": address, "data": data, "mask": np.full(WORDS, mask)}
        return ints_of_beats(pack(HOST, columns | {"tag": address % 256}))

    async def send(self, name, beats):
        port = Port(self.dut, name, self.traffic.valid, self.traffic.longest)
        await port.send(beats)

    async def watch(self):
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            taken = [
                (name, getattr(dut, f"{name}__payload").value.to_unsigned())
                for name in ("i", "i_host")
                if getattr(dut, f"{name}__valid").value == 1
                and getattr(dut, f"{name}__ready").value == 1
                and dut.rst.value == 0
            ]
            assert len(taken) < 2, "two operations in one clock"
            self.accepted += taken
            if dut.o_host__valid.value == 1:
                self.answers.append(dut.o_host__payload.value.to_unsigned())

    async def both(self):
        tasks = [cocotb.start_soon(self.send(name, beats)) for name, beats in self.sent.items()]
        for task in tasks:
            await task

    async def read_back(self):
        await self.send("i_host", self.every_word(0))
        for _ in range(20):
            await RisingEdge(self.dut.clk)

    def merged(self):
        """What was accepted, in order, as columns."""
        host = np.array([name == "i_host" for name, _ in self.accepted])
        columns = {}
        for name, shape in (("i", OWN), ("i_host", HOST)):
            beats = [beat for stream, beat in self.accepted if stream == name]
            columns[name] = unpack(shape, beats_of_ints(beats, shape.size))
        columns["i_host"]["op"] = np.full(host.sum(), MemoryOp.SET)
        order = np.argsort(np.argsort(host, kind="stable"), kind="stable")
        return {
            key: np.concatenate([columns["i"][key], columns["i_host"][key]])[order]
            for key in ("op", "address", "data", "mask")
        } | {"is_host": host}

    def answered(self):
        shape = host_response(SMALL, CLIENT_BITS)
        return unpack(shape, beats_of_ints(self.answers, shape.size))


@cocotb.test()
@cocotb.parametrize(mode=list(TRAFFIC))
async def traffic(dut, mode):
    """Every answer, and the whole memory at the end, in the order of acceptance."""
    bench = Bench(dut, TRAFFIC[mode])
    await bench.start()
    await with_timeout(bench.both(), 2, "ms")
    await with_timeout(bench.read_back(), 2, "ms")
    wanted = apply_in_order(np.zeros(BLOCKS * 256, np.uint8), SMALL, bench.merged())
    answers = bench.answered()
    np.testing.assert_array_equal(answers["data"], wanted["data"])
    np.testing.assert_array_equal(answers["error"], wanted["error"])


@cocotb.test()
async def reset_in_the_middle(dut):
    """The memory holds what a first part of the accepted operations made of it."""
    bench = Bench(dut, TRAFFIC["both"])
    await bench.start()
    tasks = [cocotb.start_soon(bench.send(name, beats)) for name, beats in bench.sent.items()]
    for _ in range(300):
        await RisingEdge(dut.clk)
    for task in tasks:
        task.cancel()
    await bench.reset()
    merged = bench.merged()
    count = len(merged["op"])
    bench.answers.clear()
    await bench.read_back()
    read = bench.answered()["data"].ravel()
    memory = np.zeros(BLOCKS * 256, np.uint8)
    part = count - 15
    apply_in_order(memory, SMALL, {key: value[:part] for key, value in merged.items()})
    while not np.array_equal(memory, read):
        assert part < count, "no part of the operations gives this memory"
        apply_in_order(memory, SMALL, {k: v[part : part + 1] for k, v in merged.items()})
        part += 1
