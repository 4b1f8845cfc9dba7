package dataflow_test

import (
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/layertest"
)

const diamondText = `input s0 "x" [2,4] [0,255] UINT8
node Scale_0 Scale (s0) -> (s1 "a") from ["/Scale"] {"by":-3,"ways":1}
node Fork_0 Fork (s1) -> (s2 "a",s3 "a") from ["/Fork"] {"by":0,"ways":2}
node Scale_1 Scale (s2) -> (s4 "left \"path\"") from ["/Scale"] {"by":2,"ways":1}
node Scale_2 Scale (s3) -> (s5 "right") from ["/Scale"] {"by":5,"ways":1}
node Sum_0 Sum (s4,s5) -> (s6 "y") from ["/Sum"] {"by":0,"ways":2}
output s6
`

func TestFormat(t *testing.T) {
	t.Parallel()
	if text := dataflow.Diamond().String(); text != diamondText {
		t.Errorf("text\n%s", text)
	}
}

func TestParseDerivesTypes(t *testing.T) {
	t.Parallel()
	g, err := layertest.Parse(diamondText, dataflow.FakeKinds)
	if err != nil {
		t.Fatal(err)
	}
	want := dataflow.Diamond()
	for s := range want.Streams {
		a, b := g.Streams[s], want.Streams[s]
		if a.Name != b.Name || a.Type.Elem != b.Type.Elem || a.Type.UnionOfRanges() != b.Type.UnionOfRanges() {
			t.Errorf("stream s%d is %q %v %v, want %q %v %v", s, a.Name, a.Type.Elem, a.Type.UnionOfRanges(), b.Name,
				b.Type.Elem, b.Type.UnionOfRanges())
		}
	}
}

func TestTextRoundTrip(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		diamondText,
		"",
		"input s0 \"\" [] [-1,1] BIPOLAR\nnode Scale_0 Scale (s0) -> (s1 \"\") from [] " +
			"{\"by\":1,\"ways\":1}\noutput s1\n",
		"input s0 \"\\xff\\n\\u2028ü\" [3] [0,1],[0,0],[2,3] UINT2\nnode Scale_0 Scale (s0) -> (s1 \"<&>\") from " +
			"[\"a,b\",\"]\"] {\"by\":1,\"ways\":1}\noutput s1\n",
		"input s3 \"b\" [2] [0,3] UINT2\ninput s0 \"a\" [2] [0,3] UINT2\nnode Sum_0 Sum (s0,s3) -> (s1 \"\") from " +
			"[] {\"by\":0,\"ways\":2}\n" +
			"node Fork_0 Fork (s1) -> (s4 \"\",s2 \"\") from [] {\"by\":0,\"ways\":2}\noutput s4\noutput s2\n",
	} {
		g, err := layertest.Parse(text, dataflow.FakeKinds)
		if err != nil {
			t.Errorf("%v in\n%s", err, text)
			continue
		}
		if got := g.String(); got != text {
			t.Errorf("got\n%swant\n%s", got, text)
		}
	}
}

