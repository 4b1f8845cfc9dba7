package vivado_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A graph is a block design as testdata/vivado.tcl writes it.
type graph struct {
	Cells     map[string]cell
	Nets      [][]string  // of pins, as CELL/PIN
	Links     [][2]string // of buses
	Maps      []mapped
	Excluded  [][2]string // space and segment
	BoardPart string      `json:"board_part"`
	Calls     []string
	// Connections is the carrier of a module.
	Connections string
}

type cell struct {
	VLNV   string
	Space  string // of addresses, its own
	Config map[string]string
	Pins   map[string]pin
	Buses  map[string]bus
}

type pin struct {
	Dir, Kind   string
	Least, Most int // bits
	Optional    bool
}

type bus struct {
	Mode, Kind, Clock string
	Bits              int // of data; 0 where any will do
	Last              int // it has TLAST
	Beats             int // of a burst, at most
	Space             int // it has addresses of its own
	Through           int // what comes in at one bus goes out at another
	External          int // pins of the chip
	Outside           bool
	Window            []uint64
	Said              map[string]string // parameters that its IP was packed with
}

type mapped struct {
	Space, Segment, Bus string
	Base, Bytes         uint64
}

// kind is the IP's name in its VLNV.
func (c cell) kind() string { return strings.Split(c.VLNV, ":")[2] }

// names is the keys of a map in order.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// found has the findings of checks, each as NAME: text.
type found []string

func (f *found) add(check, format string, args ...any) {
	*f = append(*f, check+": "+fmt.Sprintf(format, args...))
}

func (g *graph) pin(at string) pin { return g.Cells[path.Dir(at)].Pins[path.Base(at)] }
func (g *graph) bus(at string) bus { return g.Cells[path.Dir(at)].Buses[path.Base(at)] }

// net returns the pins of the net that the pin belongs to, or nil if the pin is not connected.
func (g *graph) net(at string) []string {
	i := slices.IndexFunc(g.Nets, func(net []string) bool { return slices.Contains(net, at) })
	if i < 0 {
		return nil
	}
	return g.Nets[i]
}

// driver returns the output pin that drives the net of a pin, or "" if none does.
func (g *graph) driver(at string) string {
	for _, p := range g.net(at) {
		if g.pin(p).Dir == "out" {
			return p
		}
	}
	return ""
}

// peer is the bus at the other end of a bus's link.
func (g *graph) peer(at string) string {
	for _, l := range g.Links {
		if g.bus(l[1]).Mode == "monitor" && l[1] != at {
			continue // it has a peer of its own
		}
		switch at {
		case l[0]:
			return l[1]
		case l[1]:
			return l[0]
		}
	}
	return ""
}

// check makes all checks of a block design by itself.
func (g *graph) check() found {
	var f found
	g.wires(&f)
	g.links(&f)
	g.domains(&f)
	g.addresses(&f)
	g.bursts(&f)
	return f
}

// bursts checks that movers are packed with what SmartConnects ask of a master: no narrow bursts, its direction, and
// its longest bursts and how many there are at a time.
func (g *graph) bursts(f *found) {
	for _, name := range names(g.Cells) {
		c := g.Cells[name]
		way := map[string]string{"hlsgen_read": "READ", "hlsgen_write": "WRITE"}[c.kind()]
		if way == "" {
			continue
		}
		said := c.Buses["m_axi_gmem"].Said
		if said["SUPPORTS_NARROW_BURST"] != "0" {
			f.add("narrow", "%s: %v", name, said)
		}
		if said["READ_WRITE_MODE"] != way+"_ONLY" {
			f.add("mode", "%s: %v", name, said)
		}
		if beats, err := strconv.Atoi(said["MAX_BURST_LENGTH"]); err != nil || beats < c.number("MAX_BEATS") ||
			beats > c.number("MAX_BEATS") && c.number("PERIOD") <= 0 {
			f.add("burst-length", "%s makes %s beats, and says %v", name, c.Config["MAX_BEATS"], said)
		}
		if said["NUM_"+way+"_OUTSTANDING"] != c.Config["OUTSTANDING"] || len(said) != 4 {
			f.add("outstanding", "%s has %s bursts at a time, and says %v", name, c.Config["OUTSTANDING"], said)
		}
	}
}

