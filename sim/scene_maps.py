"""A scene's textures with their feedback maps, created and drawn through the driver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minmip.sim.d3d12 import (
    D3D12_FILTER,
    D3D12_MIP_REGION,
    D3D12_RESOURCE_DESC1,
    D3D12_RESOURCE_DIMENSION,
    D3D12_RESOURCE_FLAGS,
    D3D12_SAMPLER_DESC,
    D3D12_TEXTURE_ADDRESS_MODE,
    DXGI_FORMAT,
    Device,
    Resource,
    Sampler,
    View,
)
from minmip.sim.d3d12.resources import mip_size, stored_size
from minmip.sim.frontend import (
    Quads,
    Scene,
    SceneError,
    Texture,
    builtin_scene,
    coarse_gradients,
    fine_gradients,
    load_gltf,
    render_quads,
)
from minmip.sim.frontend.scene import TILE_SIZE
from minmip.sim.trace import Trace

__all__ = [
    "Binding",
    "bind_textures",
    "check_region",
    "frame_trace",
    "open_scene",
    "record_draws",
    "recorded_map",
]

FORMATS = {
    "minmip": DXGI_FORMAT.DXGI_FORMAT_SAMPLER_FEEDBACK_MIN_MIP_OPAQUE,
    "used": DXGI_FORMAT.DXGI_FORMAT_SAMPLER_FEEDBACK_MIP_REGION_USED_OPAQUE,
}
ADDRESS_MODES = {
    "wrap": D3D12_TEXTURE_ADDRESS_MODE.D3D12_TEXTURE_ADDRESS_MODE_WRAP,
    "mirror": D3D12_TEXTURE_ADDRESS_MODE.D3D12_TEXTURE_ADDRESS_MODE_MIRROR,
    "clamp": D3D12_TEXTURE_ADDRESS_MODE.D3D12_TEXTURE_ADDRESS_MODE_CLAMP,
}


@dataclass(eq=False)
class Binding:
    """A texture of the scene with its feedback map, as one draw needs it."""

    texture: Texture
    region: tuple[int, int]
    feedback: Resource
    view: View
    sampler: Sampler


def open_scene(name: str) -> Scene:
    """Return the built-in scene for "builtin", else load that glTF file."""
    return builtin_scene() if name == "builtin" else load_gltf(name)


def check_region(region: tuple[int, int], scene: Scene) -> None:
    """Raise SceneError unless both sides are powers of two that fit some texture of the scene."""
    largest = max((max(t.width, t.height) for t in scene.textures), default=1)
    for side in region:
        if side < 1 or side & (side - 1):
            raise SceneError(
                f"the region's sides must be powers of two, not {region[0]}x{region[1]}"
            )
        if side > largest:
            raise SceneError(
                f"the region's sides must be at most {largest}, the largest side of a texture in "
                f"scene {scene.name!r}, not {region[0]}x{region[1]}"
            )


def bind_textures(
    device: Device,
    scene: Scene,
    kind: str,
    region: tuple[int, int] | None,
    max_anisotropy: int,
) -> list[Binding]:
    """Create a paired texture, a feedback map, its view and a sampler for every texture.

    The region is the one asked for, or a 64 KB tile, cut to the largest power of two that fits the
    texture's side.
    """
    bindings = []
    for texture in scene.textures:
        sides = (texture.width, texture.height)
        wanted = region or (TILE_SIZE, TILE_SIZE)
        across, down = (min(w, 1 << s.bit_length() - 1) for w, s in zip(wanted, sides, strict=True))
        common = {
            "Dimension": D3D12_RESOURCE_DIMENSION.D3D12_RESOURCE_DIMENSION_TEXTURE2D,
            "Width": texture.width,
            "Height": texture.height,
            "DepthOrArraySize": 1,
            "MipLevels": texture.mips,
        }
        target = device.create_committed_resource2(
            D3D12_RESOURCE_DESC1(**common, Format=DXGI_FORMAT.DXGI_FORMAT_R8G8B8A8_UNORM)
        )
        feedback = device.create_committed_resource2(
            D3D12_RESOURCE_DESC1(
                **common,
                Format=FORMATS[kind],
                Flags=D3D12_RESOURCE_FLAGS.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
                SamplerFeedbackMipRegion=D3D12_MIP_REGION(across, down, 1),
            )
        )
        bindings.append(
            Binding(
                texture=texture,
                region=(across, down),
                feedback=feedback,
                view=device.create_sampler_feedback_unordered_access_view(target, feedback),
                sampler=device.create_sampler(_sampler_desc(texture, max_anisotropy)),
            )
        )
    return bindings


def _sampler_desc(texture: Texture, max_anisotropy: int) -> D3D12_SAMPLER_DESC:
    filters = (texture.min_filter, texture.mag_filter, texture.mip_filter)
    if max_anisotropy > 1:
        chosen = D3D12_FILTER.D3D12_FILTER_ANISOTROPIC
    else:
        # The enum's bits: 4 minification, 2 magnification, 0 mip; set for linear.
        bits = sum(1 << place for place, f in zip((4, 2, 0), filters, strict=True) if f == "linear")
        chosen = D3D12_FILTER(bits)
    desc = D3D12_SAMPLER_DESC(
        Filter=chosen,
        AddressU=ADDRESS_MODES[texture.wrap_u],
        AddressV=ADDRESS_MODES[texture.wrap_v],
        MaxAnisotropy=max_anisotropy,
    )
    # "No mips" is said by an upper limit that still tells minification from magnification.
    return replace(desc, MaxLOD=0.25) if texture.mip_filter == "none" else desc


def record_draws(
    device: Device, bindings: list[Binding], quads: Quads, gradients: str = "implicit"
) -> None:
    """Clear every map, then write feedback for the quads: one draw a run of one texture.

    `gradients` is one of `drawing.GRADIENTS`.
    """
    take = {"coarse": coarse_gradients, "fine": fine_gradients}.get(gradients)
    for binding in bindings:
        device.clear_unordered_access_view_uint(binding.view)
    starts = np.flatnonzero(np.diff(quads.texture, prepend=-1))
    ends = np.append(starts, len(quads))[1:]  # none if nothing is in view
    for first, last in zip(starts, ends, strict=True):
        binding = bindings[quads.texture[first]]
        uv, helpers = quads.uv[first:last], ~quads.live_mask[first:last] & 15
        if take is None:
            device.write_sampler_feedback(binding.view, binding.sampler, uv, helper_mask=helpers)
        else:
            ddx, ddy = take(uv)
            device.write_sampler_feedback_grad(
                binding.view, binding.sampler, uv, ddx, ddy, helper_mask=helpers
            )


def recorded_map(device: Device, binding: Binding) -> Any:
    """Decode a map without the padding of decoded sizes: what the hardware has texels for.

    Where the region does not divide the texture, the map has floor(size / region) texels, which
    divide the whole texture evenly (spec 03), and the decoded form one more that nobody can write.

    Returns
    -------
    numpy.ndarray or list of numpy.ndarray
        As `Device.decode_sampler_feedback`, uint8 [rows, columns] for each mip level.
    """
    size = stored_size(binding.feedback.desc)
    decoded = device.decode_sampler_feedback(binding.feedback)

    def own(texels: np.ndarray, mip: int) -> np.ndarray:
        columns, rows, _ = mip_size(size, mip)
        return texels[:rows, :columns]

    if isinstance(decoded, list):
        return [own(texels, mip) for mip, texels in enumerate(decoded)]
    return own(decoded, 0)


def frame_trace(scene_name: str, size: tuple[int, int], kind: str, max_anisotropy: int) -> Trace:
    """Trace of the first frame of a scene, as `run_job` would run it."""
    scene = open_scene(scene_name)
    device = Device()
    bindings = bind_textures(device, scene, kind, None, max_anisotropy)
    record_draws(device, bindings, render_quads(scene, *size))
    return device.build_trace()
