package templates

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/dataflow"
)

// outcome returns the result that the output of a test bench tells. exit is the error with which it ended, or nil.
func outcome(stdout, stderr string, exit error) *CSimResult {
	o := &CSimResult{Words: map[string][]string{}, Log: stdout + stderr}
	running, last := "", ""
	for line := range strings.Lines(stdout) {
		line = strings.TrimRight(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimLeft(rest, " ")
		switch {
		case word == "run":
			running = rest
		case running != "" && word == "ok":
			o.Verdicts, running = append(o.Verdicts, LayerVerdict{Name: rest, OK: true}), ""
		case running != "" && word == "FAIL":
			o.Verdicts = append(o.Verdicts, LayerVerdict{Name: running, Message: strings.TrimPrefix(rest,
				running+": ")})
			running = ""
		}
		last = line
	}
	o.Passed = exit == nil && strings.HasPrefix(last, "PASS ")
	if !o.Passed {
		message, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
		switch {
		case running != "":
			o.Verdicts = append(o.Verdicts, LayerVerdict{Name: running,
				Message: cmp.Or(message, fmt.Sprintf("the program ended: %v", exit))})
		case !slices.ContainsFunc(o.Verdicts, func(v LayerVerdict) bool { return !v.OK }):
			o.Verdicts = append(o.Verdicts, LayerVerdict{Name: "test bench",
				Message: cmp.Or(message, strings.TrimPrefix(last, "FAIL "))})
		}
	}
	return o
}

// OutputTensors returns the frames that the network computed in the simulation, by frame and output of the graph. It
// returns an error if it wrote other numbers of words.
func (o *CSimResult) OutputTensors(d *dataflow.Design, opt Options) ([][]dataflow.Tensor, error) {
	face, err := IPInterfaceOf(d, opt)
	if err != nil {
		return nil, err
	}
	var frames [][]dataflow.Tensor
	for k, p := range face.Out {
		words := o.Words[p.Name]
		if opt.Steps != nil {
			if frames == nil {
				frames = make([][]dataflow.Tensor, len(opt.Steps))
			}
			if err := o.sequences(d, p, opt.Steps, frames); err != nil {
				return nil, err
			}
			continue
		}
		if len(words)%p.Port.Words != 0 || (k > 0 && len(words)/p.Port.Words != len(frames)) {
			return nil, fmt.Errorf("simulate C++: %s gave %d words, a frame has %d", p.Name, len(words), p.Port.Words)
		}
		if k == 0 {
			frames = make([][]dataflow.Tensor, len(words)/p.Port.Words)
		}
		for f := range frames {
			sent, err := p.elements(words[f*p.Port.Words : (f+1)*p.Port.Words])
			if err != nil {
				return nil, err
			}
			frames[f] = append(frames[f], p.Port.FromStreamOrder(d.Model.Graph.Streams[p.Stream].Type.Shape, sent))
		}
	}
	return frames, nil
}

// elements returns the elements of the words, in hexadecimal, that a port wrote, or an error for a malformed word.
func (p AXIStreamPort) elements(words []string) ([]int64, error) {
	sent := make([]int64, len(words)*p.Port.PerWord)
	for w, text := range words {
		b, err := parseHex(text, p.Port.Width())
		if err != nil {
			return nil, fmt.Errorf("simulate C++: %s: %w", p.Name, err)
		}
		unpack(b, p.Port.Elem, sent[w*p.Port.PerWord:(w+1)*p.Port.PerWord])
	}
	return sent, nil
}

// sequences appends the output of the port p to frames, of which steps has the numbers of time steps.
func (o *CSimResult) sequences(d *dataflow.Design, p AXIStreamPort, steps []int, frames [][]dataflow.Tensor) error {
	words := o.Words[p.Name]
	for f, n := range steps {
		at, err := d.AtSequenceLength(n)
		if err != nil {
			return err
		}
		port := at.PortOfStream(p.Stream)
		if len(words) < port.Words {
			return fmt.Errorf("simulate C++: %s gave no more than %d words of frame %d, which has %d", p.Name,
				len(words), f, port.Words)
		}
		sent, err := p.elements(words[:port.Words])
		if err != nil {
			return err
		}
		frames[f] = append(frames[f], port.FromStreamOrder(at.Model.Graph.Streams[p.Stream].Type.Shape, sent))
		words = words[port.Words:]
	}
	if len(words) > 0 {
		return fmt.Errorf("simulate C++: %s gave %d words too many", p.Name, len(words))
	}
	return nil
}
