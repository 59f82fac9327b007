"""Spec 01: the fields of the T# and S# words, decoded with a bit table of its own."""

from dataclasses import dataclass

TYPE_1D, TYPE_2D, TYPE_3D, TYPE_CUBE = 8, 9, 10, 11
TYPE_1D_ARRAY, TYPE_2D_ARRAY, TYPE_2D_MSAA, TYPE_2D_MSAA_ARRAY = 12, 13, 14, 15

# The number of coordinates (u, v, w) that a type uses.
AXES = {TYPE_1D: 1, TYPE_1D_ARRAY: 1, TYPE_2D: 2, TYPE_2D_ARRAY: 2, TYPE_3D: 3}


def bits(word, high, low):
    """Bits high:low of a descriptor, as the tables of spec 01 write them."""
    return (word >> low) & ((1 << (high - low + 1)) - 1)


def join(words):
    """One integer from 32-bit words, word 0 first."""
    return sum(int(word) << (32 * i) for i, word in enumerate(words))


def signed(value, width):
    """Read an unsigned field as two's complement."""
    return value - (1 << width) if value >> (width - 1) else value


@dataclass(frozen=True)
class Image:
    """The T# fields that have an effect. Sizes are sizes (field + 1), not fields."""

    base: int  # byte address
    min_lod: int  # 1/256, view space
    format: int
    width: int
    height: int
    resource_level: int
    base_level: int
    last_level: int
    sw_mode: int
    linked_type: int
    type: int
    depth: int  # the field: 3D depth - 1, or last slice
    base_array: int
    max_mip: int
    scales: tuple  # log2(paired / map) in x, y, z
    linked: bool
    compressed: bool

    @property
    def is_array(self):
        return self.type in (TYPE_1D_ARRAY, TYPE_2D_ARRAY)

    @property
    def axes(self):
        return AXES[self.type]

    @property
    def size(self):
        """Texels of mip 0 on each used axis (of the paired texture when linked)."""
        return (self.width, self.height, self.depth + 1)[: self.axes]

    @property
    def map_size(self):
        """Texels of the map's mip 0 on each used axis: max(1, floor(paired / 2^scale))."""
        return tuple(max(1, n >> s) for n, s in zip(self.size, self.scales, strict=False))

    @property
    def map_slices(self):
        """Slices that the map must have (decision D5); a volume is one piece."""
        if self.type == TYPE_3D:
            return 1
        return (self.depth if self.is_array else self.base_array) + 1


@dataclass(frozen=True)
class Sampler:
    """The S# fields that have an effect."""

    clamp: tuple  # address mode in x, y, z
    max_aniso: int  # 1, 2, 4, 8 or 16
    unnormalized: bool
    aniso_threshold: int  # 1/8
    trunc_coord: bool
    min_lod: int  # 1/256
    max_lod: int  # 1/256
    lod_bias: int  # 1/256, signed
    mag_filter: int
    min_filter: int
    z_linear: bool
    mip_filter: int  # 0 none, 1 point, 2 linear
    aniso_override: bool
    deriv_adjust: bool
    slope_codes: tuple  # MinMip filter: the U code, the V (or W) code
    offset_codes: tuple
    border_type: int


def decode_image(words):
    """T# words -> Image."""
    t = join(words)
    return Image(
        base=bits(t, 39, 0) << 8,
        min_lod=bits(t, 51, 40),
        format=bits(t, 60, 52),
        width=bits(t, 77, 62) + 1,
        height=bits(t, 93, 78) + 1,
        resource_level=bits(t, 95, 95),
        base_level=bits(t, 111, 108),
        last_level=bits(t, 115, 112),
        sw_mode=bits(t, 120, 116),
        linked_type=bits(t, 123, 121),
        type=bits(t, 127, 124),
        depth=bits(t, 143, 128),
        base_array=bits(t, 159, 144),
        max_mip=bits(t, 167, 164),
        scales=(bits(t, 179, 176), bits(t, 175, 172), bits(t, 171, 168)),
        linked=bits(t, 184, 184) == 1,
        compressed=bits(t, 213, 213) == 1,
    )


def decode_sampler(words):
    """S# words -> Sampler."""
    s = join(words)
    return Sampler(
        clamp=(bits(s, 2, 0), bits(s, 5, 3), bits(s, 8, 6)),
        max_aniso=min(16, 1 << bits(s, 11, 9)),
        unnormalized=bits(s, 15, 15) == 1,
        aniso_threshold=bits(s, 18, 16),
        trunc_coord=bits(s, 27, 27) == 1,
        min_lod=bits(s, 43, 32),
        max_lod=bits(s, 55, 44),
        lod_bias=signed(bits(s, 77, 64), 14),
        mag_filter=bits(s, 85, 84),
        min_filter=bits(s, 87, 86),
        z_linear=bits(s, 89, 88) >= 2,  # decision D1: 3 counts as 2
        mip_filter=min(2, bits(s, 91, 90)),  # decision D1
        aniso_override=bits(s, 93, 93) == 1,
        deriv_adjust=bits(s, 95, 95) == 1,
        slope_codes=(bits(s, 98, 96), bits(s, 104, 102)),
        offset_codes=(bits(s, 101, 99), bits(s, 107, 105)),
        border_type=bits(s, 127, 126),
    )
