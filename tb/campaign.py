"""Long runs of the whole unit, seed by seed, in a table: `python tb/campaign.py hostile 1:1001`.

Each seed is a row of `.build/campaigns/BENCH-COMMIT.csv`, by the last commit of the gateware; seeds
that are there are not run again: a campaign may be stopped and taken up. `hostile` is a thousand
quads of `test_unit_hostile` for each seed, the name of a preset two thousand random ones, as in
`test_unit`. A seed that fails is a row too.
"""

import csv
import subprocess
import time
from collections import Counter
from pathlib import Path

import click
from kit.vlib import TRAFFIC
from random_traces import KINDS
from test_unit import send
from test_unit_hostile import QUADS, STALLS, attack

from minmip.hw.config import PRESETS
from minmip.sim.runners.verilate import build_folder
from minmip.sim.runners.verilator import Traffic

RANDOM_QUADS = 2000
COLUMNS = ("seed", "quads", "clocks", "stalls", "outcome", "seconds")


def hostile(seed: int) -> tuple[int, int, bool]:
    """Quads, clocks, and whether there were stalls from outside."""
    stalls = None if seed % 2 else STALLS[seed // 2 % len(STALLS)]
    return QUADS, attack(seed, stalls or Traffic()), stalls is not None


def random(preset: str, seed: int) -> tuple[int, int, bool]:
    """As `hostile`, for random quads: every kind with every way of stalling in turn."""
    mode = list(TRAFFIC)[seed // len(KINDS) % len(TRAFFIC)]
    kind = KINDS[seed % len(KINDS)]
    run = send(PRESETS[preset], 1000 + seed, RANDOM_QUADS, kind, traffic=mode)
    clocks = int(run.output_stamps["o"][-1] - run.input_stamps["i"][0])
    return RANDOM_QUADS, clocks, mode != "full"


def outcome(error: BaseException) -> str:
    text = str(error)
    return ("hang: " if "stuck" in text else "mismatch: ") + " ".join(text.split())[:300]


def summary(table: Path) -> str:
    """What the rows say."""
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = Counter(row["outcome"].partition(":")[0] for row in rows)
    quads = sum(int(row["quads"]) for row in rows)
    free = [row for row in rows if row["stalls"] == "no" and row["outcome"] == "ok"]
    clocks = sum(int(row["clocks"]) for row in free) / max(sum(int(r["quads"]) for r in free), 1)
    return (
        f"{table.stem}: {quads} quads in {len(rows)} seeds, {found['hang']} hangs, "
        f"{found['mismatch']} mismatches, {clocks:.1f} clocks/quad without stalls"
    )


def git(*words: str) -> str:
    """What git says about the checkout."""
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@click.command()
@click.argument("bench", type=click.Choice(["hostile", *PRESETS]))
@click.argument("seeds", metavar="FIRST:BEHIND")
def main(bench, seeds):
    """Run the seeds that are not in the table yet, and say what it holds."""
    first, behind = map(int, seeds.split(":"))
    if git("status", "--porcelain", "--", "hw"):
        raise click.ClickException("a campaign names a commit: commit what has changed in hw/")
    commit = git("log", "-1", "--format=%h", "--", "hw")
    table = build_folder() / "campaigns" / f"{bench}-{commit}.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    new = not table.exists()
    with table.open("a+", newline="") as file:
        file.seek(0)
        done = {int(row["seed"]) for row in csv.DictReader(file)}
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        for seed in range(first, behind):
            if seed in done:
                continue
            start = time.perf_counter()
            try:
                quads, clocks, stalls = hostile(seed) if bench == "hostile" else random(bench, seed)
                found = "ok"
            except Exception as error:  # a finding: it is kept, and the others still run
                quads, clocks, stalls, found = 0, 0, False, outcome(error)
                click.echo(f"seed {seed}: {found}", err=True)
            values = (seed, quads, clocks, "yes" if stalls else "no", found)
            writer.writerow(
                dict(zip(COLUMNS, (*values, f"{time.perf_counter() - start:.1f}"), strict=True))
            )
            file.flush()
    click.echo(summary(table))


if __name__ == "__main__":
    main()
