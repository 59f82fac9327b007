"""Mutants of the footprint."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "unused_axis_taken",
        "footprint",
        "control.axes <= axis",
        "control.axes == axis",
        "axes 1 and 2 of a 1D request are not in use",
    ),
    Mutant(
        "grid_of_mip_0",
        "footprint",
        "rescale.i.mip.eq(lane.mip)",
        "rescale.i.mip.eq(0)",
        "each lane has the grid of its mip",
    ),
    Mutant(
        "byte_too_early",
        "footprint",
        "self.latency - rescale.latency",
        "self.latency - rescale.latency - 1",
        "byte and texels belong to one beat",
    ),
    Mutant(
        "depth_blends_like_width",
        "footprint",
        "lane.linear if axis < 2 else Mux(filters, lane.linear, control.z_linear)",
        "lane.linear",
        "the third axis has its own filter",
    ),
    Mutant(
        "slice_not_moved",
        "footprint",
        "control.first_slice + operand",
        "operand",
        "slices count from the view's first",
    ),
    Mutant(
        "slice_not_limited",
        "footprint",
        "Mux(beyond_q3, ",
        "Mux(0, ",
        "slices end with the view's last",
    ),
    Mutant(
        "slice_of_2d",
        "footprint",
        "Mux(control.is_array, control.last_slice, control.first_slice)",
        "control.last_slice",
        "1D and 2D views have one slice",
    ),
    Mutant(
        "filter_blends_depth_by_z_filter",
        "footprint",
        "Mux(filters, lane.linear, control.z_linear)",
        "control.z_linear",
        "Z_FILTER plays no part in the MinMip filter",
    ),
    Mutant(
        "filter_not_told",
        "footprint",
        "request.filter.eq(filters)",
        "request.filter.eq(0)",
        "the MinMip filter has texels of its own",
    ),
    Mutant(
        "ramp_of_v_for_both",
        "footprint",
        "Mux(control.axes == 2, second, first)",
        "second",
        "a volume's v takes the U fields",
    ),
    Mutant(
        "flat_is_thick",
        "footprint",
        "is_layout(self.cfg, control.mode, control.volume, has_packing(kind))",
        "control.mode.any()",
        "only swizzled volumes are thick",
    ),
    Mutant(
        "d_is_thick",
        "footprint",
        "(Packing.D, Packing.THICK)",
        "(Packing.THICK, Packing.D)",
        "the D modes have words of their own",
    ),
    Mutant(
        "truncate_lost",
        "footprint",
        "coordinate.i.truncate.eq(control.truncate)",
        "coordinate.i.truncate.eq(0)",
        "TRUNC_COORD floors",
    ),
]
