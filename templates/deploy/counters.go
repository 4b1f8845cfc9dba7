package deploy

import (
	"encoding/json"
	"fmt"
	"strconv"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// A SimulatedCountersFile is the contents of host/counters.json. It has the counts that the accelerator's counters
// reach in a simulation, and its streams in the order of the counters.
type SimulatedCountersFile struct {
	Frames  int                 `json:"frames"` // number of simulated frames, one directly after the other
	Clocks  int                 `json:"clocks"`
	Streams []StreamStallCounts `json:"streams"`
}

// A StreamStallCounts is a stream with the layers at its ends. Stalled are the clocks in which its writer waited for
// room, Starved those in which its reader waited for a word.
type StreamStallCounts struct {
	Name    string `json:"name"`
	From    string `json:"from"` // the layer that writes it, or "host"
	To      string `json:"to"`
	Stalled int    `json:"stalled"`
	Starved int    `json:"starved"`
}

// A countersView holds what counters.hpp.tpl needs: a SimulatedCountersFile as text, and the address of the counters.
type countersView struct {
	Frames, Clocks, Offset string
	Streams                []struct{ Name, From, To, Stalled, Starved string }
}

// GenerateCounterFiles returns the files that a design with counters has in addition. It sets the names and ends of the
// streams in the caller's c.Streams. It returns an error if the design has no counters, or c counts another number of
// streams.
func GenerateCounterFiles(d *dataflow.Design, c SimulatedCountersFile) (templates.ProjectFiles, error) {
	window, ok := templates.RegisterMapOf(d).FindWindow(templates.CountersWindowName)
	if !ok || len(c.Streams) != len(d.Model.Graph.Streams) {
		return nil, fmt.Errorf("%d streams of %d are counted, by %t counters", len(c.Streams),
			len(d.Model.Graph.Streams), ok)
	}
	v := countersView{Frames: strconv.Itoa(c.Frames), Clocks: strconv.Itoa(c.Clocks),
		Offset: strconv.Itoa(window.Offset)}
	g := d.Model.Graph
	for s := range c.Streams {
		n := &c.Streams[s]
		n.Name, n.From, n.To = fmt.Sprint("s", s), "host", "host"
		if w, _ := g.WriterOfStream(s); w >= 0 {
			n.From = g.Nodes[w].Name
		}
		if r, _ := g.ReaderOfStream(s); r >= 0 {
			n.To = g.Nodes[r].Name
		}
		v.Streams = append(v.Streams, struct{ Name, From, To, Stalled, Starved string }{n.Name, n.From, n.To,
			strconv.Itoa(n.Stalled), strconv.Itoa(n.Starved)})
	}
	table, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, err
	}
	python, err := sources.ReadFile("counters.py")
	if err != nil {
		return nil, err
	}
	header, err := templates.RenderTemplate(sources, "counters.hpp.tpl", v)
	return templates.ProjectFiles{{Path: "deploy/counters.py", Data: python}, {Path: "deploy/counters.hpp",
		Data: header},
		{Path: "deploy/host/counters.json", Data: append(table, '\n')}}, err
}
