# Made by `minmip constraints`: change hw/board/constraints.py and run it again.
# board at 50 MHz: the clock that the host link's rate is made from.
create_clock -name clk -period 20.000 [get_ports clk]
set_false_path -from [get_ports rst]
set_false_path -from [get_ports rx]
set_false_path -to [get_ports tx]
set_false_path -to [get_ports is_open]
set_false_path -to [get_ports busy]
set_false_path -to [get_ports refused]
