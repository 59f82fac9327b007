"""Runs generated Verilog at speed: the unit behind `minmip replay`, and every block's bench."""
