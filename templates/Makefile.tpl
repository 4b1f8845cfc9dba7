{% if v.Top %}# Each target says below what it is for: csim, lib, cosim, ip, package, xsim, clean.

{% endif %}# C simulation without vendor tools:
#     make csim
# With the vendor's headers instead of csim/. Their streams block if a word is missing; the define makes them name the
# stream:
#     make csim HLS_INCLUDE=/path/to/Vitis_HLS/include
#     make clean csim HLS_INCLUDE=/path/to/Vitis_HLS/include DEFINES=-DALLOW_EMPTY_HLS_STREAM_READS

CXX         ?= g++
CXXFLAGS    ?= -O2
HLS_INCLUDE ?= csim
RUN         ?= timeout 600
BUILD       ?= $(if $(filter csim,$(HLS_INCLUDE)),build,build.vendor)

COMPILE = $(CXX) -std=c++14 $(CXXFLAGS) $(DEFINES) -Wno-unknown-pragmas -Wno-unused-label -pthread -I"$(HLS_INCLUDE)" -c -o
OBJECTS = {% if v.Top %}$(BUILD)/top.o {% endif %}$(BUILD)/layers.o $(BUILD)/tb.o
HEADERS = $(wildcard *.hpp layers/* tables/*.hpp include/hlsgen/*.hpp include/hlsgen/core/*.hpp)

.PHONY: csim clean

csim: $(BUILD)/csim
	@$(RUN) $(BUILD)/csim tb/data $(BUILD)/output.txt > $(BUILD)/csim.log 2>&1; code=$$?; cat $(BUILD)/csim.log; exit $$code
# The vendor's streams warn if an empty stream is read, or if words are left. Other warnings of its headers are no
# errors.
	@! grep -i '^WARNING.*hls::stream' $(BUILD)/csim.log > $(BUILD)/faults.txt || \
		{ echo "FAIL a stream was read empty, or kept words: $$(head -n 1 $(BUILD)/faults.txt)"; exit 1; }

$(BUILD)/csim: $(OBJECTS)
	$(CXX) $(CXXFLAGS) -pthread -o $@ $(OBJECTS)

# The bench has many functions that run only once. Optimising them would take longer than running them.
$(BUILD)/tb.o: tb/tb.cpp $(HEADERS)
	@mkdir -p $(BUILD)
	$(COMPILE) $@ -Og $<

$(BUILD)/%.o: %.cpp $(HEADERS)
	@mkdir -p $(BUILD)
	$(COMPILE) $@ $<

clean:
	rm -rf $(BUILD)
{%- if v.Top %}

# The network as a library, for programs on this machine; deploy/accelerator.py can use it as a device.
#     make lib
ifneq ($(wildcard lib.cpp),)
.PHONY: lib
lib: $(BUILD)/lib{{ v.Top|req }}.so

$(BUILD)/lib{{ v.Top|req }}.so: lib.cpp top.cpp layers.cpp $(HEADERS)
	@mkdir -p $(BUILD)
	$(CXX) -std=c++14 $(CXXFLAGS) $(DEFINES) -Wno-unknown-pragmas -Wno-unused-label -pthread -I"$(HLS_INCLUDE)" -fPIC -shared -o $@.part lib.cpp top.cpp layers.cpp
	@mv $@.part $@
endif

# Co-simulation of the whole network in the tool: its Verilog with this test bench. No other target needs it. This
# design has no block-level protocol (ap_ctrl_none). For such designs, UG1399 supports co-simulation if they are
# combinational, if they start a call in every clock, or if all arguments are streams, as here (Co-simulation
# Requirements for Interface Synthesis). UG1399 does not promise that co-simulation ends if the code tests whether
# streams are empty, as it does here for FIFOs. Nor does it promise to support calls that do not read an AXI4-Stream.
# `make csim`, and `make xsim` with the layers' Verilog, do not depend on this.
#     make cosim
#     make cosim HLS=/path/to/vitis-run
.PHONY: cosim
cosim:
	HLS_STEPS="csynth cosim" $(FLOW) $(if $(filter vitis-run%,$(notdir $(HLS))),run_hls_unified.tcl,run_hls.tcl)

# Verilog of each layer by itself, in build.ip. With -j, several layers are made at once, if the memory suffices. A
# layer is made again only if the contents of its sources have changed. To begin anew, for example with another
# version of the tool, use `rm -r build.ip`.
#     make ip -j4
#     make ip -j4 HLS=/path/to/vitis-run
HLS   ?= $(firstword $(foreach p,vitis_hls vitis-run,$(if $(shell command -v $(p)),$(p))) vitis_hls)
FLOW   = $(HLS) $(if $(filter vitis-run%,$(notdir $(HLS))),--mode hls --tcl,-f)
LAYERS = $(sort $(basename $(notdir $(wildcard ip/*.files))))

.PHONY: ip FORCE
FORCE:

ip: $(LAYERS:%=build.ip/%/done)

build.ip/%/done: FORCE
	@mkdir -p $(@D)
	@xargs sha256sum < ip/$*.files > $(@D)/now
	@if cmp -s $(@D)/now $@ && [ -e $(@D)/verilog/$*.v ]; then exit 0; fi; rm -f $@; echo "synthesising $*"; \
	if ! (cd $(@D) && $(FLOW) ../../ip/$*.tcl) > $(@D)/log 2>&1 < /dev/null || ! [ -e $(@D)/verilog/$*.v ]; then \
		tail -n 20 $(@D)/log; echo "FAIL $*: see hls/$(@D)/log"; exit 1; \
	fi; mv $(@D)/now $@

# All layers as one IP for Vivado, and the simulation of the layers with the recorded streams in xsim.
#     make -j4 package
#     make -j4 xsim
VIVADO ?= vivado

.PHONY: package xsim
package: ip
	$(VIVADO) -mode batch -nojournal -log build.ip/package.log -source rtl/package.tcl

xsim: ip
	sh rtl/xsim.sh
{%- endif %}