// wires: a net has one driver, all its pins are of one kind and as wide, and no input is left open.
func (g *graph) wires(f *found) {
	for _, net := range g.Nets {
		drivers := slices.DeleteFunc(slices.Clone(net), func(p string) bool { return g.pin(p).Dir != "out" })
		if len(drivers) != 1 {
			f.add([]string{"no-driver", "two-drivers"}[min(len(drivers), 1)], "%v is driven by %v", net, drivers)
			continue
		}
		from := g.pin(drivers[0])
		for _, p := range net {
			to := g.pin(p)
			if to.Kind != from.Kind {
				f.add("kind", "%s is a %s, %s a %s", p, to.Kind, drivers[0], from.Kind)
			}
			if from.Most < to.Least || from.Most > to.Most {
				f.add("width", "%s has %d bits, %s %d", drivers[0], from.Most, p, to.Most)
			}
		}
	}
	for _, c := range names(g.Cells) {
		for _, p := range names(g.Cells[c].Pins) {
			if pin := g.Cells[c].Pins[p]; pin.Dir == "in" && !pin.Optional && g.net(c+"/"+p) == nil {
				f.add("open-input", "%s/%s", c, p)
			}
		}
		for _, b := range names(g.Cells[c].Buses) {
			bus := g.Cells[c].Buses[b]
			if g.peer(c+"/"+b) == "" && !bus.Outside {
				f.add("open-bus", "%s/%s", c, b)
			}
		}
	}
}

// links: from a master to a slave of its kind, one for each, as wide, and with TLAST where that is waited for.
func (g *graph) links(f *found) {
	seen := map[string]bool{}
	for _, l := range g.Links {
		master, slave := g.bus(l[0]), g.bus(l[1])
		monitored := slave.Mode == "monitor"
		for _, end := range l {
			if seen[end] && (!monitored || end == l[1]) {
				f.add("two-links", "%s", end)
			}
			seen[end] = seen[end] || !monitored || end == l[1]
		}
		switch {
		case monitored && master.Kind == slave.Kind && master.Bits == slave.Bits:
		case monitored:
			f.add("width", "%s has %d bits, %s %d", l[0], master.Bits, l[1], slave.Bits)
		case master.Mode != "master" || slave.Mode != "slave":
			f.add("direction", "%s is a %s, %s a %s", l[0], master.Mode, l[1], slave.Mode)
		case master.Kind != slave.Kind:
			f.add("kind", "%s is %s, %s %s", l[0], master.Kind, l[1], slave.Kind)
		case master.Bits != slave.Bits && master.Through+slave.Through == 0:
			f.add("width", "%s has %d bits, %s %d", l[0], master.Bits, l[1], slave.Bits)
		case master.Last < slave.Last:
			f.add("last", "%s waits for TLAST, %s has none", l[1], l[0])
		}
		for _, end := range l {
			if at := path.Dir(end) + "/" + g.bus(end).Clock; g.driver(at) != g.driver(path.Dir(l[0])+"/"+master.Clock) {
				f.add("clock", "%s has the clock %s", end, g.driver(at))
			}
		}
	}
}

// domains checks that there is one clock, and that every reset comes from a proc_sys_reset with this clock.
func (g *graph) domains(f *found) {
	clocks := map[string]bool{}
	for _, c := range names(g.Cells) {
		var clock, reset string
		for _, p := range names(g.Cells[c].Pins) {
			switch pin := g.Cells[c].Pins[p]; {
			case pin.Dir != "in" || pin.Optional:
			case pin.Kind == "clock":
				clock = g.driver(c + "/" + p)
				clocks[clock] = true
			case pin.Kind == "resetn":
				reset = g.driver(c + "/" + p)
			}
		}
		if reset == "" || g.Cells[c].kind() == "proc_sys_reset" {
			continue
		}
		from := path.Dir(reset)
		if g.Cells[from].kind() != "proc_sys_reset" || g.driver(from+"/slowest_sync_clk") != clock {
			f.add("reset", "%s, with the clock %s, has the reset %s", c, clock, reset)
		}
	}
	delete(clocks, "")
	if len(clocks) != 1 {
		f.add("clock", "the domains are %v", names(clocks))
	}
}

