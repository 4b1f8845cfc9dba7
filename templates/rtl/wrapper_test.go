package rtl_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// driver runs orders. It resets, sends words, and reports the words that come and the state of the flag.
const driver = `
#include <cstdio>
#include <string>
#include "Vchecked.h"
#include "verilated.h"

int main(int, char** argv) {
    VerilatedContext context;
    Vchecked model(&context);
    const auto half = [&](bool high) { model.ap_clk = high; model.eval(); };
    const auto clock = [&] {
        half(false);
        if (model.ap_rst_n && model.m_axis_0_TVALID)
            printf("%02x%s ", model.m_axis_0_TDATA, model.m_axis_0_TLAST ? "." : "");
        half(true);
    };
    model.m_axis_0_TREADY = 1;
    model.s_axis_0_TKEEP = model.s_axis_0_TSTRB = 1;
    char order[16];
    FILE* orders = fopen(argv[1], "r");
    while (orders && fscanf(orders, "%15s", order) == 1) {
        const std::string what = order;
        if (what == "reset") {
            model.ap_rst_n = 0, clock(), model.ap_rst_n = 1;
        } else if (what == "wait") {
            for (int i = 0; i < 200; i++) clock();
            printf("error=%d\n", model.error);
        } else { // a word, with a dot behind the last one
            model.s_axis_0_TVALID = 1;
            model.s_axis_0_TDATA = std::stoul(what, nullptr, 16);
            model.s_axis_0_TLAST = what.back() == '.';
            for (bool moved = false; !moved; clock()) half(false), moved = model.s_axis_0_TREADY;
            model.s_axis_0_TVALID = 0;
        }
    }
}
`

// built is a program that drives the top of a design that looks at packets.
func built(t *testing.T, n *rtl.Network) string {
	t.Helper()
	dir := t.TempDir()
	files := slices.Concat(rtl.LibraryModuleFiles(), n.Files)
	if err := files.WriteBelow(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rtl/driver.cpp"), []byte(driver), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		c := exec.Command("verilator", args...)
		c.Dir = filepath.Join(dir, "rtl")
		if out, err := c.CombinedOutput(); err != nil || args[0] == "--lint-only" && len(out) > 0 {
			t.Fatalf("verilator %s: %v\n%s", args[0], err, out)
		}
	}
	sources := append(rtl.ListSourcePaths(files, false), n.Top+"_checked.v")
	run(append([]string{"--lint-only", "-Wall", "--top-module", n.Top + "_checked"}, sources...)...)
	run(slices.Concat(rtl.VerilatorFlags(), []string{"--cc", "--exe", "--build", "--prefix", "Vchecked", "--top-module",
		n.Top + "_checked", "--Mdir", "obj", "-o", "driver", "-MAKEFLAGS", strings.Join(maketest.Soon, " "),
		"driver.cpp"}, sources)...)
	return filepath.Join(dir, "rtl/obj/driver")
}

// words returns the words of a frame on a stream in hexadecimal, the last word with a dot appended.
func words(t *testing.T, d *dataflow.Design, stream int, frame []dataflow.Tensor) []string {
	t.Helper()
	p := d.PortOfStream(stream)
	p.Words = len(frame[stream].Data) / p.PerWord
	text, err := templates.FormatRecording(p, frame[stream:stream+1])
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Fields(string(text))
	list[len(list)-1] += "."
	return list
}

// short makes a packet that ends the given number of words early, long one that ends late.
func short(list []string, by int) []string {
	list = slices.Clone(list[:len(list)-by])
	list[len(list)-1] += "."
	return list
}

func long(list []string, by int) []string {
	list = slices.Clone(list)
	list[len(list)-1] = strings.TrimSuffix(list[len(list)-1], ".")
	return append(append(list, slices.Repeat([]string{"7"}, by-1)...), "7.")
}

// TestChecked sends packets that are too short or too long. The flag must rise and stay until a reset, after which
// everything is right again. Other packets must not raise it.
func TestChecked(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "verilator", "clang++", "make")
	for _, sequences := range []bool{false, true} {
		t.Run(fmt.Sprintf("sequences=%v", sequences), func(t *testing.T) {
			t.Parallel()
			d := turning(t, sequences)
			n, err := rtl.New(d, templates.Options{})
			if err != nil {
				t.Fatal(err)
			}
			program := built(t, n)
			g := d.Model.Graph
			r := rand.New(rand.NewPCG(5, 6))
			var orders, want []string
			right := func(steps int) {
				f := frame(t, d, r, steps)
				orders = append(orders, append(words(t, d, g.In[0], f), "wait")...)
				want = append(want, strings.Join(words(t, d, g.Out[0], f), " ")+" error=0")
			}
			wrong := func(packet []string) {
				orders = append(append(orders, packet...), "wait", "reset", "wait")
				want = append(want, "* error=1", "error=0")
			}
			orders = append(orders, "reset")
			for _, steps := range []int{3, 1, 2, 3} {
				right(steps)
			}
			packet := frame(t, d, r, 3)
			whole := words(t, d, g.In[0], packet)
			for _, packet := range [][]string{short(whole, 1), long(whole, 1), short(whole, 5), long(whole, 7)} {
				wrong(packet)
				right(2)
				right(3)
			}
			orders, want = append(append(orders, whole...), "reset", "wait"), append(want, "* error=0")
			right(3)       // of what was on its way, nothing comes
			if sequences { // of which the next one is not touched, where TLAST came at all
				f := frame(t, d, r, 2)
				orders = slices.Concat(orders, short(whole, 3), long(whole, 3), words(t, d, g.In[0], f))
				orders = append(orders, "wait")
				filled := carried(t, d, append(slices.Clone(packet[g.In[0]].Data[:6]), 0, 0))
				want = append(want, strings.Join(slices.Concat(words(t, d, g.Out[0], filled),
					words(t, d, g.Out[0], packet), words(t, d, g.Out[0], f)), " ")+" error=1")
			}
			file := filepath.Join(t.TempDir(), "orders")
			if err := os.WriteFile(file, []byte(strings.Join(orders, "\n")), 0o666); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(program, file)
			c.Dir = filepath.Dir(filepath.Dir(program)) // where the tables are
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := strings.Split(strings.TrimSpace(string(out)), "\n")
			if len(got) != len(want) {
				t.Fatalf("%d answers, want %d:\n%s", len(got), len(want), out)
			}
			for i, line := range got {
				words, flag, _ := strings.Cut(" "+line, " error=")
				wanted, raised, _ := strings.Cut(" "+want[i], " error=")
				if flag != raised || words != wanted && wanted != " *" { // whatever came
					t.Errorf("answer %d is %s, want %s", i, line, want[i])
				}
			}
		})
	}
}
