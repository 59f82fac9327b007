"""A second reading of spec 07 in plain loops and exact fractions, for small frames.

Written from the specification, not from sim/frontend: triangles one by one, pixels one by one. It
takes triangles that need no clipping.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from minmip.sim.frontend.raster_state import PLAIN

SAMPLES = {  # Direct3D's standard patterns, in 1/16 pixel from the centre
    1: [(0, 0)],
    2: [(4, 4), (-4, -4)],
    4: [(-2, -6), (6, -2), (-6, 2), (2, 6)],
    8: [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)],
}


@dataclass
class SlowQuad:
    x: int
    y: int
    live: int
    triangle: int
    texture: int
    uv: list  # 4 pairs of Fraction, None where there is no answer
    depth: list  # 4 float32
    slice: int
    front: bool
    samples: list  # 4 masks


def morton(x: int, y: int) -> int:
    """Bits of x and y interleaved, x lowest."""
    return sum((x >> i & 1) << 2 * i | (y >> i & 1) << 2 * i + 1 for i in range(4))


def slow_quads(primitives, to_clip, width, height, state=PLAIN) -> list[SlowQuad]:
    """Quads of a frame with a live lane, in hardware order."""
    nearest = {}
    quads = []
    triangle_id = 0
    for primitive in primitives:
        for index, corners in enumerate(primitive.triangles):
            triangle = Triangle(primitive, corners, to_clip, state.view(width, height), state.cull)
            triangle.slice = int(np.broadcast_to(primitive.slice, len(primitive.triangles))[index])
            if triangle.visible:
                for x, y in triangle.quads_in_order(width, height):
                    quad = triangle.quad(x, y, width, height, nearest, state)
                    if quad.live and primitive.texture >= 0:
                        quad.triangle = triangle_id
                        quads.append(quad)
            triangle_id += 1
    return quads


class Triangle:
    """One triangle with its corners in 1/256 pixel."""

    def __init__(self, primitive, corners, to_clip, viewport, cull):
        self.texture, self.primitive = primitive.texture, primitive
        self.points, self.inverse_w, self.z, self.uv = [], [], [], []
        self.near, self.far = Fraction(viewport.near), Fraction(viewport.far)
        self.left, self.top = Fraction(viewport.left), Fraction(viewport.top)
        self.right = self.left + Fraction(viewport.width)
        self.bottom = self.top + Fraction(viewport.height)
        for corner in corners:
            p = [float(value) for value in primitive.positions[corner]]
            x, y, z, w = (
                float(row[0]) * p[0] + float(row[1]) * p[1] + float(row[2]) * p[2] + float(row[3])
                for row in to_clip
            )
            assert w > 0, "slow_quads takes triangles that need no clipping"
            inverse = 1 / w
            self.points.append(
                (
                    round((x * inverse * 0.5 + 0.5) * (viewport.width * 256) + viewport.left * 256),
                    round((0.5 - y * inverse * 0.5) * (viewport.height * 256) + viewport.top * 256),
                )
            )
            self.inverse_w.append(Fraction(inverse))
            self.z.append(self.near + Fraction(z * inverse) * (self.far - self.near))
            self.uv.append([Fraction(float(value)) for value in primitive.uv[corner]])
        (ax, ay), (bx, by), (cx, cy) = self.points
        # With y down, positive is clockwise to the eye: a back face.
        self.area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        self.front = self.area < 0
        fronts, backs = {
            "material": (True, primitive.double_sided),
            "none": (True, True),
            "front": (False, True),
            "back": (True, False),
        }[cull]
        self.visible = (self.area < 0 and fronts) or (self.area > 0 and backs)

    def quads_in_order(self, width, height):
        """All quads of the frame that could be touched, 8x8 tiles row by row, Z order inside."""
        xs, ys = zip(*self.points, strict=True)
        columns = range(
            max(min(xs) // 256 - 1, 0) // 8, min(max(xs) // 256 + 1, width - 1) // 8 + 1
        )
        rows = range(max(min(ys) // 256 - 1, 0) // 8, min(max(ys) // 256 + 1, height - 1) // 8 + 1)
        inside = sorted(((x, y) for x in range(4) for y in range(4)), key=lambda q: morton(*q))
        for row in rows:
            for column in columns:
                for x, y in inside:
                    yield column * 8 + x * 2, row * 8 + y * 2

    def barycentric(self, px, py, sample=(0, 0)):
        """Barycentric coordinates of a pixel's centre or sample in the frame, exact."""
        x, y = px * 256 + 128 + sample[0] * 16, py * 256 + 128 + sample[1] * 16
        (ax, ay), (bx, by), (cx, cy) = self.points
        b = Fraction((x - ax) * (cy - ay) - (y - ay) * (cx - ax), self.area)
        c = Fraction((bx - ax) * (y - ay) - (by - ay) * (x - ax), self.area)
        return 1 - b - c, b, c

    def covers(self, weights):
        """Inside, or on an edge that is a top or a left one."""
        for i in range(3):
            if weights[i] > 0:
                continue
            if weights[i] < 0:
                return False
            (x0, y0), (x1, y1) = self.points[(i + 1) % 3], self.points[(i + 2) % 3]
            x2, y2 = self.points[i]
            if y0 == y1:
                if y2 < y0:  # the triangle is above: a bottom edge
                    return False
            else:
                edge_x = x0 + Fraction((x1 - x0) * (y2 - y0), y1 - y0)
                if x2 < edge_x:  # the triangle is to the left: a right edge
                    return False
        return True

    def depth_at(self, weights):
        """Depth with bias, limited to the viewport's, as the buffer holds it."""
        z = sum(w * z for w, z in zip(weights, self.z, strict=True)) + self.bias()
        return np.float32(float(min(max(z, self.near), self.far)))

    def shows(self, px, py, sample, width, height, scissor):
        """Whether a sample lies in the frame, the scissor and the viewport, whose edges snap."""
        left, top, right, bottom = scissor or (0, 0, width, height)
        if not (max(0, left) <= px < min(width, right) and max(0, top) <= py < min(height, bottom)):
            return False
        x, y = px * 256 + 128 + sample[0] * 16, py * 256 + 128 + sample[1] * 16
        across = round(self.left * 256) <= x < round(self.right * 256)
        return across and round(self.top * 256) <= y < round(self.bottom * 256)

    def bias(self):
        """Direct3D's depth bias for a float32 buffer."""
        numbers = self.primitive.depth_bias
        most = max(float(np.float32(float(max(self.z)))), 2.0**-126)
        step = Fraction(2) ** (math.floor(math.log2(most)) - 23)
        here, right, below = (
            sum(w * z for w, z in zip(self.barycentric(*pixel), self.z, strict=True))
            for pixel in ((0, 0), (1, 0), (0, 1))
        )
        slope = max(abs(right - here), abs(below - here))
        bias = numbers.constant * step + Fraction(numbers.slope_scaled) * slope
        if numbers.clamp > 0:
            bias = min(bias, Fraction(numbers.clamp))
        if numbers.clamp < 0:
            bias = max(bias, Fraction(numbers.clamp))
        return bias

    def uv_at(self, weights):
        """Texture coordinates, None where there is no answer."""
        if self.primitive.interpolation == "constant":
            return self.uv[0]
        factors = self.inverse_w if self.primitive.interpolation == "perspective" else [1, 1, 1]
        scaled = [w * q for w, q in zip(weights, factors, strict=True)]
        if not sum(scaled):
            return [None, None]
        return [
            sum(w * t[axis] for w, t in zip(scaled, self.uv, strict=True)) / sum(scaled)
            for axis in range(2)
        ]

    def quad(self, x, y, width, height, nearest, state):
        """One quad with the depth test done."""
        live, uv, depth, samples = 0, [], [], []
        for lane in range(4):
            px, py = x + lane % 2, y + lane // 2
            centre = self.barycentric(px, py)
            depth.append(self.depth_at(centre))
            covered, passed = [], 0
            for number, sample in enumerate(SAMPLES[state.samples]):
                weights = self.barycentric(px, py, sample)
                shown = self.shows(px, py, sample, width, height, state.scissor)
                if not (shown and self.covers(weights)):
                    continue
                covered.append(weights)
                place = self.slice, px, py, number
                if self.depth_at(weights) < nearest.get(place, np.float32(1)):
                    nearest[place] = self.depth_at(weights)
                    passed |= 1 << number
            samples.append(passed)
            live |= (passed != 0 if state.early_z else bool(covered)) << lane
            inside = self.shows(px, py, (0, 0), width, height, state.scissor)
            if self.primitive.centroid and covered and not (inside and self.covers(centre)):
                centre = covered[0]
            uv.append(self.uv_at(centre))
        return SlowQuad(x, y, live, -1, self.texture, uv, depth, self.slice, self.front, samples)
