package build

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// embedded builds the embedded example for the icebreaker in a folder.
func embedded(out string) (*Result, error) {
	var d diag.List
	o := Options{Hardware: options.Hardware{Board: "icebreaker", Backend: options.BackendRTL},
		Goal: options.Goal{FPS: 1000}, Verification: options.Verification{Verify: 6, NoCSim: true},
		OutputFolder: options.OutputFolder{Out: out}}
	r, err := Run(context.Background(), o, &d)
	if err == nil && r == nil {
		err = fmt.Errorf("%v", d.Diags)
	}
	return r, err
}

// icebreaker builds the embedded example for that board, once for all tests, and returns its files.
var icebreaker = sync.OnceValues(func() (p struct {
	result *Result
	files  fstest.MapFS
}, err error) {
	dir, err := os.MkdirTemp("", "hlsgen-icebreaker-*")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	if p.result, err = embedded(out); err != nil {
		return p, err
	}
	p.files = fstest.MapFS{}
	return p, filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(out, path)
		p.files[filepath.ToSlash(name)] = &fstest.MapFile{Data: data, Mode: 0o666}
		return err
	})
})

// onIcebreaker returns the embedded example for that board, and the folder of its Makefile in a copy of its files.
func onIcebreaker(t *testing.T) (*Result, string) {
	t.Helper()
	p, err := icebreaker()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, p.files); err != nil {
		t.Fatal(err)
	}
	return p.result, filepath.Join(dir, "rtl")
}

// TestUART has the project's Python script talk to the UART top in Verilator: with nothing lost, with bytes lost on
// their way, and with resets in the middle of frames (uart/simulate.py). Every result is the recorded one. The
// long tier has another speed.
func TestUART(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "make", "python3", "verilator", "clang++")
	_, dir := onIcebreaker(t)
	if said := maketest.Make(t, dir, "lint"); said != "" {
		t.Errorf("make lint: %s", said)
	}
	speeds := []string{"1000000"} // the one with fewer clocks for each bit
	if tier.Long() {
		speeds = append(speeds, "115200")
	}
	for _, baud := range speeds {
		// 6 frames, 15 of which a byte is lost or changed, 9 after half a message, 3 after half a result, 1 after noise
		said := maketest.Make(t, dir, "uart", "BAUD="+baud, "OPT=-O1", maketest.OneUnit, "CXX=clang++")
		if !strings.Contains(said, "PASS 34 frames over the UART, 22 resets") {
			t.Errorf("at %s baud: %s", baud, said)
		}
	}
}

// TestOtherClock has Verilator read the UART top of a design whose clock a PLL makes, for a board of each kind.
func TestOtherClock(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "make", "verilator")
	for board, mhz := range map[string]float64{"icebreaker": 24, "ulx3s-85f": 50, "arty-a7-35": 50} {
		t.Run(board, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			model := models.Find(t, "iris-mlp-w3a3").Path("model.onnx")
			r := placedBuild(t, Options{Source: options.Source{Model: model},
				Hardware:     options.Hardware{Board: board, Backend: options.BackendRTL, ClockMHz: mhz},
				Goal:         options.Goal{Interval: 2000},
				Verification: options.Verification{Verify: 1, NoCSim: true},
				OutputFolder: options.OutputFolder{Out: out}})
			if got := r.Design.Target.ClockMHz; got < .99*mhz || got > 1.01*mhz {
				t.Errorf("%g MHz, want %g", got, mhz)
			}
			if said := maketest.Make(t, filepath.Join(out, "rtl"), "lint"); said != "" {
				t.Errorf("make lint: %s", said)
			}
		})
	}
}

// TestBitstream goes through Yosys, nextpnr and icepack, with the embedded example: it reaches the board's clock, takes
// as many block RAMs as it is priced at with the UART, and as many logic cells within a tenth.
func TestBitstream(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "make", "yosys", "nextpnr-ice40", "icepack")
	r, dir := onIcebreaker(t)
	said := maketest.Make(t, dir, "bitstream")
	info, err := os.Stat(filepath.Join(dir, "build", "digits_mlp_w2a2_top_uart.bin"))
	if err != nil || info.Size() < 100_000 {
		t.Errorf("the bitstream: %v, %v", info, err)
	}
	mhz := maketest.Figure(t, said, `Max frequency for clock .*: ([0-9.]+) MHz`)
	if mhz < r.Design.Target.ClockMHz {
		t.Errorf("%g MHz, want %g", mhz, r.Design.Target.ClockMHz)
	}
	blocks := int(maketest.Figure(t, said, `ICESTORM_RAM: +(\d+)/`))
	if blocks != r.Design.Estimate.Total.BRAM {
		t.Errorf("%d block RAMs, priced at %d", blocks, r.Design.Estimate.Total.BRAM)
	}
	cells := int(maketest.Figure(t, said, `ICESTORM_LC: +(\d+)/`))
	if want := r.Design.Estimate.Total.LUT; cells < want*9/10 || cells > want*11/10 {
		t.Errorf("%d logic cells, priced at %d", cells, want)
	}
	all, err := os.ReadFile(filepath.Join(dir, "build", "cells.txt"))
	if err != nil {
		t.Fatal(err)
	}
	luts := int(maketest.Figure(t, string(all), `SB_LUT4 +(\d+)`))
	have := r.Design.Target.Board
	for page, want := range map[string]string{
		"uart": fmt.Sprintf("takes %s of %s logic cells and %d of %d block RAMs of the iCEBreaker. The UART\nand its "+
			"frame are included. It reaches %.0f MHz", thousands(cells), thousands(have.LUT), blocks, have.BRAM, mhz),
		"rtl": fmt.Sprintf("%s of %s logic cells (%s LUTs), %d of %d block RAMs, no DSP; nextpnr reaches %.1f MHz",
			thousands(cells), thousands(have.LUT), thousands(luts), blocks, have.BRAM, mhz),
		"boards": fmt.Sprintf("the estimate is %s cells and %d block RAMs; nextpnr makes %s\nand %d of it",
			thousands(r.Design.Estimate.Total.LUT), blocks, thousands(cells), blocks),
	} {
		text, err := os.ReadFile("../../docs/" + page + ".md")
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("docs/%s.md does not say: %s (%v)", page, want, err)
		}
	}
}
