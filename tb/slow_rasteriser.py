"""A second reading of spec 07 in plain loops and exact fractions, for small frames.

Written from the specification, not from sim/frontend: triangles one by one, pixels one by one. It
takes triangles that need no clipping.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass
class SlowQuad:
    x: int
    y: int
    live: int
    triangle: int
    texture: int
    uv: list  # 4 pairs of Fraction, None where there is no answer
    depth: list  # 4 Fractions


def morton(x: int, y: int) -> int:
    """Bits of x and y interleaved, x lowest."""
    return sum((x >> i & 1) << 2 * i | (y >> i & 1) << 2 * i + 1 for i in range(4))


def slow_quads(primitives, to_clip, width, height) -> list[SlowQuad]:
    """Quads of a frame with a live lane, in hardware order."""
    nearest = {}
    quads = []
    triangle_id = 0
    for primitive in primitives:
        for corners in primitive.triangles:
            triangle = Triangle(primitive, corners, to_clip, width, height)
            if triangle.visible:
                for x, y in triangle.quads_in_order(width, height):
                    quad = triangle.quad(x, y, width, height, nearest)
                    if quad.live and primitive.texture >= 0:
                        quad.triangle = triangle_id
                        quads.append(quad)
            triangle_id += 1
    return quads


class Triangle:
    """One triangle with its corners in 1/256 pixel."""

    def __init__(self, primitive, corners, to_clip, width, height):
        self.texture = primitive.texture
        self.points, self.inverse_w, self.z, self.uv = [], [], [], []
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
                    round((x * inverse * 0.5 + 0.5) * (width * 256)),
                    round((0.5 - y * inverse * 0.5) * (height * 256)),
                )
            )
            self.inverse_w.append(Fraction(inverse))
            self.z.append(Fraction(z * inverse))
            self.uv.append([Fraction(float(value)) for value in primitive.uv[corner]])
        (ax, ay), (bx, by), (cx, cy) = self.points
        # With y down, positive is clockwise to the eye: a back face.
        self.area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        self.visible = self.area < 0 or (self.area > 0 and primitive.double_sided)

    def quads_in_order(self, width, height):
        """All quads of the frame that could be touched, 8x8 tiles row by row, Z order inside."""
        xs, ys = zip(*self.points, strict=True)
        columns = range(max(min(xs) // 256, 0) // 8, min(max(xs) // 256, width - 1) // 8 + 1)
        rows = range(max(min(ys) // 256, 0) // 8, min(max(ys) // 256, height - 1) // 8 + 1)
        inside = sorted(((x, y) for x in range(4) for y in range(4)), key=lambda q: morton(*q))
        for row in rows:
            for column in columns:
                for x, y in inside:
                    yield column * 8 + x * 2, row * 8 + y * 2

    def barycentric(self, px, py):
        """Barycentric coordinates of a pixel's centre in the frame, exact."""
        x, y = px * 256 + 128, py * 256 + 128
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

    def quad(self, x, y, width, height, nearest):
        """One quad with the depth test done."""
        live, uv, depth = 0, [], []
        for lane in range(4):
            px, py = x + lane % 2, y + lane // 2
            weights = self.barycentric(px, py)
            z = sum(w * z for w, z in zip(weights, self.z, strict=True))
            z32 = np.float32(float(min(max(z, 0), 1)))
            depth.append(z32)
            if px < width and py < height and self.covers(weights):
                if z32 < nearest.get((px, py), np.float32(1)):
                    nearest[px, py] = z32
                    live |= 1 << lane
            scale = sum(w * q for w, q in zip(weights, self.inverse_w, strict=True))
            uv.append(
                [
                    sum(
                        w * q * t[axis]
                        for w, q, t in zip(weights, self.inverse_w, self.uv, strict=True)
                    )
                    / scale
                    if scale
                    else None
                    for axis in range(2)
                ]
            )
        return SlowQuad(x, y, live, -1, self.texture, uv, depth)
