package rtlsim

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// readVCD returns the values of all variables at each rising edge of design.clk. Keys consist of the variable's
// scopes and its name.
func readVCD(text string) (values []map[string]int, err error) {
	names, now := map[string]string{}, map[string]int{}
	var scopes []string
	lines := strings.Split(strings.TrimSpace(text), "\n")
	rising := false
	sample := func() {
		if rising {
			at := map[string]int{}
			for id, name := range names {
				at[name] = now[id]
			}
			values = append(values, at)
		}
		rising = false
	}
	last := -1
	for _, line := range lines {
		f := strings.Fields(line)
		switch {
		case f[0] == "$scope":
			scopes = append(scopes, f[2])
		case f[0] == "$upscope":
			scopes = scopes[:len(scopes)-1]
		case f[0] == "$var":
			name := strings.Join(append(slices.Clone(scopes), f[4]), ".")
			if _, ok := names[f[3]]; ok || f[1] != "wire" {
				return nil, fmt.Errorf("variable %q twice", f[3])
			}
			names[f[3]] = name
		case strings.HasPrefix(line, "$"):
		case line[0] == '#':
			t, err := strconv.Atoi(line[1:])
			if err != nil || t <= last {
				return nil, fmt.Errorf("time %q after %d", line, last)
			}
			last = t
			sample()
		default:
			value, id := line[:1], line[1:]
			if line[0] == 'b' {
				value, id = f[0][1:], f[1]
			}
			n, err := strconv.ParseInt(value, 2, 64)
			if err != nil || names[id] == "" {
				return nil, fmt.Errorf("change %q", line)
			}
			now[id] = int(n)
			rising = rising || names[id] == "design.clk" && n == 1
		}
	}
	if len(scopes) > 0 {
		return nil, errors.New("open scopes")
	}
	return values, nil
}

// activities parses a SAIF with one instance: by net, the picoseconds at 0 and at 1, and the toggles.
func activities(t *testing.T, text string) (of map[string][3]int, duration int) {
	t.Helper()
	of = map[string][3]int{}
	if strings.Count(text, "(") != strings.Count(text, ")") {
		t.Fatalf("open brackets in\n%s", text)
	}
	for line := range strings.Lines(text) {
		var a [3]int
		name, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "("), " ")
		if n, _ := fmt.Sscanf(rest, "(T0 %d) (T1 %d) (TX 0) (TC %d) (IG 0))", &a[0], &a[1], &a[2]); n == 3 {
			of[name] = a
		}
		fmt.Sscanf(line, "(DURATION %d)", &duration)
	}
	return of, duration
}

// TestWriteSAIF checks that the activity of every stream is that of the dump of the same run: toggles, and the time at
// 0 and at 1.
func TestWriteSAIF(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	toggled := false
	for seed := range uint64(20) {
		d, _ := randomNet(t, seed, 11)
		d.Target.ClockMHz = 150
		trace, err := RunFrames(t.Context(), d, nil, Options{Frames: 6, Record: true, Out: HostSlowdown{Stall: 20,
			Seed: seed}})
		if err != nil {
			continue
		}
		var dump, saif bytes.Buffer
		if err := errors.Join(WriteVCD(&dump, d, trace, nil), WriteSAIF(&saif, d, trace,
			SAIFInstance{[]string{"top", "network"}, "s%d_valid", "s%d_room"})); err != nil {
			t.Fatal(err)
		}
		clocks, err := readVCD(dump.String())
		if err != nil {
			t.Fatal(err)
		}
		got, duration := activities(t, saif.String())
		const period = 6666 // of 150 MHz, in picoseconds, as the dump has it
		if duration != period*len(clocks) || len(got) != 2*len(trace.Record.Streams) {
			t.Errorf("seed %d: %d ps, %d nets", seed, duration, len(got))
		}
		for s := range trace.Record.Streams {
			for in, out := range map[string]string{"valid": "s%d_valid", "ready": "s%d_room"} {
				name := fmt.Sprintf("design.s%d_%s.%s", s, plainName(d.Model.Graph.Streams[s].Name), in)
				var want [3]int
				for c, at := range clocks {
					want[at[name]] += period
					if c > 0 && at[name] != clocks[c-1][name] {
						want[2]++
					}
				}
				toggled = toggled || want[2] > 1
				if got[fmt.Sprintf(out, s)] != want {
					t.Errorf("seed %d: %s is %v, the dump has %v", seed, name, got[fmt.Sprintf(out, s)], want)
				}
			}
		}
	}
	if !toggled {
		t.Error("no stream toggled")
	}
	if err := WriteSAIF(&bytes.Buffer{}, nil, &RunTrace{}, SAIFInstance{}); !errors.Is(err, errNoRecord) {
		t.Error(err)
	}
}

