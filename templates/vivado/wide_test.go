package vivado_test

import (
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/vivado"
)

// ofWide are mistakes that streams which are alike allow.
var ofWide = []mistake{
	{"swapped streams", "link read_s_axis_0/m_axis accelerator/s_axis_0\n" +
		"link control/M01_AXI read_s_axis_1/s_axi_control\nlink read_s_axis_1/m_axis accelerator/s_axis_1",
		"link read_s_axis_0/m_axis accelerator/s_axis_1\n" +
			"link control/M01_AXI read_s_axis_1/s_axi_control\nlink read_s_axis_1/m_axis accelerator/s_axis_0",
		"stream"},
	{"swapped memory ports", "link memory_S_AXI_HP0_FPD/M00_AXI ps/S_AXI_HP0_FPD",
		"link memory_S_AXI_HP0_FPD/M00_AXI ps/S_AXI_HP3_FPD", "memory-port"},
	{"memory behind another port", "memory read_s_axis_0 SAXIGP2/HP0_DDR_* SAXIGP2/*",
		"memory read_s_axis_0 SAXIGP3/HP1_DDR_* SAXIGP3/*", "unreachable"},
	{"a mover of the other direction", "add read_s_axis_3 hlsgen:kernels:hlsgen_read:*",
		"add read_s_axis_3 hlsgen:kernels:hlsgen_write:*", "unknown-config"},
	{"an interrupt at another's place", "wire write_m_axis_1/interrupt interrupts_0/In1",
		"wire write_m_axis_1/interrupt interrupts_0/In0", "two-drivers"},
}

// TestWide checks that many streams share ports of the memory and interrupts, and that each has registers of its own.
func TestWide(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "tclsh", "make", "sh")
	s, verilog, list := wide(t)
	w := opened(t, s, vivado.IPBackendRTL, []byte(verilog))
	if said, failed := w.run(nil, "make", "bitstream"); failed {
		t.Fatal(said)
	}
	d := &dataflow.Design{Target: dataflow.Target{Board: s.Board, ClockMHz: 100}}
	w.catch(t, "block_design.tcl", ofWide, func(g *graph) (f found) {
		g.addressMap(&f, w.windows())
		for k, p := range list {
			if strings.HasPrefix(p.Port, "s_") {
				g.mover(&f, d, "read_"+p.Port, "hlsgen_read", "m_axis", p, s.Hash, k)
			} else {
				g.mover(&f, d, "write_"+p.Port, "hlsgen_write", "s_axis", p, s.Hash, k-10)
			}
		}
		g.interrupts(&f, s.HostSystem())
		g.movers(&f, s.HostSystem())
		return f
	})
}
