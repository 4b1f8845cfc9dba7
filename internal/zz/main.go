package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

func main() {
	// zz board use goal models...
	board, use, goal := os.Args[1], os.Args[2], os.Args[3]
	if p := os.Getenv("PROF"); p != "" {
		f, _ := os.Create(p)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	for _, name := range os.Args[4:] {
		path := "/work/shared/models/" + name + "/model.onnx"
		data, err := os.ReadFile(path)
		if err != nil {
			fmt.Println(err)
			continue
		}
		var d diag.List
		im, err := frontend.Import(filepath.Base(path), data, frontend.Options{}, &d)
		if err != nil || d.Failed() || im.Model == nil {
			fmt.Println(name, "import", err, d.Diags)
			continue
		}
		b, err := boards.Find(board)
		if err != nil {
			panic(err)
		}
		t := dataflow.Target{Board: b, ClockMHz: b.ClockMHz}
		g := folding.Goal{}
		if use != "-" {
			if g.MaxUse, err = folding.ParseMaxUse(use); err != nil {
				panic(err)
			}
		}
		for _, f := range strings.Split(goal, ",") {
			k, v, _ := strings.Cut(f, "=")
			switch k {
			case "fps":
				fmt.Sscan(v, &g.FPS)
			case "interval":
				fmt.Sscan(v, &g.Interval)
			case "latency":
				g.Latency = true
			case "least":
				g.Least, _ = folding.ParseMeasure(v)
			case "stream":
				t.IO = dataflow.FromStream
			case "over":
				g.OverBudget = true
			}
		}
		begin := time.Now()
		var dd diag.List
		r, err := folding.Make(context.Background(), im.Model, t, g, &dd)
		took := time.Since(begin).Round(time.Millisecond)
		if err != nil {
			fmt.Println(name, "ERR", err)
			continue
		}
		if r == nil {
			fmt.Println(name, took, "NONE")
			for _, x := range dd.Diags {
				fmt.Println("   ", x.Msg, "|", x.Hint, "|", x.Notes)
			}
			continue
		}
		fmt.Printf("%s %v interval %v latency %d fps %v over %v proved %v designs %d\n", name, took, r.Clocks.Interval, r.Clocks.Latency, r.FPS(), r.Over, r.Certificate.Proved(), r.Certificate.Designs)
		for _, s := range r.Shares {
			fmt.Printf("   %s %d/%d", s.Name, s.Used, s.Budget)
		}
		fmt.Println()
		for _, l := range r.Certificate.Lines() {
			fmt.Println("   ", l)
		}
		deep := 0
		for _, f := range r.FIFO {
			if f.Depth > 2 {
				deep++
			}
		}
		fmt.Println("    bottleneck", r.Bottleneck, "deep", deep, "of", len(r.FIFO))
	}
}
