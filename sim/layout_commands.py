"""Commands of textures: `minmip layout`, `swizzle`, `unswizzle`, `convert`, `measure-layout`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import click

from minmip.sim.cli_options import one_sentence

__all__ = ["convert", "layout", "measure_layout", "swizzle", "unswizzle"]


class _Numbers(click.ParamType):
    """Whole numbers with a sign between them, such as 48x24 or 0,3,5."""

    def __init__(self, name: str, sign: str, least: int, most: int):
        self.name, self.sign, self.counts = name, sign, range(least, most + 1)

    def convert(self, value, param, ctx):
        words = value.lower().split(self.sign)
        plain = all(word.isascii() and word.isdigit() and len(word) < 20 for word in words)
        if not plain or len(words) not in self.counts:
            self.fail(f"wanted whole numbers such as {self.name}, not {value!r}", param, ctx)
        return tuple(map(int, words))


class _Hardware(click.ParamType):
    """A GPU by name, by its GB_ADDR_CONFIG, or by log2 of its pipes and packers."""

    name = "NAME|0xHEX|PIPES,PACKERS"

    def get_metavar(self, param, ctx=None):
        return self.name

    def convert(self, value, param, ctx):
        from minmip.sim.layout import HARDWARE, AddressConfig, LayoutError

        if not isinstance(value, str):
            return value
        try:
            if value.lower() in HARDWARE:
                return HARDWARE[value.lower()]
            if value.lower().startswith("0x"):
                return AddressConfig.from_register(int(value, 16))
            pipes, packers = map(int, value.split(","))
            return AddressConfig(pipes_log2=pipes, packers_log2=packers)
        except LayoutError as error:
            self.fail(str(error), param, ctx)
        except ValueError:
            names = ", ".join(HARDWARE)
            self.fail(
                f"wanted {names}, a register such as 0x345, or 5,3, not {value!r:.60}", param, ctx
            )


_SIZE = _Numbers("48x24", "x", 1, 3)
_path = functools.partial(click.Path, path_type=Path, dir_okay=False)


def _mode_options(command: Callable) -> Callable:
    """Options that say how texels are swizzled."""
    for option in (
        click.option(
            "--pipe-bank-xor",
            type=int,
            default=0,
            show_default=True,
            help="pipeBankXor, X and T modes.",
        ),
        click.option(
            "--hardware",
            type=_Hardware(),
            default="anaconda",
            show_default=True,
            help="Pipes and packers, for X and T modes: a name, GB_ADDR_CONFIG, or their log2.",
        ),
        click.option(
            "--mode",
            default="64KB_S",
            show_default=True,
            help="Swizzle mode: name, number, or layout value 0x100 to 0x11F.",
        ),
    ):
        command = option(command)
    return command


def _texture_options(command: Callable) -> Callable:
    """Options that describe a texture."""
    for option in (
        click.option("--excess-mips", is_flag=True, help="Allow mips beyond the natural chain."),
        click.option("--mips", default="1", show_default=True, help="Mip levels, or 'all'."),
        click.option(
            "--array",
            "array_size",
            type=int,
            default=1,
            show_default=True,
            help="Array slices; a cube has six.",
        ),
        click.option(
            "--usage",
            default="DEFAULT",
            show_default=True,
            help="Usage of the plane that --bytes gives: DEFAULT, DEPTH, STENCIL, LUMA or CHROMA.",
        ),
        click.option(
            "--bytes", "element_bytes", type=int, help="Bytes of an element: 1, 2, 4, 8 or 16."
        ),
        click.option("--format", "form", help="DXGI format, such as BC1, R8G8B8A8_UNORM or NV12."),
    ):
        command = option(command)
    return _mode_options(command)


def _number_or_name(text: str) -> str | int:
    """Modes and formats may be given as numbers."""
    try:
        return int(text, 0)
    except ValueError:
        return text


def _texture(size, form, element_bytes, mips, mode, **options):
    """Make a Texture of the options; the count of sizes gives the dimension."""
    from minmip.sim.layout import LayoutError, Texture, natural_mips

    width, height, depth = (*size, 1, 1)[:3]
    if mips == "all":
        mips = natural_mips(width, height, depth)
    elif not (mips.isascii() and mips.isdigit() and len(mips) < 10):
        raise LayoutError(f"mips is a whole number or 'all', not {mips!r}")
    return Texture(
        width=width,
        height=height,
        depth=depth,
        dimension=f"{len(size)}D",
        mips=int(mips),
        format=_number_or_name(form) if form else None,
        element_bytes=element_bytes if element_bytes is not None or form else 4,
        mode=_number_or_name(mode),
        **options,
    )


@click.command()
@click.argument("size", type=_SIZE, metavar="WIDTH[xHEIGHT[xDEPTH]]")
@_texture_options
@click.option(
    "--plane", type=int, default=0, show_default=True, help="Plane of --at and --picture."
)
@click.option(
    "--at",
    type=_Numbers("MIP,X,Y[,Z]", ",", 3, 4),
    multiple=True,
    help="Also print the byte offset of this element; may be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of the table.")
@click.option("--picture", type=_path(), help="Draw it to this PNG, SVG or PDF file.")
@one_sentence
def layout(size, plane, at, as_json, picture, **options):
    """Say where a texture's mips and elements lie in memory: its size, planes, mip chain and tail.

    One number is a 1D texture, two are 2D, three 3D. Elements have 4 bytes unless --bytes
    or --format says otherwise.
    """
    import json

    from minmip.sim import layout as library
    from minmip.sim.layout import report

    resource = library.layout(_texture(size, **options))
    offsets = [(place, resource.offset(*place, plane=plane)) for place in at]
    if picture:
        from minmip.sim.layout.picture import draw_layout

        draw_layout(picture, resource, plane)
    if as_json:
        data = report.as_data(resource)
        if offsets:
            data["Offsets"] = [{"at": list(place), "bytes": int(n)} for place, n in offsets]
        click.echo(json.dumps(data, indent=2))
        return
    click.echo(report.as_table(resource))
    for place, offset in offsets:
        click.echo(f"mip {place[0]}, element {','.join(map(str, place[1:]))}: byte {offset}")


@click.command()
@click.argument("file", type=_path(), metavar="FILE.dds")
@click.option("-o", "--out", type=_path(), required=True, help="The swizzled bytes.")
@_mode_options
@one_sentence
def swizzle(file, out, mode, hardware, pipe_bank_xor):
    """Swizzle a DDS file for the hardware; --out gets the resource's bytes and nothing else."""
    import dataclasses

    from minmip.sim import layout as library

    image = library.read_dds(file)
    resource = library.layout(
        dataclasses.replace(
            image.texture,
            mode=_number_or_name(mode),
            hardware=hardware,
            pipe_bank_xor=pipe_bank_xor,
        )
    )
    data = library.swizzle(resource, image.images)
    out.write_bytes(data)
    click.echo(f"{resource.texture.swizzle.name}, {resource.SizeBytes} bytes: {out}")


