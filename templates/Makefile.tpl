# C simulation without vendor tools:
#     make csim
# With the vendor's headers instead of csim/, whose streams block where a word is missing:
#     make csim HLS_INCLUDE=/path/to/Vitis_HLS/include
#     make csim HLS_INCLUDE=/path/to/Vitis_HLS/include DEFINES=-DALLOW_EMPTY_HLS_STREAM_READS   (names the stream)

CXX         ?= g++
CXXFLAGS    ?= -O3
HLS_INCLUDE ?= csim
RUN         ?= timeout 600
BUILD       ?= build

OBJECTS = {% if v.Top %}$(BUILD)/top.o {% endif %}$(BUILD)/layers.o $(BUILD)/tb.o
HEADERS = $(wildcard *.hpp tables/*.hpp include/hlsgen/*.hpp include/hlsgen/core/*.hpp)

.PHONY: csim clean

csim: $(BUILD)/csim
	@$(RUN) $(BUILD)/csim tb/data $(BUILD)/output.txt > $(BUILD)/csim.log 2>&1; code=$$?; cat $(BUILD)/csim.log; exit $$code
	@! grep '^WARNING' $(BUILD)/csim.log > /dev/null

$(BUILD)/csim: $(OBJECTS)
	$(CXX) $(CXXFLAGS) -pthread -o $@ $(OBJECTS)

$(BUILD)/tb.o: tb/tb.cpp $(HEADERS)
	@mkdir -p $(BUILD)
	$(CXX) -std=c++14 $(CXXFLAGS) $(DEFINES) -Wno-unknown-pragmas -pthread -I"$(HLS_INCLUDE)" -c -o $@ $<

$(BUILD)/%.o: %.cpp $(HEADERS)
	@mkdir -p $(BUILD)
	$(CXX) -std=c++14 $(CXXFLAGS) $(DEFINES) -Wno-unknown-pragmas -pthread -I"$(HLS_INCLUDE)" -c -o $@ $<

clean:
	rm -rf $(BUILD)