// TestWriteVCD checks that the dump agrees with the counts of the trace, and with the meaning of valid and ready.
func TestWriteVCD(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for seed := range uint64(40) {
		d, _ := randomNet(t, seed, 11)
		d.Target.ClockMHz = 150
		for _, s := range d.Model.Graph.Streams {
			s.Name = "a b$end;<x>"
		}
		trace, err := RunFrames(t.Context(), d, nil, Options{Frames: 6, Record: true, Out: HostSlowdown{Stall: 20,
			Seed: seed}})
		if err != nil {
			continue
		}
		var text, again bytes.Buffer
		if err := errors.Join(WriteVCD(&text, d, trace, nil), WriteVCD(&again, d, trace, nil)); err != nil ||
			!bytes.Equal(text.Bytes(), again.Bytes()) {
			t.Fatalf("error %v, or two runs differ", err)
		}
		clocks, err := readVCD(text.String())
		if err != nil || len(clocks) != trace.Cycles {
			t.Fatalf("%d clocks, want %d: %v", len(clocks), trace.Cycles, err)
		}
		for i, n := range trace.Nodes {
			got := NodeStateClocks{Name: n.Name}
			for _, at := range clocks {
				got.Busy += at["design."+n.Name+".busy"]
				got.Starved += at["design."+n.Name+".starved"]
				got.Blocked += at["design."+n.Name+".blocked"]
			}
			if got != n {
				t.Errorf("seed %d, node %d: %+v, want %+v", seed, i, got, n)
			}
		}
		for s, m := range trace.Record.Streams {
			high, scope := 0, fmt.Sprintf("design.s%d_a_b_end__x_.", s)
			for c, at := range clocks {
				words := at[scope+"words"]
				if high = max(high, m.taken(c)); slices.Contains(m.Written, c) {
					high = max(high, m.taken(c)+1)
				}
				if at[scope+"valid"] != min(words, 1) || slices.Contains(m.Read, c) && words == 0 ||
					slices.Contains(m.Written, c) && at[scope+"ready"] == 0 {
					t.Fatalf("seed %d, s%d, clock %d: %v", seed, s, c, at)
				}
			}
			if high != trace.High[s] {
				t.Errorf("seed %d, s%d: %d places, want %d", seed, s, high, trace.High[s])
			}
		}
	}
}

// TestRecordOfLayers checks that layers have the same record if nothing else is recorded, although frames that
// repeat are then not run. The recorded first frames of a run equal a run of only these frames.
func TestRecordOfLayers(t *testing.T) {
	t.Parallel()
	skipped := 0
	for seed := range uint64(200) {
		d, rng := randomNet(t, seed, 12)
		opt := Options{Frames: 1 + rng.IntN(40), In: HostSlowdown{Every: rng.IntN(4)},
			Out: HostSlowdown{Every: rng.IntN(4)}}
		all := opt
		opt.Layers, all.Record = opt.Frames, true
		got, err := RunFrames(t.Context(), d, nil, opt)
		if err != nil {
			continue // TestRandomNetworks has deadlocks
		}
		want := run(t, d, nil, all)
		if got.Record.Streams != nil || !reflect.DeepEqual(got.Record.Layers, want.Record.Layers) {
			t.Fatalf("seed %d: %v, of a whole record %v\n%s", seed, got.Record.Layers, want.Record.Layers,
				d.Model.Graph)
		}
		some := opt
		some.Layers = 1 + rng.IntN(opt.Frames)
		head := run(t, d, nil, some).TraceOfFirstFrames(some.Layers)
		all.Frames = some.Layers
		if first := run(t, d, nil, all); head.Cycles != first.Cycles || !reflect.DeepEqual(head.Frames, first.Frames) ||
			!slices.EqualFunc(head.Record.Layers, first.Record.Layers, sameSpans) {
			t.Fatalf("seed %d, %d frames: %+v, in a run of these %+v", seed, some.Layers, head, first)
		}
		if short := run(t, d, nil, some).TraceOfFirstFrames(some.Layers + 1); short != nil {
			t.Fatalf("seed %d: a record of %d frames shows one more", seed, some.Layers)
		}
		got.Record, want.Record = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %+v, with a whole record %+v", seed, got, want)
		}
		if p := got.Period.Frames; p > 0 && p < len(got.Frames)/4 {
			skipped++
		}
	}
	if skipped < 50 {
		t.Errorf("%d runs repeat: the networks test too little", skipped)
	}
}

