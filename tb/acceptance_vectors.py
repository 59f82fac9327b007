"""The acceptance vectors of spec 03 as data, and the traces that replay them."""

from dataclasses import dataclass

from reference import layout
from reference.words import decode_image
from traces import ANISO_LINEAR, CLAMP, LINEAR, MIN, POINT, USED, WRAP, image, sampler, trace


@dataclass(frozen=True)
class Gradient:
    """One row of the table: texels of a 16x16 texture of 2 mips, region 4x4, SAMPLE_D."""

    name: str
    at: tuple  # x, y in texels, whole part
    dx: tuple
    dy: tuple
    filters: tuple  # min, mag, mip
    mip0: tuple | None  # (x set, y set) of used map texels
    mip1: tuple | None
    minmip: tuple  # (value decoded, (x set, y set))
    shift: tuple = (0, 0)  # 1/256 texel
    bias: int = 0  # 1/256
    min_lod: int = 0
    max_lod: int = 256
    aniso: int = 0  # log2


P, L, A = POINT, LINEAR, ANISO_LINEAR
NONE, NEAR, FAR = 0, 1, 2  # mip filters: none, point, linear
ONE, TWO, PAIR, TRIPLE = (1,), (2,), (0, 1), (0, 1, 2)
ZERO = (0, 0)
X1, Y1 = (1, 0), (0, 1)
X11, Y11 = (1.1, 0), (0, 1.1)
HALF = (128, 128)

GRADIENTS = [
    Gradient("G1", (4, 4), ZERO, ZERO, (P, P, NEAR), (ONE, ONE), None, (0, (ONE, ONE))),
    Gradient(
        "G2", (4, 4), ZERO, ZERO, (L, L, FAR), (PAIR, PAIR), None, (0, (PAIR, PAIR)), max_lod=0
    ),
    Gradient("G3", (4, 4), X1, Y1, (L, P, NEAR), (ONE, ONE), None, (0, (ONE, ONE))),
    Gradient("G4", (4, 4), X11, Y11, (L, P, NEAR), (PAIR, PAIR), None, (0, (PAIR, PAIR))),
    Gradient(
        "G6", (4, 4), ZERO, ZERO, (L, P, NEAR), (PAIR, PAIR), None, (0, (PAIR, PAIR)), min_lod=26
    ),
    Gradient("G7", (4, 4), X11, Y11, (L, P, NEAR), (ONE, ONE), None, (0, (ONE, ONE)), max_lod=0),
    Gradient("G8", (8, 8), X1, Y1, (P, P, NEAR), (TWO, TWO), None, (0, (TWO, TWO)), bias=125),
    Gradient("G9", (8, 8), X1, Y1, (P, P, NEAR), None, (ONE, ONE), (0, (TWO, TWO)), bias=128),
    Gradient("G10", (8, 8), X1, Y1, (P, P, FAR), (TWO, TWO), None, (0, (TWO, TWO))),
    # G11, bias 0.25/256, is cut to 0: G10 with another name.
    Gradient("G11", (8, 8), X1, Y1, (P, P, FAR), (TWO, TWO), None, (0, (TWO, TWO)), bias=0),
    Gradient("G13", (8, 8), X1, Y1, (P, P, FAR), (TWO, TWO), (ONE, ONE), (0, (TWO, TWO)), bias=1),
    Gradient("G14", (8, 8), X1, Y1, (P, P, FAR), (TWO, TWO), (ONE, ONE), (0, (TWO, TWO)), bias=255),
    Gradient("G17", (8, 8), X1, Y1, (P, P, FAR), None, (ONE, ONE), (1, (TWO, TWO)), bias=256),
    Gradient(
        "G18",
        (5, 5),
        ZERO,
        ZERO,
        (L, L, FAR),
        (PAIR, PAIR),
        None,
        (0, (PAIR, PAIR)),
        shift=(125, 125),
        max_lod=0,
    ),
    Gradient(
        "G19",
        (5, 5),
        ZERO,
        ZERO,
        (L, L, FAR),
        (ONE, ONE),
        None,
        (0, (ONE, ONE)),
        shift=(126, 126),
        max_lod=0,
    ),
    *(
        Gradient(
            name,
            at,
            (length, 0),
            Y1,
            (A, A, FAR),
            (TRIPLE, ONE),
            None,
            (0, (TRIPLE, ONE)),
            shift=shift,
            aniso=aniso,
        )
        for name, at, shift, length, aniso in [
            ("G22", (5, 5), HALF, 2, 1),
            ("G24", (5, 5), HALF, 4, 2),
            ("G26", (6, 5), (2, 128), 8, 3),
            ("G28", (5, 5), HALF, 8, 4),
        ]
    ),
]


