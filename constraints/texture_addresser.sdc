# Made by `minmip constraints`: change hw/board/constraints.py and run it again.
# texture_addresser at 100 MHz: what four lanes must reach on ECP5 -6; half a clock is for what is outside.
create_clock -name clk -period 10.000 [get_ports clk]
set_input_delay -clock clk 5.000 [remove_from_collection [all_inputs] [get_ports clk]]
set_output_delay -clock clk 5.000 [all_outputs]
