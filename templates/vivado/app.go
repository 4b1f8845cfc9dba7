package vivado

import (
	"fmt"
	"strconv"
	"strings"
)

// An appView holds what the templates of an app for a Kria module need: the system, and its registers in the device
// tree.
type appView struct {
	*System
	Nodes []node
	AFI   []setting // registers of the ports between PS and logic: number and value
}

// A node is a device in the overlay of the device tree: a mover, or the registers of the accelerator.
type node struct {
	Name, At, Bytes string // its address without 0x, and the bytes of its registers
	Interrupt       string // number among the shared peripheral interrupts; empty if it has none
}

// sharedInterrupts has the number that the first interrupt of each input of the PS has among the shared peripheral
// interrupts of the GIC (UG1085, interrupt tables: pl_ps_irq0 is 121 to 128, pl_ps_irq1 136 to 143, and these begin at
// 32).
var sharedInterrupts = []int{121 - 32, 136 - 32}

// app returns the app of a block design for a module whose stock Linux loads apps by xmutil.
func (v blockView) app() appView {
	a := appView{System: v.System}
	interrupts := map[string]string{}
	for _, w := range v.Wires {
		if name, ok := strings.CutSuffix(w.From, "/interrupt"); ok {
			var input, at int
			if n, _ := fmt.Sscanf(w.To[0], "interrupts_%d/In%d", &input, &at); n == 2 {
				interrupts[name] = strconv.Itoa(sharedInterrupts[input] + at)
			}
		}
	}
	for _, w := range v.RegisterAddressMap() {
		a.Nodes = append(a.Nodes, node{w.Name, fmt.Sprintf("%x", w.Base), fmt.Sprintf("0x%x", w.Bytes),
			interrupts[w.Name]})
	}
	// Two registers for each port into the PS, reads and writes: 0 for 128 bits, 1 for 64, 2 for 32. The ports
	// S_AXI_HP0_FPD to HP3_FPD are the third to the sixth (UG1085, PS-PL AXI interfaces; AMD's apps for Kria).
	width := map[int]string{128: "0", 64: "1", 32: "2"}[v.Board.HostPortBits]
	for port := range 7 {
		value := "0"
		if port >= 2 && port < 6 {
			value = width
		}
		for way := range 2 {
			a.AFI = append(a.AFI, setting{strconv.Itoa(2*port + way), value})
		}
	}
	// The ports out of the PS have 128 bits, as after a reset.
	a.AFI = append(a.AFI, setting{"14", "0xa00"}, setting{"15", "0x0"})
	return a
}
