"""The clients of the memory port's host side: one port for several, with room for every answer."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.config import UnitConfig
from minmip.hw.lib.credit_counter import CreditCounter
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue
from minmip.hw.memory_port import PORT_CLOCKS
from minmip.hw.shapes import CLIENT_BITS, TAG_BITS, host_request, host_response

__all__ = ["HostPort"]


class HostPort(wiring.Component):
    """Let several clients ask the memory port, in turn, and keep their answers for them.

    A request is let through only while its client has a free place for the answer, because the
    memory port can't wait. So no client holds up another by leaving its answers. Requests of one
    client are answered in order.

    One request per clock, in all and for a single client; a client that begins to ask waits one
    clock for its turn, and then for one request of each other client at most. Latency 2 to the
    memory port and 2 back. `i[n].ready` is a register; `o_port.ready` and `o[n].ready` reach
    nothing but registers.

    Parameters
    ----------
    cfg : UnitConfig
        Word of the memory.
    clients : int
        2 to 4.

    Attributes
    ----------
    rows : int
        Places for the answers to one client, beside the one at `o`.
    turn : Signal
    requests : Queue
    credits, answers : list of wiring.Component
        The client that may ask, what has been asked, and each one's counter and queue: what proofs
        look at.

    Members
    -------
    i : In(stream.Signature(host_request(cfg))).array(clients)
    o : Out(stream.Signature(host_response(cfg))).array(clients)
    o_port : Out(stream.Signature(host_request(cfg, CLIENT_BITS)))
        To the memory port: the client's number stands above the tag.
    i_port : In(host_response(cfg, CLIENT_BITS))
    i_port_valid : In(1)
        From the memory port.
    """

    i: list[stream.Interface]
    o: list[stream.Interface]
    o_port: stream.Interface
    i_port: data.View

    def __init__(self, cfg: UnitConfig, clients: int = 2):
        if not 2 <= clients <= 1 << CLIENT_BITS:
            raise ValueError(f"clients must be in 2..{1 << CLIENT_BITS}, not {clients}")
        self.cfg = cfg
        self.clients = clients
        # A place is away for two clocks in each queue, the memory port's, and one on the way to the
        # counter, which keeps two back and does not know of the place at `o`.
        self.rows = 1 << ceil_log2(2 + cfg.memory_latency + PORT_CLOCKS + 5)
        self.turn = Signal(range(clients))
        self.requests = Queue(host_request(cfg, CLIENT_BITS), 4)
        self.credits = [CreditCounter(self.rows) for _ in range(clients)]
        self.answers = [
            Queue(host_response(cfg), self.rows, never_full=True) for _ in range(clients)
        ]
        super().__init__(
            {
                "i": In(stream.Signature(host_request(cfg))).array(clients),
                "o": Out(stream.Signature(host_response(cfg))).array(clients),
                "o_port": Out(stream.Signature(host_request(cfg, CLIENT_BITS))),
                "i_port": In(host_response(cfg, CLIENT_BITS)),
                "i_port_valid": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        turn, count = self.turn, self.clients
        taking, asking, waiting = Signal(count), Signal(count), Signal(count)
        ready, room, next_turn = Signal(count), Signal(), Signal.like(self.turn)
        # The queue cuts the path of `ready`. Two rows are free: one request may come meanwhile.
        m.submodules.requests = requests = self.requests
        m.d.comb += room.eq(requests.free > 0)
        wiring.connect(m, requests.o, wiring.flipped(self.o_port))
        request = Array(i.payload for i in self.i)[turn]
        m.d.comb += [
            requests.i.valid.eq(taking.any()),
            requests.i.payload.address.eq(request.address),
            requests.i.payload.data.eq(request.data),
            requests.i.payload.mask.eq(request.mask),
            requests.i.payload.tag.eq(Cat(request.tag, turn)),
        ]

        for n, (i, o) in enumerate(zip(self.i, self.o, strict=True)):
            m.submodules[f"answers{n}"] = answers = self.answers[n]
            m.submodules[f"credits{n}"] = credits = self.credits[n]
            take = delay(m, taking[n], 1, name=f"take{n}", reset_less=False)
            m.d.sync += ready[n].eq(room & credits.ready_next & (next_turn == n))
            m.d.comb += [
                i.ready.eq(ready[n]),
                taking[n].eq(i.valid & ready[n]),
                asking[n].eq(i.valid & credits.ready),
                waiting[n].eq(i.valid & credits.ready & ~ready[n]),
                credits.take.eq(take),
                credits.give.eq(o.valid & o.ready),
                answers.i.payload.data.eq(self.i_port.data),
                answers.i.payload.error.eq(self.i_port.error),
                answers.i.payload.tag.eq(self.i_port.tag[:TAG_BITS]),
                answers.i.valid.eq(self.i_port_valid & (self.i_port.tag[TAG_BITS:] == n)),
            ]
            wiring.connect(m, answers.o, wiring.flipped(o))
        # The turn goes on when it is used or not wanted, to the next client that asks.
        m.d.comb += next_turn.eq(turn)
        m.d.sync += turn.eq(next_turn)
        with m.Switch(turn):
            for n in range(count):
                with m.Case(n):
                    with m.If(~waiting[n]):
                        for step in range(count - 1, 0, -1):
                            other = (n + step) % count
                            with m.If(asking[other]):
                                m.d.comb += next_turn.eq(other)
        return m
