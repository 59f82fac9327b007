"""Commands other than draws: reads, barriers, resolves and copies (spec 06 "Resolve")."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from minmip.sim.d3d12.arguments import flag
from minmip.sim.d3d12.checking import warn_of_late_decode
from minmip.sim.d3d12.context import Context, check_cleared, check_defined
from minmip.sim.d3d12.copies import (
    check_buffer_region,
    check_copy,
    copy_buffer_region,
    copy_whole,
)
from minmip.sim.d3d12.copy_structures import D3D12_BOX, D3D12_TEXTURE_COPY_LOCATION
from minmip.sim.d3d12.decode import decoded_mip
from minmip.sim.d3d12.draws import whole_numbers
from minmip.sim.d3d12.enums import (
    D3D12_RESOLVE_MODE,
    D3D12_RESOURCE_STATES,
    D3D12_SHADER_VERSION_TYPE,
    DXGI_FORMAT,
)
from minmip.sim.d3d12.errors import D3D12Error
from minmip.sim.d3d12.region_copies import checked_region, copy_region
from minmip.sim.d3d12.resolve import RAW_IS_XBOX, checked_transcode
from minmip.sim.d3d12.resource import Resource
from minmip.sim.d3d12.resources import MIN_MIP
from minmip.sim.d3d12.stages import PIXEL, checked_stage, read_state
from minmip.sim.d3d12.states import (
    COMMON,
    COPY_DEST,
    COPY_SOURCE,
    RESOLVE_DEST,
    RESOLVE_SOURCE,
    checked_state,
    named,
)
from minmip.sim.d3d12.structures import D3D12_RECT, check_structure
from minmip.sim.d3d12.transcode import transcode
from minmip.sim.d3d12.view import View, view_field
from minmip.sim.golden.descriptor import LINKED_FILTER

__all__ = ["CommandList"]


class CommandList(Context):
    """Draws, and what ID3D12GraphicsCommandList1 does to maps between them.

    Commands come after all draws recorded before. A refused one raises D3D12Error and changes
    nothing.
    """

    def load_min_mip(
        self,
        view: View,
        texel: ArrayLike,
        array_slice: ArrayLike = 0,
        *,
        stage: D3D12_SHADER_VERSION_TYPE = PIXEL,
    ) -> np.ndarray:
        """Read texels of a MinMip map by whole coordinates, as a shader's Load does.

        Parameters
        ----------
        view : View
            From `create_min_mip_shader_resource_view_x`, not NULL.
        texel : int [..., n]
            Coordinates of map texels, x first, n as many as the view has axes.
        array_slice : int [...] or one number
            Slice of the view.
        stage : D3D12_SHADER_VERSION_TYPE
            The shader that reads.

        Returns
        -------
        numpy.ndarray
            float32 [...], levels.

        Raises
        ------
        D3D12Error
            Also for a texel outside the map, which the hardware would answer with level 0, the
            one that is least likely to be resident.
        """
        min_mip = self._map_of(view, (LINKED_FILTER,), "create_min_mip_shader_resource_view_x")
        if min_mip is None:
            raise D3D12Error("a NULL view has no texels to load")
        check_defined(min_mip)
        place = [*np.moveaxis(whole_numbers("texel", texel, view.axes), -1, 0)]
        layer = whole_numbers("array_slice", array_slice) + view_field(view, "BASE_ARRAY")
        if layer.shape not in ((), place[0].shape):
            raise D3D12Error(
                f"array_slice must be a number or have shape {list(place[0].shape)}, not "
                f"{list(layer.shape)}"
            )
        sides = min_mip.byte_offsets(0).shape[:0:-1]
        for name, at, size in zip("xyz", place, sides, strict=False):
            if ((at < 0) | (at >= size)).any():
                raise D3D12Error(
                    f"texel {name} must be in 0..{size - 1}, not {at.min()}..{at.max()}: at uv = "
                    "1.0 and with tiling uv, uv * size passes the map; wrap or clamp as the "
                    "texture's sampler does, or use sample_min_mip"
                )
        last = view_field(view, "DEPTH") if view.is_array else view_field(view, "BASE_ARRAY")
        if view.axes < 3 and ((layer < 0) | (layer > last)).any():
            raise D3D12Error(f"array_slice must be a slice of the view, not {array_slice}")
        self._use((min_mip, read_state(checked_stage(stage)), "a load"))
        texels = min_mip.texels(0)
        first = layer if view.axes < 3 else 0
        return texels[(first, *reversed(place))].astype(np.float32) / np.float32(8)

    def decode_sampler_feedback(self, feedback: Resource, *, raw: bool = False) -> Any:
        """Decode a whole opaque feedback map, after all earlier draws.

        Parameters
        ----------
        feedback : Resource
            A feedback map of either kind that has been cleared.
        raw : bool
            Return the bytes as they are (the Xbox R8_TYPELESS form): U5.3 levels, flags.

        Returns
        -------
        numpy.ndarray or list of numpy.ndarray
            uint8 [(slices,) (depth,) (height,) width], slices only for more than one. MinMip: one
            array of mip levels, 0xFF where nothing was sampled. MipRegionUsed: a list with one
            array for each mip of the paired texture, 0xFF used and 0 not used. Sizes are
            ceil(paired / region), halved per mip; where the hardware rounds down and has no texel
            (paired sizes that are no multiple of the region), the last ones hold 0xFF or 0.
        """
        if not isinstance(feedback, Resource) or not feedback.is_opaque:
            raise D3D12Error("only an opaque feedback map can be decoded")
        self._check_owner(feedback)
        if flag("raw", raw) and not self._xbox:
            raise D3D12Error(RAW_IS_XBOX)
        check_cleared(feedback)
        if self._debug:
            warn_of_late_decode(feedback, list(range(len(feedback.defined))))
        self.execute()
        feedback.unread, feedback.stale[:] = False, True
        mips = [decoded_mip(feedback, mip, raw) for mip in range(feedback.mips)]
        return mips[0] if feedback.desc.Format == MIN_MIP else mips

    def resource_barrier(
        self,
        resource: Resource,
        before: D3D12_RESOURCE_STATES,
        after: D3D12_RESOURCE_STATES,
    ) -> None:
        """Transition all subresources from one state to another.

        The states count in the debug layer, which also refuses a `before` that is not so.
        """
        self._check_owner(resource)
        before = checked_state(resource.desc, before)
        after = checked_state(resource.desc, after)
        state = resource.state or resource.promoted
        if self._debug and before != state:
            raise D3D12Error(f"StateBefore is {named(before)}, the resource is in {named(state)}")
        resource.state, resource.promoted = after, COMMON

    def resolve_subresource_region(
        self,
        dst: Resource,
        dst_subresource: int,
        dst_x: int,
        dst_y: int,
        src: Resource,
        src_subresource: int,
        src_rect: D3D12_RECT | None,
        format: DXGI_FORMAT,
        mode: D3D12_RESOLVE_MODE,
    ) -> None:
        """Decode a feedback map into an R8_UINT texture or a buffer, or encode one from it.

        Parameters
        ----------
        dst, src : Resource
            One is an opaque map. The other is R8_UINT (Xbox, for raw bytes: R8_TYPELESS), alike in
            dimension, slices and mips, with at least ceil(paired / region) texels: data lie top
            left, padding is not touched. For MinMip of one slice it may be a buffer, rows tight.
        dst_subresource, src_subresource : int
            MinMip: UINT_MAX for the map, a slice (or UINT_MAX for all) for the other side.
            MipRegionUsed: mip + slice * mips, the same on both sides, or UINT_MAX twice.
        dst_x, dst_y : int
            Decoded texels; MipRegionUsed only.
        src_rect : D3D12_RECT or None
            Decoded texels; MipRegionUsed only.
        format : DXGI_FORMAT
            R8_UINT, or R8_TYPELESS.
        mode : D3D12_RESOLVE_MODE
            D3D12_RESOLVE_MODE_DECODE_SAMPLER_FEEDBACK or ..._ENCODE_....
        """
        for resource in (dst, src):
            self._check_owner(resource)
        job = checked_transcode(
            dst,
            dst_subresource,
            (dst_x, dst_y),
            src,
            src_subresource,
            src_rect,
            format,
            mode,
            xbox=self._xbox,
        )
        if job.decode:
            check_cleared(src, job.subresources)
        else:
            check_defined(src)
        late = partial(warn_of_late_decode, src, job.subresources) if job.decode else None
        self._use(
            (src, RESOLVE_SOURCE, "a resolve's source"),
            (dst, RESOLVE_DEST, "a resolve's destination"),
            look=late,
        )
        self._flush()
        transcode(job, self._resolver)
        job.opaque.unread = False
        if not job.decode:
            job.opaque.stale[:] = False
        elif job.rect is None:
            job.opaque.stale[job.subresources] = True

    def copy_resource(self, dst: Resource, src: Resource) -> None:
        """Copy a map, buffer or plain texture to another of equal shape."""
        for resource in (dst, src):
            self._check_owner(resource)
        check_copy(dst, src)
        self._use_for_copy(dst, src)
        self._flush()
        copy_whole(dst, src)

    def copy_buffer_region(
        self, dst: Resource, dst_offset: int, src: Resource, src_offset: int, num_bytes: int
    ) -> None:
        """Copy bytes between buffers, or inside one without overlap."""
        for resource in (dst, src):
            self._check_owner(resource)
        to, start, count = check_buffer_region(dst, dst_offset, src, src_offset, num_bytes)
        self._use_for_copy(dst, src)
        self._flush()
        copy_buffer_region(dst, to, src, start, count)

    def copy_texture_region(
        self,
        dst: D3D12_TEXTURE_COPY_LOCATION,
        dst_x: int,
        dst_y: int,
        dst_z: int,
        src: D3D12_TEXTURE_COPY_LOCATION,
        src_box: D3D12_BOX | tuple[int, ...] | None = None,
    ) -> None:
        """Copy texels between plain textures, or between one and a footprint in a buffer.

        Parameters
        ----------
        dst, src : D3D12_TEXTURE_COPY_LOCATION
            Two subresources, whose dimensions may differ, or a subresource and a placed
            footprint, as `Device.get_copyable_footprints` gives it. Formats must be of one
            typeless family. Feedback maps are refused.
        dst_x, dst_y, dst_z : int
            Where the box goes.
        src_box : D3D12_BOX or tuple or None
            Left, top, front, right, bottom, back; None is the whole subresource or footprint.
        """
        for location in (dst, src):
            check_structure(D3D12_TEXTURE_COPY_LOCATION, location)
            self._check_owner(location.pResource)
        job = checked_region(dst, (dst_x, dst_y, dst_z), src, src_box)
        self._use_for_copy(dst.pResource, src.pResource)
        self._flush()
        copy_region(job)

    def _use_for_copy(self, dst: Resource, src: Resource) -> None:
        self._use((src, COPY_SOURCE, "a copy's source"), (dst, COPY_DEST, "a copy's destination"))
