# Made by `minmip constraints`: change hw/board/constraints.py and run it again.
# Tang Nano 9K (GW1NR-9C): for blocks behind the host link; the whole unit does not fit.
create_clock -name clk27_0__io -period 37.037 [get_ports {clk27_0__io}]
