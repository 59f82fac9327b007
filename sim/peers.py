"""What the results table says beside the peers' figures, and of quads per second (`minmip peers`).

Everything comes from the tables of `docs/results`; nothing is built here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from minmip.hw.config import PRESETS

__all__ = ["PEERS", "Peer", "peer_rows", "quad_rows"]

UNIT = "texture_addresser"
PART = "ecp5-25k"
"""Part of the peers' figures."""
GRADES = ("6", "8")
TRAFFIC = "coherent"

Rows = Mapping[tuple[str, ...], Mapping[str, str]]


@dataclass(frozen=True)
class Peer:
    """A design of others: median MHz by speed grade, and our blocks that do its work or more.

    `peers.md` of the project, 4b and 4c, has the figures: measured by the same flow (Yosys 0.70,
    nextpnr 0.11.1, ports in registers, an LFE5U-25F) over 3 seeds, those of the prototype over 5.
    """

    name: str
    mhz: Mapping[str, int]
    blocks: tuple[str, ...]


PEERS = (
    Peer(
        "Skybox VX_tex_addr, 1 lane",
        {"6": 87, "8": 109},
        ("coordinate", "footprint", "address_generator", UNIT),
    ),
    Peer("RasterIX TextureSampler", {"6": 65, "8": 87}, ("footprint", UNIT)),
    Peer("RasterIX LodCalculator", {"6": 82, "8": 109}, ("gradient", "lod")),
    Peer("Skybox VX_tex_lerp, 1 channel", {"6": 134, "8": 169}, ("filter_unit",)),
    Peer(
        "byte MIN/OR read-modify-write, a clock each (prototype)",
        {"6": 204, "8": 264},
        ("memory_port", "atomic_memory"),
    ),
    Peer("PicoRV32 (regular), a processor", {"6": 120, "8": 145}, (UNIT,)),
)


def usable(row: Mapping[str, str]) -> float:
    """Median MHz of a row, or what its hard blocks allow if that is less."""
    return min(float(row["median_mhz"]), float(row["cap_mhz"] or "inf"))


def peer_rows(synth: Rows) -> list[dict[str, str]]:
    """Rows of every peer, grade, block and preset that the table has, with the ratio of MHz.

    On the peers' part, or for presets that were not placed on it on another ECP5.
    """
    found = []
    for peer in PEERS:
        for grade, mhz in peer.mhz.items():
            for block in peer.blocks:
                for preset in sorted(PRESETS):
                    parts = (PART, "ecp5-85k")
                    keys = [(block, preset, part, grade) for part in parts]
                    row = next((synth[key] for key in keys if key in synth), None)
                    if row is None or not row["median_mhz"]:
                        continue
                    found.append(
                        {
                            "peer": peer.name,
                            "grade": grade,
                            "peer_mhz": str(mhz),
                            "block": block,
                            "preset": preset,
                            "part": row["part"],
                            "median_mhz": row["median_mhz"],
                            "cap_mhz": row["cap_mhz"],
                            "ratio": f"{usable(row) / mhz:.2f}",
                        }
                    )
    return found


def quad_rows(synth: Rows, rates: Rows) -> list[dict[str, str]]:
    """Quads per second of each preset on an ECP5-85k, by grade and traffic.

    MHz over the clocks that a quad takes, as simulated: lanes per clock are in these. Presets that
    were not routed, or not simulated, say so, once for a grade.
    """
    found = []
    for preset, cfg in PRESETS.items():
        clocks = {key[1]: row for key, row in rates.items() if key[0] == preset}
        for grade in GRADES:
            row = synth.get((UNIT, preset, "ecp5-85k", grade))
            mhz = f"{usable(row):.1f}" if row else "not routed"
            kinds = clocks if row and clocks else {TRAFFIC: clocks.get(TRAFFIC)}
            for traffic, rate in kinds.items():
                per_quad = rate["clocks_per_quad"] if rate else "not simulated"
                speed = usable(row) / float(per_quad) if row and rate else None
                found.append(
                    {
                        "preset": preset,
                        "lanes": str(cfg.lanes),
                        "grade": grade,
                        "mhz": mhz,
                        "traffic": traffic,
                        "clocks_per_quad": per_quad,
                        "mquads_per_second": f"{speed:.2f}" if speed else "",
                    }
                )
    return found