def gradient_trace(vector, kind):
    """The vector's request on a map of that kind: 2 levels, LINEAR map, memory cleared."""
    least, mag, mip = vector.filters
    t = image(
        (16, 16), kind=kind, scales=(2, 2), view=(0, 1), mips=2 if kind == USED else 1, SW_MODE=0
    )
    s = sampler(
        CLAMP,
        mag,
        least,
        mip,
        min_lod=vector.min_lod,
        max_lod=vector.max_lod,
        LOD_BIAS=vector.bias,
        MAX_ANISO_RATIO=vector.aniso,
    )
    quad = {
        "opcode": 2,
        "uvw": [(a + 0.5 + d / 256) / 16 for a, d in zip(vector.at, vector.shift, strict=True)],
        "ddx": [c / 16 for c in vector.dx],
        "ddy": [c / 16 for c in vector.dy],
    }
    return t, trace(t, s, [quad], fill=0xFF if kind == MIN else 0)


@dataclass(frozen=True)
class Texel:
    """A request that writes exactly one map texel."""

    image: object  # T# words
    sampler: object
    quad: dict
    where: tuple  # mip, x, y, slice
    value: int  # byte


def level(x, y, lod, size, slice=0.0):
    """Explicit-level quad at the centre of paired texel (x, y)."""
    return {
        "opcode": 3,
        "uvw": [(x + 0.5) / size[0], (y + 0.5) / size[1]],
        "lod": lod,
        "slice": slice,
    }


def _explicit_minmip():
    t = image((4096, 2048), kind=MIN, type=13, scales=(7, 6), view=(0, 4), slices=(0, 1), SW_MODE=0)
    for x, y, lod, operand, slice, tx, ty, value in [
        (0, 0, 0, 0.5, 0, 0, 0, 0),
        (3968, 1984, 0, 0.5, 0, 31, 31, 0),
        (128, 64, 0, 1, 1, 1, 1, 0),
        (2563, 1089, 1, 1, 1, 20, 17, 1),
        (2823, 1602, 3, 1, 1, 22, 25, 3),
        (256, 192, 5, 0.5, 0, 2, 3, 4),
    ]:
        quad = level(x, y, lod, (4096, 2048), operand)
        yield Texel(t, sampler(CLAMP, mip=NEAR), quad, (0, tx, ty, slice), value << 3)


def _explicit_used():
    t = image((4096, 2048), kind=USED, scales=(7, 6), view=(0, 5), mips=6, SW_MODE=0)
    for x, y, lod, mip, tx, ty in [
        (0, 0, 0, 0, 0, 0),
        (4224, 2112, 0, 0, 1, 1),
        (2693, 1220, 2, 2, 5, 4),
        (256, 192, 6, 5, 0, 0),
    ]:
        quad = level(x, y, lod, (4096, 2048))
        yield Texel(t, sampler(WRAP, mip=NEAR), quad, (mip, tx, ty, 0), 1)


