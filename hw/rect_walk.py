"""Walk of the resolve engine through the runs of a rectangle."""

from amaranth.hdl import C, Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.resolve_shapes import map_fields, resolve_request, run_bytes, run_log2
from minmip.hw.shapes import SIZE_BITS, TEXEL_BITS, address_request

__all__ = ["RUN_FLAGS", "RectWalk"]

RUN_FLAGS = data.StructLayout({"first": 1, "end_of_row": 1, "end": 1})
"""First and last run of a row, last one of the rectangle: in the low bits of the tag."""


class RectWalk(wiring.Component):
    """Give the first texel of every run of a rectangle, by row and x.

    One run per clock, the first one 3 clocks after the request; the next request is taken behind
    the last run. `i.ready`, `o.valid` and `o.payload` are registers.

    Parameters
    ----------
    cfg : UnitConfig
        `swizzle_modes`, `resource_types`, `word_bytes`.

    Members
    -------
    i : In(stream.Signature(resolve_request(cfg)))
        Of one texel at least.
    o : Out(stream.Signature(address_request(cfg)))
        `x` is a multiple of the run; `tag` holds `RUN_FLAGS`.
    first_mask, last_mask : Out(run_bytes)
        Texels of a run in the rectangle: those of the first one of a row, those of the last one.
    every_mask : Out(run_bytes)
        Those that a run has at all; none when the rectangle is `outside`. All masks, `outside` and
        `size` hold from the first run to the next request.
    outside : Out(1)
        The rectangle reaches beyond texel 16383.
    size : Out(range(run_bytes + 1))
        Texels of a run.
    """

    i: stream.Interface
    o: stream.Interface
    first_mask: Signal
    last_mask: Signal
    every_mask: Signal
    outside: Signal
    size: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        lanes = run_bytes(cfg)
        super().__init__(
            {
                "i": In(stream.Signature(resolve_request(cfg))),
                "o": Out(stream.Signature(address_request(cfg))),
                "first_mask": Out(lanes),
                "last_mask": Out(lanes),
                "every_mask": Out(lanes),
                "outside": Out(1),
                "size": Out(range(lanes + 1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        lanes = run_bytes(self.cfg)
        job = Signal(resolve_request(self.cfg), reset_less=True)
        log2 = run_log2(self.cfg, job)
        size = self.size
        m.d.comb += size.eq(Const(1) << log2)
        in_run = (size - 1)[: lanes.bit_length() - 1]  # bits of x

        # The last texel, with a bit of growth; runs and rows to go, less 1, so that the sign says
        # that this one is the last.
        end_x, end_y = (Signal(SIZE_BITS + 1, name=f"end_{n}", reset_less=True) for n in "xy")
        runs = Signal(signed(SIZE_BITS + 2), reset_less=True)
        runs_left, rows_left = Signal.like(runs), Signal(signed(SIZE_BITS + 1), reset_less=True)
        start_x = Signal(TEXEL_BITS, reset_less=True)
        x, y, first = (Signal(n, reset_less=True) for n in (TEXEL_BITS, TEXEL_BITS, 1))
        end_of_row = runs_left[-1]
        texel, flags = self.o.payload, data.View(RUN_FLAGS, Signal(RUN_FLAGS))
        m.d.comb += [texel[name].eq(job[name]) for name in map_fields(self.cfg)]
        m.d.comb += [
            flags.first.eq(first),
            flags.end_of_row.eq(end_of_row),
            flags.end.eq(end_of_row & rows_left[-1]),
            texel.x.eq(x),
            texel.y.eq(y),
            texel.z.eq(job.z),
            texel.tag.eq(flags),
        ]
        with m.FSM():
            with m.State("wait"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += job.eq(self.i.payload)
                    m.next = "reach"
            with m.State("reach"):
                m.d.sync += [
                    end_x.eq(job.x + job.width - 1),
                    end_y.eq(job.y + job.height - 1),
                    start_x.eq(Cat(job.x[: len(in_run)] & ~in_run, job.x[len(in_run) :])),
                    self.first_mask.eq(C(-1, lanes) << (job.x[: len(in_run)] & in_run)),
                ]
                m.next = "count"
            with m.State("count"):
                outside = end_x[TEXEL_BITS:].any() | end_y[TEXEL_BITS:].any()
                count = (end_x >> log2) - (start_x >> log2) - 1
                m.d.sync += [
                    self.last_mask.eq(~(C(-2, lanes) << (end_x[: len(in_run)] & in_run))),
                    self.every_mask.eq(~(C(-1, lanes + 1) << size) & ~outside.replicate(lanes)),
                    self.outside.eq(outside),
                    runs.eq(count),
                    runs_left.eq(count),
                    rows_left.eq(job.height - 2),
                    x.eq(start_x),
                    y.eq(job.y),
                    first.eq(1),
                ]
                m.next = "walk"
            with m.State("walk"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.d.sync += [
                        x.eq(Mux(end_of_row, start_x, x + size)),
                        first.eq(end_of_row),
                        runs_left.eq(Mux(end_of_row, runs, runs_left - 1)),
                    ]
                    with m.If(end_of_row):
                        m.d.sync += [y.eq(y + 1), rows_left.eq(rows_left - 1)]
                    with m.If(flags.end):
                        m.next = "wait"
        return m
