"""The golden model: what the hardware must do, bit for bit, in numpy integers.

Written from the specification, one module for each block of the pipeline:

===================  =====================================================  ===========
module               block                                                  spec
===================  =====================================================  ===========
`descriptor`         T# and S# decode, legality                             01
`operands`           gradients, level, bias and clamp by opcode             02
`lod`                gradients to LOD, anisotropy, clamps, mip choice       02
`coordinates`        fixed point, taps, range reduction, address modes      02
`pattern`            tap walker and sample pattern                          02
`rescale`            grid of the map, value written                         03
`address`            byte addresses, LINEAR and 256B_S                      05
`combine`            merging within a beat                                  03
`memory`             byte-atomic MIN, MAX, OR                               03
`resolve`            decoding and encoding of parts of maps                 03, 06
`minmip_filter`      the MinMip filter                                      04
`top`                the whole unit                                         08
===================  =====================================================  ===========
"""

from minmip.sim.golden.top import run

__all__ = ["run"]