@click.command()
@click.argument("file", type=_path(), metavar="FILE")
@click.argument("size", type=_SIZE, metavar="WIDTH[xHEIGHT[xDEPTH]]")
@click.option("-o", "--out", type=_path(), required=True, help="The DDS file.")
@click.option("--cube", is_flag=True, help="Six slices are the faces of a cube.")
@_texture_options
@one_sentence
def unswizzle(file, size, out, cube, **options):
    """Make a DDS file of a resource's bytes; the options say what they are."""
    import dataclasses

    from minmip.sim import layout as library

    if not options["form"]:
        raise library.LayoutError("a DDS file names its format: --format is needed")
    texture = _texture(size, **options)
    resource = library.layout(texture)
    if len(resource.Planes) > 1:
        raise library.LayoutError(
            f"a DDS file has one plane, {texture.format} has {len(resource.Planes)}"
        )
    data = file.read_bytes()
    if len(data) != resource.SizeBytes:
        raise library.LayoutError(
            f"{file} must have the {resource.SizeBytes} bytes of this resource, not {len(data)}"
        )
    images = library.unswizzle(resource, data)
    whole = [image.reshape(*image.shape[:3], -1) for image in images]
    linear = dataclasses.replace(texture, mode="LINEAR", pipe_bank_xor=0)
    library.write_dds(out, library.DdsImage(texture=linear, images=whole, cube=cube))
    click.echo(f"{texture.mips} mips of {texture.slices} slices: {out}")


@click.command()
@click.argument("file", type=_path(), metavar="FILE.dds")
@click.option("-o", "--out", type=_path(), required=True, help="The new DDS file.")
@click.option("--format", "form", required=True, help="DXGI format of floats, such as R9G9B9E5.")
@one_sentence
def convert(file, out, form):
    """Convert a DDS file from one format of floats to another, packed ones among them.

    Formats are R11G11B10_FLOAT, R9G9B9E5_SHAREDEXP, and those of one, two or four floats of 16 or
    32 bits. Channels that the new format lacks are dropped, new ones are 0, alpha 1.
    """
    from minmip.sim import layout as library
    from minmip.sim.layout.texels import convert_dds

    image = library.read_dds(file)
    made, limited = convert_dds(image, _number_or_name(form))
    library.write_dds(out, made)
    texels = sum(part.shape[0] * part.shape[1] * part.shape[2] for part in made.images)
    click.echo(
        f"{image.texture.format} to {made.texture.format}, {limited} of {texels} texels out of "
        f"range and limited: {out}"
    )


@click.command("measure-layout")
@click.option("--quick", is_flag=True, help="512x512 images and fewer runs.")
@one_sentence
def measure_layout(quick):
    """Print how fast images are swizzled, against a plain copy, and how many layouts a second."""
    from minmip.sim.measure_layout import measure_layouts

    measure_layouts(quick=quick, say=click.echo)
