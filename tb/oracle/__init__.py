"""Measurements that nobody on this project computed, held against the golden model.

`data` loads what real GPUs did, `h200` holds the number rules of the measured part, `build` makes
traces of our model from the same requests, `judge` compares op by op, `lod` and `anisotropy` look
at the level of detail and the anisotropic line, `report` prints the tables.
"""
