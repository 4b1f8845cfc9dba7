package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const hostile = `"><script>alert('1')</script><img src=x onerror=alert(2)>javascript:alert(3)//{{.Model}}&amp;` +
	"\x00\u202e"

// fill puts a text wherever a page has one, and numbers wherever it has a number.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(1234)
	case reflect.Float64:
		v.SetFloat(12.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	default:
		panic("a page has a field of kind " + v.Kind().String())
	}
}

// TestEscaped checks that every text in a page stays text, wherever it stands. The page has the same elements as with
// harmless texts, and none that loads or runs anything.
func TestEscaped(t *testing.T) {
	t.Parallel()
	elements := func(text string) (names []string, shown int) {
		var p Page
		fill(reflect.ValueOf(&p).Elem(), text)
		p.Timeline.Clocks, p.Timeline.Bin = 40, 10
		for i := range p.Layers {
			p.Layers[i].Into, p.Layers[i].From = []int{0}, []int{1, 2}
		}
		for i := range p.Network.Arrows {
			p.Network.Arrows[i].From, p.Network.Arrows[i].To = 0, 1
		}
		six := []int{1, 2, 3, 4, 5, 6}
		p.WhatIf = &WhatIf{Resources: []string{text, text, text, text, text, text}, Budget: six, Device: six, Host: six,
			FIFOs: six, Memories: []string{text}, Computes: []string{text}, Steps: []string{text},
			Layers: []WhatIfLayer{{Name: text, Folds: [][]int{make([]int, 12)}}}}
		for _, row := range p.Timeline.Rows {
			copy(row.Runs, [][5]int{{1, 10, 0, 0, 0}, {2, 3, 3, 4, 1}, {1, 0, 1, 1, 2}})
		}
		b, err := RenderHTML(&p)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(bytes.ToLower(b), []byte("<script")); n != 2 {
			t.Errorf("%d scripts, want the data and the page's own", n)
		}
		b = bytes.Replace(b, []byte(script), nil, 1)
		d := xml.NewDecoder(bytes.NewReader(bytes.ToValidUTF8(bytes.ReplaceAll(b, []byte{0}, nil), nil)))
		d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
		for {
			token, err := d.Token()
			if err == io.EOF {
				return names, shown
			}
			if err != nil {
				t.Fatal(err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				name := token.Name.Local
				for _, a := range token.Attr {
					name += " " + a.Name.Local
					if a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") || a.Name.Local == "style" &&
						strings.Contains(a.Value, "alert") {
						t.Errorf("%s %s=%q", token.Name.Local, a.Name.Local, a.Value)
					}
					if a.Name.Local == "src" || strings.HasPrefix(a.Name.Local, "on") {
						t.Errorf("%s has %s", token.Name.Local, a.Name.Local)
					}
				}
				if slices.Contains([]string{"img", "iframe", "object", "embed", "link", "base", "form"},
					token.Name.Local) {
					t.Errorf("there is a %s", token.Name.Local)
				}
				names = append(names, name)
			case xml.CharData:
				shown += strings.Count(string(token), "alert(2)") + strings.Count(string(token), "harmless")
			}
		}
	}
	// as long, since long texts are cut or written small
	want, texts := elements(strings.Repeat(".", len(hostile)) + "harmless")
	got, hostiles := elements(hostile)
	if !slices.Equal(got, want) || hostiles != texts || texts < 100 {
		t.Errorf("%d elements and %d texts, want %d and %d", len(got), hostiles, len(want), texts)
	}
}

// TestSmall checks a page with nothing in it, and inputs that are no page.
func TestSmall(t *testing.T) {
	t.Parallel()
	b, err := RenderHTML(&Page{Model: "net", Board: "zcu104"})
	if err != nil || !bytes.Contains(b, []byte("<title>net on zcu104</title>")) || bytes.Contains(b, []byte("<svg ")) {
		t.Errorf("%v, %s", err, b)
	}
	if _, err := RenderHTML(&Page{}); err == nil {
		t.Error("a page of nothing")
	}
}

// TestParse reads data of pages, and refuses others.
func TestParse(t *testing.T) {
	t.Parallel()
	const ok = `{"version":2,"model":"m","board":"b","timeline":{"clocks":20,"frames":1,"clocks_in_a_column":10,` +
		`"rows":[{"name":"x","runs":[[2,10,0,0,0]]}]}}`
	if _, err := ParsePage([]byte(ok), 2); err != nil {
		t.Error(err)
	}
	for _, change := range [][2]string{{`"version":2`, `"version":3`}, {`"m"`, `""`}, {`"m"`, `1`}, {`}}`, `}`},
		{`_column":10`, `_column":0`}, {`[[2,10`, `[[3,10`}, {`[[2,10`, `[[0,10`}, {`[[2,10`, `[[2,11`},
		{`[[2,10`, `[[2,-1`}, {`"clocks":20`, `"clocks":1e9`}, {`"frames":1`, `"frames":0`}} {
		if _, err := ParsePage([]byte(strings.Replace(ok, change[0], change[1], 1)), 2); !errors.Is(err, ErrNoPage) {
			t.Errorf("%s for %s: %v", change[1], change[0], err)
		}
	}
}

func TestResource(t *testing.T) {
	t.Parallel()
	type shown struct {
		percent float64
		over    bool
	}
	for r, want := range map[ResourceUse]shown{
		{Used: 50, Budget: 80, Board: 200}:  {25, false},
		{Used: 300, Budget: 80, Board: 200}: {100, true},
		{}:                                  {0, false},
	} {
		if got := (shown{r.Percent(r.Used), r.Over()}); got != want {
			t.Errorf("%+v: %+v, want %+v", r, got, want)
		}
	}
}
