package vivado_test

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"hlsgen/boards"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
)

// agrees compares a block design with the design that it was generated for and returns the differences. It compares the
// addresses that the driver uses, the movers' parameters and streams in host.json, the clock, and the IPs that the
// budget counts.
func (g *graph) agrees(d *dataflow.Design, windows []mapped, system *deploy.HostSystem) found {
	var f found
	face, err := templates.IPInterfaceOf(d, templates.Options{})
	if err != nil {
		return found{"design: " + err.Error()}
	}
	host, err := deploy.HostFileOf(d, face)
	if err != nil {
		return found{"design: " + err.Error()}
	}
	g.addressMap(&f, windows)
	for k, s := range host.Send {
		g.mover(&f, d, "read_"+s.Port, "hlsgen_read", "m_axis", s.HostStream, host.Hash, k)
	}
	for k, r := range host.Receive {
		g.mover(&f, d, "write_"+r.Port, "hlsgen_write", "s_axis", r.HostStream, host.Hash, k)
	}
	for k, p := range templates.WeightPortsOf(d) {
		name := "read_" + p.Axis
		g.mover(&f, d, name, "hlsgen_read", "m_axis", deploy.HostStream{Port: p.Axis, Bytes: p.Port.TDATABits() / 8,
			Words: p.Port.Words}, host.Hash, len(host.Send)+k)
		if c := g.Cells[name]; c.number("PERIOD") != p.Copies*p.Port.FrameBytes() {
			f.add("parameter", "PERIOD of %s is not %d times %d", name, p.Copies, p.Port.FrameBytes())
		}
	}
	g.clock(&f, d.Target)
	g.price(&f, d, face)
	g.interrupts(&f, system)
	g.movers(&f, system)
	g.memory(&f)
	if !matches(d.Target.Board.BoardPart, g.BoardPart) {
		f.add("board", "the project is for %q", g.BoardPart)
	}
	if g.Connections != d.Target.Board.Connections {
		f.add("carrier", "the module is at %q, want %q", g.Connections, d.Target.Board.Connections)
	}
	if !slices.Contains(g.Calls, "validate_bd_design") || !slices.Contains(g.Calls, "write_hw_platform") {
		f.add("calls", "the design is not validated, or there is no .xsa")
	}
	return f
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// addressMap checks that the PS sees the movers at the addresses in the table of package vivado, and nothing else.
func (g *graph) addressMap(f *found, windows []mapped) {
	var seen []mapped
	for _, m := range g.Maps {
		if m.Space == "ps/Data" {
			seen = append(seen, mapped{Bus: path.Dir(m.Bus), Base: m.Base, Bytes: m.Bytes})
		}
	}
	if !slices.Equal(seen, windows) {
		f.add("address-map", "the PS sees %v, the driver %v", seen, windows)
	}
}

// movers checks that host.json has the streams of the movers and the addresses of their registers.
func (g *graph) movers(f *found, host *deploy.HostSystem) {
	for _, m := range host.Movers {
		axis := map[string]string{"hlsgen_read": "m_axis", "hlsgen_write": "s_axis"}[g.Cells[m.Name].kind()]
		at := slices.IndexFunc(g.Maps, func(w mapped) bool { return w.Space == "ps/Data" && path.Dir(w.Bus) == m.Name })
		if g.peer(m.Name+"/"+axis) != "accelerator/"+m.Port || at < 0 || g.Maps[at].Base != m.Address {
			f.add("host-movers", "host.json has %+v", m)
		}
	}
}

// mover: one of a stream has the parameters that host.json tells the driver of, and is at that stream.
func (g *graph) mover(f *found, d *dataflow.Design, name, ip, axis string, s deploy.HostStream, hash string, k int) {
	c, ok := g.Cells[name]
	if !ok || c.kind() != ip {
		f.add("mover", "there is no %s %s", ip, name)
		return
	}
	board := d.Target.Board
	beats := map[boards.ProcessingSystem]int{boards.PSZynq7000: 16, boards.PSZynqMP: 64}[board.PS]
	for key, want := range map[string]int{"STREAM_BYTES": s.Bytes, "FRAME_BYTES": s.Bytes * s.Words,
		"DATA_BITS": board.HostPortBits, "MAX_BEATS": beats} {
		if c.number(key) != want {
			f.add("parameter", "%s of %s is %s, want %d", key, name, c.Config[key], want)
		}
	}
	if c.Config["HASH"] != "0x"+hash {
		f.add("parameter", "HASH of %s is %s, want %s", name, c.Config["HASH"], hash)
	}
	if at := g.peer(name + "/" + axis); at != "accelerator/"+s.Port {
		f.add("stream", "%s is at %s, want %s", name, at, s.Port)
	}
	want := "ps/" + board.MemoryPorts[k%len(board.MemoryPorts)]
	if at := g.reached(name + "/m_axi_gmem"); !slices.Equal(at, []string{want}) {
		f.add("memory-port", "%s is at %v, want %s", name, at, want)
	}
}

// clock checks that the PS gets a clock that its dividers make, and that is no faster than the design's.
func (g *graph) clock(f *found, t dataflow.Target) {
	ps := g.Cells["ps"]
	text, pll := ps.Config["PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ"], map[string]float64{"zcu104": 1500, "kv260": 1000,
		"pynq-z1": 1000}[t.Board.Name]
	if t.Board.PS == boards.PSZynq7000 {
		text = ps.Config["PCW_FPGA0_PERIPHERAL_FREQMHZ"]
	}
	mhz, err := strconv.ParseFloat(text, 64)
	ratio := math.Round(pll / mhz)
	if err != nil || math.Abs(pll/ratio-mhz) > 1e-6 || mhz > t.ClockMHz*(1+1e-5) {
		f.add("frequency", "%s MHz of a PLL with %g MHz, at most %g MHz", text, pll, t.ClockMHz)
	}
}

// price checks that the budget counts a mover per cell, and that its shell is everything else except the accelerator.
func (g *graph) price(f *found, d *dataflow.Design, face templates.IPInterface) {
	count := map[string]int{}
	for _, name := range names(g.Cells) {
		count[g.Cells[name].kind()]++
	}
	have := estimate.DataMoversCost(d.Target, count["hlsgen_read"], count["hlsgen_write"])
	if want := estimate.HostInterfaceCost(d.Target, d.Model.Graph); !slices.Equal(have, want) {
		f.add("price", "the cells cost %v, the budget has %v", have, want)
	}
	shell := []string{"processing_system7", "zynq_ultra_ps_e", "proc_sys_reset", "smartconnect", "xlconcat",
		"system_ila"}
	for _, kind := range names(count) {
		switch {
		case kind == "hlsgen_read", kind == "hlsgen_write", slices.Contains(shell, kind):
		case kind == face.Top && count[kind] == 1:
		default:
			f.add("price", "the budget has no %d %s", count[kind], kind)
		}
	}
}

// interruptNumbers maps each interrupt pin of a PS to its numbers, the lowest bit first, as UG585 and UG1085 list them.
var interruptNumbers = map[string][]int{
	"IRQ_F2P":    {61, 62, 63, 64, 65, 66, 67, 68, 84, 85, 86, 87, 88, 89, 90, 91},
	"pl_ps_irq0": {121, 122, 123, 124, 125, 126, 127, 128},
	"pl_ps_irq1": {136, 137, 138, 139, 140, 141, 142, 143},
}

// interrupts checks that the interrupts of all movers reach the PS, that of a mover that writes at the first input, and
// that host.json has the numbers of their inputs.
func (g *graph) interrupts(f *found, host *deploy.HostSystem) {
	for _, name := range names(g.Cells) {
		if !strings.HasPrefix(g.Cells[name].kind(), "hlsgen_") {
			continue
		}
		var numbers []int
		for _, p := range g.net(name + "/interrupt") {
			at, input := strings.CutPrefix(path.Base(p), "In")
			for _, q := range g.net(path.Dir(p) + "/dout") {
				if k, err := strconv.Atoi(at); input && err == nil && path.Dir(q) == "ps" {
					numbers = append(numbers, interruptNumbers[path.Base(q)][k])
				}
			}
		}
		if len(numbers) != 1 {
			f.add("interrupt", "that of %s does not reach the PS", name)
			continue
		}
		i := slices.IndexFunc(host.Movers, func(m deploy.HostMover) bool { return m.Name == name })
		if i < 0 || host.Movers[i].Interrupt != numbers[0] {
			f.add("interrupt", "that of %s is %d, host.json has %+v", name, numbers[0], host.Movers)
		}
	}
	first := g.net("interrupts_0/In0")
	if !slices.ContainsFunc(first, func(p string) bool { return g.Cells[path.Dir(p)].kind() == "hlsgen_write" }) {
		f.add("interrupt", "the first is of %v, want one that writes", first)
	}
}

// memory: movers see memory of the PS, and none of its registers.
func (g *graph) memory(f *found) {
	for _, m := range g.Maps {
		if g.bus(m.Space).Space == 1 && !strings.Contains(m.Segment, "_DDR_") {
			f.add("memory", "%s sees %s", m.Space, m.Segment)
		}
	}
}