func sameSpans(a, b StateSpans) bool {
	return slices.Equal(slices.Collect(a.AllSpans()), slices.Collect(b.AllSpans()))
}

// TestWriteVCDWords checks that the reader of every stream finds the words of the frames, in order, in the clocks in
// which it reads.
func TestWriteVCDWords(t *testing.T) {
	t.Parallel()
	words := 0
	for seed := range uint64(20) {
		d, rng := randomNet(t, seed, 11)
		frames := make([][]dataflow.Tensor, 4)
		for f := range frames {
			for _, s := range d.Model.Graph.Streams {
				tensor := dataflow.Tensor{Shape: s.Type.Shape, Data: make([]int64, s.Type.Shape.ElementCount())}
				r := s.Type.Elem.Range()
				for i := range tensor.Data {
					tensor.Data[i] = r.Lo + rng.Int64N(r.Hi-r.Lo+1)
				}
				frames[f] = append(frames[f], tensor)
			}
		}
		trace, err := RunFrames(t.Context(), d, nil, Options{Frames: len(frames), Record: true,
			Out: HostSlowdown{Stall: 20, Seed: seed}})
		if err != nil {
			continue
		}
		var text bytes.Buffer
		if err := WriteVCD(&text, d, trace, frames); err != nil {
			t.Fatal(err)
		}
		found := dataAt(t, text.String(), trace)
		for s := range trace.Record.Streams {
			port := d.PortOfStream(s)
			var want []string
			for _, frame := range frames {
				for word := range slices.Chunk(port.ToStreamOrder(frame[s]), port.PerWord) {
					want = append(want, digits(port.Elem, word))
				}
			}
			want = want[:len(trace.Record.Streams[s].Read)]
			if !slices.Equal(found[s], want) {
				t.Errorf("seed %d, s%d: %v, want %v", seed, s, found[s], want)
			}
			words += len(want)
		}
	}
	if words < 1000 {
		t.Errorf("%d words were read", words)
	}
}

// dataAt returns the words in the variables data of a dump, by stream, in the clocks in which each is read.
func dataAt(t *testing.T, text string, trace *RunTrace) [][]string {
	t.Helper()
	of := map[string]int{} // the stream of a variable
	stream, clock := -1, -1
	now := make([]string, len(trace.Record.Streams))
	at := make([]map[int]string, len(now)) // the words by clock
	for s := range at {
		at[s] = map[int]string{}
	}
	note := func() {
		for s, m := range trace.Record.Streams {
			if slices.Contains(m.Read, clock) {
				at[s][clock] = now[s]
			}
		}
	}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case f[0] == "$scope":
			if stream = -1; strings.HasPrefix(f[2], "s") {
				fmt.Sscanf(f[2], "s%d_", &stream)
			}
		case f[0] == "$var" && f[4] == "data":
			of[f[3]] = stream
		case f[0][0] == '1' && len(f) == 1 && len(of) > 0 && f[0][1:] == "!":
			if clock >= 0 {
				note()
			}
			clock++
		case f[0][0] == 'b':
			if s, ok := of[f[1]]; ok {
				now[s] = f[0][1:]
			}
		}
	}
	note()
	found := make([][]string, len(now))
	for s, m := range trace.Record.Streams {
		for _, c := range m.Read {
			found[s] = append(found[s], at[s][c])
		}
	}
	return found
}

