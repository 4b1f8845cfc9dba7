# The accelerator with its movers, simulated by Verilator, as a library that deploy/accelerator.py can use as a
# device.
#     make            build/lib{{ v.Top|req }}.so
# The environment variable AXI_STALL of a program that uses it is the percentage of clocks in which the memory stalls
# (0).
TOP     := {{ v.Top|req }}
SOURCES := $(TOP)_axi.sv ../$(TOP).sv $(wildcard ../layers/*.sv ../shared/*.sv) $(filter-out $(patsubst ../shared/%,../../vivado/ip/%,$(wildcard ../shared/*.sv)),$(wildcard ../../vivado/ip/*.sv))

.PHONY: lib clean
lib: build/lib$(TOP).so

build/lib$(TOP).so: $(SOURCES) lib.cpp
	@mkdir -p build
	verilator {{ v.Verilator|req }} --cc --prefix Vaxi --top-module $(TOP)_axi \
		--Mdir build/axi $(SOURCES)
	$(MAKE) -s -C build/axi -f Vaxi.mk Vaxi__ALL.a verilated.o verilated_threads.o OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1 CXXFLAGS="-fPIC -std=gnu++17 -w"
	$(CXX) -std=gnu++17 -O1 -w -fPIC -shared -Ibuild/axi -I$$(verilator --getenv VERILATOR_ROOT)/include \
		-I$$(verilator --getenv VERILATOR_ROOT)/include/vltstd -o $@ lib.cpp build/axi/verilated.o build/axi/verilated_threads.o \
		-Wl,--whole-archive build/axi/Vaxi__ALL.a -Wl,--no-whole-archive -pthread

clean:
	rm -rf build
