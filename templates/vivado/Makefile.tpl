{%- if v.Card -%}
# From the accelerator to a file that {{ v.Board.Name|req }} loads, with Vitis HLS, Vivado and v++: build/{{ v.Top|req }}.xclbin.
#     make xclbin
#     make xclbin PLATFORM=the_platform_that_is_installed
{%- else -%}
# From the accelerator to a bitstream for {{ v.Board.Name|req }}, with Vitis HLS and Vivado: build/{{ v.Top|req }}.bit, .hwh and .xsa.
#     make bitstream
#     make bitstream JOBS=8
#     make power
{%- if v.Board.Connections %}
#     make app
{%- endif %}
{%- endif %}
# The IP of the accelerator is in the folder IP. Where it is older than what it is made of, its own Makefile makes it again.
{%- for f in v.Flows %}
{%- if forloop.Counter > 1 %}
# The IP of ../{{ f.Flow|req }} does as well:
#     make {% if v.Card %}xclbin{% else %}bitstream{% endif %} IP={{ f.IP|req }}
{%- endif %}
{%- endfor %}
TOP    := {{ v.Top|req }}
VIVADO ?= vivado
JOBS   ?= 4
IP     ?= {{ v.Flows.0.IP|req }}
BATCH  := $(VIVADO) -mode batch -nojournal
{% if v.Card %}
VPP      ?= v++
PLATFORM ?= {{ v.Board.Platform|req }}
VERSION   = $(shell $(VPP) --version | sed -n 's/.*v++ v\([0-9.]*\).*/\1/p')
# A clock that v++ may lower where the design misses it. Vitis has --freqhz from 2023.2 on.
CLOCK     = $(if $(filter 2019.% 2020.% 2021.% 2022.% 2023.1 2023.1.%,$(VERSION)),--kernel_frequency {{ v.Clock.WholeMHz|req }},--freqhz={{ v.Clock.Hz|req }})
KERNELS  := $(TOP) {% for m in v.Movers %}{{ m.KernelName|req }}{% if not forloop.Last %} {% endif %}{% endfor %}

.PHONY: xclbin clean
xclbin: build/$(TOP).xclbin

build/$(TOP).xclbin: build/kernels link.cfg
	$(VPP) --link --target hw --platform $(PLATFORM) $(CLOCK) --config link.cfg --temp_dir build/link --log_dir build --report_dir build \
		--jobs $(JOBS) --save-temps -o $@ $(KERNELS:%=build/%.xo)

build/kernels: $(IP)/component.xml package_xo.tcl $(wildcard ip/*.sv) $(wildcard kernels/*)
	@mkdir -p build
	$(BATCH) -log build/package.log -source package_xo.tcl -tclargs $(IP)
	@touch $@
{% else %}
.PHONY: bitstream power {% if v.Board.Connections %}app {% endif %}clean
bitstream: build/$(TOP).bit
{%- if v.Board.Connections %}

# What Linux on the module loads with xmutil: copy the folder app to /lib/firmware/xilinx/$(TOP).
BOOTGEN ?= bootgen
DTC     ?= dtc
app: build/app/$(TOP).bit.bin build/app/$(TOP).dtbo build/app/shell.json

build/app/$(TOP).bit.bin: build/$(TOP).bit
	@mkdir -p build/app
	@command -v $(BOOTGEN) >/dev/null || { echo "bootgen makes $@: it comes with Vivado, and is Debian's package xilinx-bootgen"; exit 1; }
	printf 'all: { [destination_device = pl] %s }\n' $< >build/$(TOP).bif
	$(BOOTGEN) -image build/$(TOP).bif -arch zynqmp -o $@ -w

build/app/$(TOP).dtbo: app/$(TOP).dts
	@mkdir -p build/app
	@command -v $(DTC) >/dev/null || { echo "dtc makes $@: it is Debian's package device-tree-compiler"; exit 1; }
	$(DTC) -@ -I dts -O dtb -o $@ $<

build/app/shell.json: app/shell.json
	@mkdir -p build/app
	cp $< $@
{%- endif %}

# What the design consumes, by the activity that hlsgen build --saif writes.
power: build/power.rpt

build/power.rpt: build/$(TOP).bit power.tcl activity.saif
	$(BATCH) -log build/power.log -source power.tcl

activity.saif:
	@echo "there is no activity.saif: hlsgen build --saif writes it"; exit 1

build/$(TOP).bit: $(IP)/component.xml build/movers block_design.tcl
	@mkdir -p build
	$(BATCH) -log build/vivado.log -source block_design.tcl -tclargs $(IP) $(JOBS)
	@touch $@

build/movers: ip/package.tcl $(wildcard ip/*.v) $(wildcard ip/*.sv)
	@mkdir -p build
	$(BATCH) -log build/package.log -source ip/package.tcl
	@touch $@
{% endif %}
{%- for f in v.Flows %}
{{ f.IP|req }}/component.xml: $(wildcard {{ f.Made|req }})
	$(MAKE) -C ../{{ f.Flow|req }} package
{% endfor %}
clean:
	rm -rf build
