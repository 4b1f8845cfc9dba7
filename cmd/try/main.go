package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
	"context"
)

func main() {
	for _, p := range os.Args[1:] {
		b, _ := os.ReadFile(p)
		var d diag.List
		t := time.Now()
		im, err := frontend.Import(filepath.Base(p), b, frontend.Options{}, &d)
		fmt.Println(p, time.Since(t), err)
		d.Write(os.Stdout)
		if im == nil || im.Model == nil {
			continue
		}
		for _, n := range im.Model.Graph.Nodes {
			fmt.Println(n.Name, n.Origin, im.Model.Graph.Streams[n.In[0]].Type.Shape, im.Model.Graph.Streams[n.In[0]].Type.Elem, "->", im.Model.Graph.Streams[n.Out[0]].Type.Elem)
			if a, ok := n.Op.(dataflow.Accumulating); ok {
				x := a.Accumulator()
				fmt.Println("   ", x.DataType, x.L1, x.ZeroCentred, x.Exact, x.Used, x.Type)
			}
		}
		fmt.Println(im.Model.Prefix.Nodes, im.Model.Suffix.Nodes, im.Model.In, im.Model.Out)
		dir := filepath.Dir(p)
		f := dir + "/inputs.npy"
		if _, err := os.Stat(f); err != nil { f = dir + "/x0.npy" }
		xs, err := npy.ReadFile(f)
		if err != nil { fmt.Println(err); continue }
		x := xs[""]
		in := im.Model.In[0]
		n := 1
		for _, s := range in.Shape { n *= s }
		bad := 0
		t = time.Now()
		var tr, te time.Duration
		for i := 0; i < len(x.Data)/n; i++ {
			rt := []dataflow.RealTensor{{Shape: in.Shape, Data: x.Data[i*n : (i+1)*n]}}
			t0 := time.Now()
			ref, err := im.Model.Reference(rt)
			if err != nil { fmt.Println("ref", err); break }
			tr += time.Since(t0); t0 = time.Now()
			codes, err := im.Model.Prefix.ToCodes(rt)
			if err != nil { fmt.Println("pre", err); break }
			st, _ := im.Model.Graph.Eval(context.Background(), codes)
			var outs []dataflow.Tensor
			for _, s := range im.Model.Graph.Out { outs = append(outs, st[s]) }
			y, err := im.Model.Suffix.ToReal(rt, outs)
			if err != nil { fmt.Println("suf", err); break }
			te += time.Since(t0)
			for k := range y[0].Data {
				if y[0].Data[k] != ref[0].Data[k] { bad++; if bad < 3 { fmt.Println(i, k, y[0].Data[k], ref[0].Data[k]) }; break }
			}
		}
		fmt.Println("samples", len(x.Data)/n, "bad", bad, "ref", tr, "eval", te)
	}
}