// reached is the end of the way from a master through interconnects: all slaves' buses, those of one master at each.
func (g *graph) reached(master string) (list []string) {
	at := g.peer(master)
	c := g.Cells[path.Dir(at)]
	if at == "" || c.Buses[path.Base(at)].Through == 0 {
		return []string{at}
	}
	for _, b := range names(c.Buses) {
		if c.Buses[b].Mode == "master" {
			list = append(list, g.reached(path.Dir(at)+"/"+b)...)
		}
	}
	return list
}

// spaces returns the bus that leads out of each address space, by the name of the space.
func (g *graph) spaces() map[string]string {
	list := map[string]string{}
	for name, c := range g.Cells {
		for b, bus := range c.Buses {
			switch {
			case bus.Space == 1:
				list[name+"/"+b] = name + "/" + b
			case bus.Window != nil:
				list[name+"/"+c.Space] = name + "/" + b
			}
		}
	}
	return list
}

// addresses checks that every mapped slave can be reached. Every slave that can be reached must have aligned addresses
// of its own, in the window of the PS. Bursts must not be longer than their target allows.
func (g *graph) addresses(f *found) {
	spaces := g.spaces()
	for _, space := range names(spaces) {
		master := spaces[space]
		reached, window := g.reached(master), g.bus(master).Window
		var mine []mapped
		for _, m := range g.Maps {
			if m.Space != space {
				continue
			}
			mine = append(mine, m)
			if !slices.Contains(reached, m.Bus) {
				f.add("unreachable", "%s from %s", m.Segment, space)
			}
			if m.Bytes == 0 || m.Bytes&(m.Bytes-1) != 0 || m.Base%m.Bytes != 0 || m.Bytes < 4096 {
				f.add("alignment", "%s: %d bytes from %#x on", m.Segment, m.Bytes, m.Base)
			}
			if window != nil && (m.Base < window[0] || m.Base+m.Bytes > window[0]+window[1]) {
				f.add("window", "%s at %#x is not behind %s", m.Segment, m.Base, master)
			}
		}
		for _, slave := range reached {
			if !slices.ContainsFunc(mine, func(m mapped) bool { return m.Bus == slave }) {
				f.add("no-address", "%s in %s", slave, space)
			}
			if g.bus(master).Space == 1 && g.bus(slave).Bits != g.bus(master).Bits {
				f.add("port-width", "%s has %d bits, %s %d", master, g.bus(master).Bits, slave, g.bus(slave).Bits)
			}
			if beats := g.bus(slave).Beats; beats > 0 && g.bus(master).Beats > beats {
				f.add("burst", "%s makes bursts of %d beats, %s takes %d", master, g.bus(master).Beats, slave, beats)
			}
		}
		slices.SortFunc(mine, func(a, b mapped) int { return strings.Compare(hex(a.Base), hex(b.Base)) })
		for i := 1; i < len(mine); i++ {
			if mine[i-1].Base+mine[i-1].Bytes > mine[i].Base {
				f.add("overlap", "%s and %s in %s", mine[i-1].Segment, mine[i].Segment, space)
			}
		}
	}
	for _, m := range g.Maps {
		if spaces[m.Space] == "" {
			f.add("unreachable", "%s from %s", m.Segment, m.Space)
		}
	}
}

func hex(n uint64) string { return fmt.Sprintf("%016x", n) }

// number is a property of a cell as a number.
func (c cell) number(name string) int {
	n, err := strconv.Atoi(c.Config[name])
	if err != nil {
		return -1
	}
	return n
}
