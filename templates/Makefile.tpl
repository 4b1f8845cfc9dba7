# C simulation without vendor tools:
#     make csim
# With the vendor's headers instead of csim/, whose streams block where a word is missing; the define names the stream:
#     make csim HLS_INCLUDE=/path/to/Vitis_HLS/include
#     make clean csim HLS_INCLUDE=/path/to/Vitis_HLS/include DEFINES=-DALLOW_EMPTY_HLS_STREAM_READS

CXX         ?= g++
CXXFLAGS    ?= -O3
HLS_INCLUDE ?= csim
RUN         ?= timeout 600
BUILD       ?= $(if $(filter csim,$(HLS_INCLUDE)),build,build.vendor)

COMPILE = $(CXX) -std=c++14 $(CXXFLAGS) $(DEFINES) -Wno-unknown-pragmas -Wno-unused-label -pthread -I"$(HLS_INCLUDE)" -c -o
OBJECTS = {% if v.Top %}$(BUILD)/top.o {% endif %}$(BUILD)/layers.o $(BUILD)/tb.o
HEADERS = $(wildcard *.hpp tables/*.hpp include/hlsgen/*.hpp include/hlsgen/core/*.hpp)

.PHONY: csim clean

csim: $(BUILD)/csim
	@$(RUN) $(BUILD)/csim tb/data $(BUILD)/output.txt > $(BUILD)/csim.log 2>&1; code=$$?; cat $(BUILD)/csim.log; exit $$code
	@! grep -q '^WARNING' $(BUILD)/csim.log || { echo 'FAIL a stream was read empty, or kept words'; exit 1; }

$(BUILD)/csim: $(OBJECTS)
	$(CXX) $(CXXFLAGS) -pthread -o $@ $(OBJECTS)

$(BUILD)/tb.o: tb/tb.cpp $(HEADERS)
	@mkdir -p $(BUILD)
	$(COMPILE) $@ $<

$(BUILD)/%.o: %.cpp $(HEADERS)
	@mkdir -p $(BUILD)
	$(COMPILE) $@ $<

clean:
	rm -rf $(BUILD)
