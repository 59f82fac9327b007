"""The closed streaming loop: what the hardware records decides which tiles are loaded.

==============  ==================================================================
module          what
==============  ==================================================================
`tiling`        textures in 64 KB tiles, and the map texels over each
`spread`        maps whose neighbours differ by at most `d`
`residency`     which regions are resident down to which level
`safety`        when no sample can leave what is resident
`requests`      the tiles that feedback asks for
`manager`       loads, evictions, pool and budget
`bindings`      maps, views and samplers
`unit`          the traces of a frame
`observe`       what a frame got: misses, jumps, samples of absent tiles
`flight`        where the camera is, frame by frame
`loop`          one frame after the other
`appearance`    the frame as a viewer sees it
`panels`        pictures and the animation
`job`           `minmip stream`
`share`         `minmip stream-share`: feedback from a share of the pixels
`measure`       `minmip measure-stream`
`commands`      their options
==============  ==================================================================

The rules and their reasons are in `docs/streaming.md`.
"""