// TestWriteTimelineJSON checks that the spans of a trace are those of the record, layer by layer.
func TestWriteTimelineJSON(t *testing.T) {
	t.Parallel()
	spans := 0
	for seed := range uint64(10) {
		d, _ := randomNet(t, seed, 11)
		d.Target.ClockMHz = 200
		trace, err := RunFrames(t.Context(), d, nil, Options{Frames: 5, Record: true})
		if err != nil {
			continue
		}
		var text bytes.Buffer
		if err := WriteTimelineJSON(&text, d, trace); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Events []timelineEvent `json:"traceEvents"`
		}
		if err := json.Unmarshal(text.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		for i := range trace.Record.Layers {
			name := ""
			var list []StateSpan
			for _, e := range got.Events {
				if e.Row != i+1 {
					continue
				}
				if e.Phase == "M" {
					name = e.Facts["name"].(string)
					continue
				}
				from, to := int(e.Facts["from_clock"].(float64)), int(e.Facts["to_clock"].(float64))
				state := slices.IndexFunc([]LayerState{StateBusy, StateStarved, StateBlocked},
					func(s LayerState) bool { return s.String() == e.Name })
				list = append(list, StateSpan{LayerState(state), from, to})
				if e.Begin != float64(from)/200 || e.Length != float64(to-from)/200 {
					t.Errorf("clocks %d to %d begin at %v for %v us", from, to, e.Begin, e.Length)
				}
			}
			want := slices.Collect(trace.Record.Layers[i].AllSpans())
			if name != d.Model.Graph.Nodes[i].Name || !slices.Equal(list, want) {
				t.Errorf("seed %d, %q: %v, want %v", seed, name, list, want)
			}
			spans += len(want)
		}
	}
	if spans < 100 {
		t.Errorf("%d spans", spans)
	}
	if err := WriteTimelineJSON(&bytes.Buffer{}, nil, &RunTrace{}); !errors.Is(err, errNoRecord) {
		t.Error(err)
	}
}

func TestWriteTimeline(t *testing.T) {
	t.Parallel()
	n := &net{t: t, perWord: 1}
	d := n.design(2, n.add(`A<&">`, matrix(4, 3, 5, 2), n.add("Pass", pass(20, 1, 1, 1), n.input(20))[0])...)
	trace := run(t, d, nil, Options{Frames: 20, Record: true})
	if trace.Period.Frames == 0 || trace.Record.Layers[1].last.To != 20*60+1 {
		t.Errorf("%+v, %v", trace.Period, trace.Record.Layers[1])
	}
	var text bytes.Buffer
	if err := WriteTimelineSVG(&text, d, trace); err != nil {
		t.Fatal(err)
	}
	width, texts := map[string]float64{}, []string{}
	for dec := xml.NewDecoder(&text); ; {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			at := map[string]string{}
			for _, a := range token.Attr {
				at[a.Name.Local] = a.Value
			}
			w, _ := strconv.ParseFloat(at["width"], 64)
			h, _ := strconv.ParseFloat(at["height"], 64)
			width[at["fill"]] += w * h
		case xml.CharData:
			texts = append(texts, string(token))
		}
	}
	if !slices.Contains(texts, `A<&">_0`) {
		t.Errorf("names %q", texts)
	}
	// The pass waits for room in two clocks of three. The product never waits.
	if green, red := width[stateColours[StateBusy]], width[stateColours[StateBlocked]]; green < 1.25*red ||
		red < .45*green {
		t.Errorf("%v", width)
	}
	trace.Record = nil
	err := errors.Join(WriteTimelineSVG(&text, d, trace), WriteVCD(&text, d, trace, nil))
	if !errors.Is(err, errNoRecord) {
		t.Errorf("error %v", err)
	}
}
