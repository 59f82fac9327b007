"""Reduce the address library's patterns to the package's `xor_patterns.txt`.

Run `python -m oracle.xor_patterns` in tb/ to write the file again.
"""

from __future__ import annotations

from pathlib import Path

from oracle.addrlib import FULL, REPOSITORY
from oracle.layouts import patterns

TARGET = REPOSITORY / "sim" / "layout" / "xor_patterns.txt"
HEAD = """\
# Address bits of blocks with a pipe XOR (spec 05, 3.1), lowest first, in the spec's notation.
# dimension mode element-bytes configurations : bits
# Configurations: pPkK is an RB+ part of 2^P pipes and 2^K packers, nP a Navi1x part of 2^P pipes.
# Reduced from AMD's address library (MIT licence) by tb/oracle/xor_patterns.py.
"""


def _text(bits: list[list[int]]) -> str:
    words = []
    for masks in bits:
        terms = [
            f"{axis}{bit}"
            for axis, mask in zip("xyz", masks, strict=True)
            for bit in range(mask.bit_length())
            if mask >> bit & 1
        ]
        words.append("^".join(terms) or "-")
    return " ".join(words)


def _token(row: dict) -> str:
    packers = f"k{row['pkrs_log2']}" if row["rbplus"] else ""
    return f"{'p' if row['rbplus'] else 'n'}{row['pipes_log2']}{packers}"


def reduced(folder: Path = FULL) -> str:
    """Text of the package's file."""
    lines: dict[tuple, list[str]] = {}
    for row in patterns(folder):
        if row["sw"] >= 16 and "cfg" in row:
            key = (row["dim"], row["sw"], row["mode"], row["bpe"], _text(row["bits"]))
            lines.setdefault(key, []).append(_token(row))
    texts = [
        f"{dim} {mode} {bpe} {' '.join(sorted(tokens))} : {text}\n"
        for (dim, _, mode, bpe, text), tokens in sorted(lines.items(), key=lambda i: i[0][:4])
    ]
    return HEAD + "".join(texts)


if __name__ == "__main__":
    TARGET.write_text(reduced())