func TestParseTakesCommentsAndBlanks(t *testing.T) {
	t.Parallel()
	loose := "# a comment\n\n" + strings.NewReplacer("(s4,s5)", "( s4 , s5 )", "[2,4]", "[ 2, 4 ]", `"ways":2}`,
		`"ways": 2 } `).Replace(diamondText)
	g, err := layertest.Parse(strings.TrimSuffix(loose, "\n"), dataflow.FakeKinds)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.String(); got != diamondText {
		t.Errorf("got\n%s", got)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	const in = "input s0 \"x\" [4] [0,255] UINT8\n"
	const node = "node Scale_0 Scale (s0) -> (s1 \"\") from [] {\"by\":1,\"ways\":1}\n"
	for _, c := range []struct{ text, want string }{
		{"inputs s0", `line 1: "inputs" where input, node or output is due`},
		{"\n\ninput", `line 3: "" where "s" is due`},
		{"input s-1 \"x\" [4] [0,255] UINT8", "a stream number is due"},
		{"input s99999999999999999999", "an integer is due"},
		{"input s0 x [4] [0,255] UINT8", `"x [4] [0,255] UINT8" where a quoted name is due`},
		{`input s0 "x`, "a quoted name is due"},
		{"input s0 \"x\" [4 4] [0,255] UINT8", `"4] [0,255] UINT8" where "," is due`},
		{"input s0 \"x\" [,4] [0,255] UINT8", "an integer is due"},
		{"input s0 \"x\" [4] UINT8", `where "[" is due`},
		{"input s0 \"x\" [4] [0,255],[0,255] UINT8", "line 1: stream s0: 2 ranges for 4 channels"},
		{"input s0 \"x\" [4] [0,256] UINT8", "UINT8 does not hold [0,256]"},
		{"input s0 \"x\" [4] [0,255] UINT08", "unknown data type"},
		{"input s0 \"x\" [4] [0,255] UINT8 x", `"x" where the end of the line is due`},
		{"input s0 \"x\" [1000000,1000000,1000000,1000000] [0,255] UINT8", "more than 1073741824 elements"},
		{in + in, "line 2: stream s0 is written twice"},
		{in + "node Scale_1 Scale (s0) -> (s1 \"\") from [] {\"by\":1,\"ways\":1}\noutput s1",
			`a node is called "Scale_1" where Scale_0 is due`},
		{in + "node MVAU_0 MVAU (s0) -> (s1 \"\") from [] {}", `line 2: no layer kind "MVAU"`},
		{in + "node Scale_0 Scale (s7) -> (s1 \"\") from [] {\"ways\":1}",
			"line 2: stream s7 is read before it is written"},
		{in + "node Scale_0 Scale (s0) -> (s1 \"\") from []", "line 2: Scale_0: parameters: unexpected end of JSON"},
		{in + "node Scale_0 Scale (s0) -> (s1 \"\") from [] {\"ways\":9}", "Scale_0: parameters: 9 ways"},
		{in + "node Scale_0 Scale (s0) -> (s1 \"\",s2 \"\") from [] {\"ways\":1}", "Scale_0 has 1 outputs, the line 2"},
		{in + "node Scale_0 Scale (s0) -> (s1 \"\") from [] {\"ways\":1,\"by\":99999999999999999}",
			"line 2: Scale_0: channel 0: the product leaves 64 bits"},
		{in + node + "output s0", "line 3: stream s0 is read twice"},
		{in + node + "output s1\noutput s1", "line 4: stream s1 is read twice"},
		{in + node, "stream s1 has 1 writers and 0 readers"},
		{in + "output s0", "stream s0 is an input and an output"},
		{strings.ReplaceAll(in+node, "s1", "s2") + "output s2", "2 streams, but one is s2"},
	} {
		_, err := layertest.Parse(c.text, dataflow.FakeKinds)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q, of\n%s", err, c.want, c.text)
		}
	}
}

// TestParseBoundsRanges checks the limit of ranges per channel, the only thing that a short text can make a layer have
// many of.
func TestParseBoundsRanges(t *testing.T) {
	t.Parallel()
	text := "input s0 \"x\" [4194304] [0,1] BINARY\nnode Wide_0 Wide (s0) -> (s1 \"\") from [] {}\nnode Wide_1 Wide " +
		"(s1) -> (s2 \"\") from [] {}\noutput s2\n"
	_, err := layertest.Parse(text, []dataflow.LayerKind{dataflow.WideKind})
	if err == nil || !strings.Contains(err.Error(), "line 2: more than 4194304 ranges of channels") {
		t.Errorf("error %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(diamondText)
	f.Add("input s0 \"\\xff\" [3] [0,1],[0,0],[2,3] UINT2\nnode Scale_0 Scale (s0) -> (s1 \"<&>\") from [\"a\"] " +
		"{\"by\":1,\"ways\":1}\noutput s1\n")
	f.Add("# nothing\ninput s1 \"\" [] [-1,1] BIPOLAR\nnode Fork_0 Fork (s1) -> (s0 \"\",s2 \"\") from [] " +
		"{\"ways\":2}\noutput s2\noutput s0")
	f.Add("input s0 \"\" [1000000000000,1000000000000] [0,1],[0,1] INT64")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := layertest.Parse(text, dataflow.FakeKinds)
		if err != nil {
			return
		}
		once := g.String()
		again, err := layertest.Parse(once, dataflow.FakeKinds)
		if err != nil {
			t.Fatalf("%v in\n%s", err, once)
		}
		if twice := again.String(); twice != once {
			t.Fatalf("got\n%swant\n%s", twice, once)
		}
	})
}