def _implicit():
    t = image((2048, 2048), kind=MIN, scales=(5, 5), view=(0, 2), SW_MODE=0)
    for g, rx, ry, bias, value in [(2, 0, 0, 0, 1), (0, 4, 0, 14, 0), (1, 4, 4, 3, 2)]:
        x, y = 32 * rx + 16, 32 * ry + 16
        corners = [(x, y), (x + g, y), (x, y + g), (x + g, y + g)]
        uvw = [[c / 2048 for c in corner] for corner in corners]
        quad = {"opcode": 1, "uvw": uvw, "lod": bias, "exec_mask": 15}
        yield Texel(t, sampler(WRAP, mip=NEAR), quad, (0, rx, ry, 0), value << 3)


def _odd_sizes():
    t = image((65, 65), kind=MIN, scales=(2, 2), view=(0, 6), SW_MODE=0)
    for u, lod, tx in [(0.749, 0, 11), (28 / 65, 2, 6)]:
        quad = {"opcode": 3, "uvw": [u, u], "lod": lod}
        yield Texel(t, sampler(CLAMP, mip=NEAR), quad, (0, tx, tx, 0), lod << 3)
    for width, texels in [
        (15, [(2, 3), (0, 1), (0, 0)]),
        (19, [(3, 4), (1, 1), (0, 0)]),
        (25, [(5, 5), (2, 2), (0, 0)]),
        (31, [(6, 7), (2, 3), (0, 1)]),
    ]:
        size = (width, width + 1)
        t = image(size, kind=USED, scales=(2, 2), view=(0, 2), mips=3, SW_MODE=0)
        for lod, (tx, ty) in enumerate(texels):
            quad = level(width - 1, width, lod, size)
            yield Texel(t, sampler(CLAMP, mip=NEAR), quad, (lod, tx, ty, 0), 1)


def _decoded_examples():
    t = image((16, 16), kind=MIN, scales=(2, 2), view=(0, 4), SW_MODE=0)
    yield Texel(t, sampler(CLAMP, mip=NEAR), level(0, 0, 2, (16, 16)), (0, 0, 0, 0), 2 << 3)
    t = image((1024, 1024), kind=MIN, scales=(4, 4), view=(0, 10), SW_MODE=0)
    for mip in range(11):
        quad = level(100, 200, mip, (1024, 1024))
        yield Texel(t, sampler(CLAMP, mip=NEAR), quad, (0, 6, 12, 0), mip << 3)


TEXELS = [
    *_explicit_minmip(),
    *_explicit_used(),
    *_implicit(),
    *_odd_sizes(),
    *_decoded_examples(),
]


def _map_texels(answer, words, cleared, memory_base=0):
    """{(mip, x, y, slice): byte} of a 2D map's texels that are no longer cleared."""
    t = decode_image(words)
    found = {}
    for slice in range(t.map_slices):
        for mip in range(t.max_mip + 1):
            width, height = (max(1, n >> mip) for n in t.map_size)
            for y in range(height):
                for x in range(width):
                    at = layout.texel_address(t, mip, x, y, slice) - memory_base
                    if answer.memory[at] != cleared:
                        found[mip, x, y, slice] = answer.memory[at]
    return found


def _texel_set(mip, sets, value):
    return {(mip, x, y, 0): value for x in sets[0] for y in sets[1]} if sets else {}


def check_gradient(vector, run):
    """Raise unless `run` (trace to result) writes the vector's texels, on maps of both kinds."""
    t, request = gradient_trace(vector, MIN)
    value, sets = vector.minmip
    decoded = {at: byte >> 3 for at, byte in _map_texels(run(request), t, 0xFF).items()}
    assert decoded == _texel_set(0, sets, value)
    t, request = gradient_trace(vector, USED)
    used = _texel_set(0, vector.mip0, 1) | _texel_set(1, vector.mip1, 1)
    assert _map_texels(run(request), t, 0) == used


def check_texel(texel, run):
    """Raise unless `run` writes that byte and no other."""
    cleared = 0xFF if decode_image(texel.image).linked_type == MIN else 0
    request = trace(texel.image, texel.sampler, [texel.quad], memory=1 << 16, fill=cleared)
    answer = run(request)
    assert list(answer.error) == [0]
    assert _map_texels(answer, texel.image, cleared) == {texel.where: texel.value}
