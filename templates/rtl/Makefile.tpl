# The network in SystemVerilog, without vendor tools.
#     make sim    runs the recorded frames in Verilator: every word of every stream is compared
#     make lint   what Verilator has to say of the text
#     make synth  Yosys' checks, and what the network takes of a 7-series device
TOP     := {{ v|req }}
SOURCES := $(TOP).sv $(wildcard layers/*.sv lib/*.sv)

.PHONY: sim lint synth clean
sim: obj/bench
	./obj/bench +data=bench/data

obj/bench: $(SOURCES) bench/hlsgen_bench.sv bench/main.cpp bench/bench.cpp bench/bench.hpp
	verilator --cc --exe --build --unroll-count 4097 -Wno-fatal -Wno-lint --x-assign unique --x-initial unique --prefix Vbench \
		--top-module hlsgen_bench --Mdir obj -CFLAGS "-std=gnu++17 -I../bench -w" -o bench $(SOURCES) \
		bench/hlsgen_bench.sv bench/main.cpp bench/bench.cpp

lint:
	verilator --lint-only -Wall --unroll-count 4097 --top-module $(TOP) $(SOURCES)

synth:
	yosys -q -p "read_verilog -sv -defer $(SOURCES); synth_xilinx -flatten -top $(TOP); check -assert; \
		tee -o synth.txt stat"
	cat synth.txt

clean:
	rm -rf obj synth.txt
