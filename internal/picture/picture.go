// Package picture draws networks: a model as its file has it, with what becomes of every node, or the design in a built
// folder, with its layers and streams. A picture depends on its network alone.
//
// In comes a model or a folder; out comes a file in one of four formats. Page, SVG and PNG have the same coordinates.
//
//	picture.go  a Drawing, and the formats
//	model.go    the network of a model
//	design.go   the network of a built folder
//	dot.go      the text for Graphviz
//	onnx.go     the file for viewers of ONNX
package picture

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/internal/chart"
	pages "hlsgen/templates/report"
)

// A Drawing is what a picture shows.
type Drawing struct {
	Name    string
	Classes []chart.NetworkClass
	Note    string // what labels of streams mean; may be empty
	Nodes   []Node
	Streams []Wire
	Loose   bool // arrows from nodes without a colour may bend
}

// A Node is an operator of a model, a layer of a design, or a port.
type Node struct {
	Name, Op string
	Lines    []string    // what a box shows below the name
	Class    int         // of Drawing.Classes
	Facts    []Attribute // what a file for viewers has beside
	Port     bool        // an input or an output of the whole
}

// An Attribute is a named fact of a node.
type Attribute struct{ Name, Value string }

// A Wire leads from a node to another one, by their indices.
type Wire struct {
	From, To int
	Tensor   string // the ONNX tensor; may be empty
	Label    string
	Shape    []int  // nil if it is not known
	Type     string // of its elements, such as UINT4; may be empty
}

// Formats lists the formats of pictures. Each is the extension of its files.
var Formats = []string{"svg", "png", "dot", "onnx"}

// FormatOf returns the format of a file by its extension. It returns an error with the known ones for others.
func FormatOf(file string) (string, error) {
	f := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	if !slices.Contains(Formats, f) {
		return "", fmt.Errorf("want a file that ends with .%s", strings.Join(Formats, ", ."))
	}
	return f, nil
}

// A TooLargeError says that a picture has more dots than a PNG may have.
type TooLargeError struct{ Boxes int }

// Error returns the message.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the picture of %d boxes is too large for a PNG", e.Boxes)
}

// Encode returns the bytes of a picture in one of Formats. It returns a *TooLargeError for a PNG with too many dots.
func (n *Drawing) Encode(format string) ([]byte, error) {
	switch format {
	case "dot":
		return n.dot(), nil
	case "onnx":
		return n.onnx()
	case "svg":
		return n.Chart().SVG()
	}
	png, err := n.Chart().PNG()
	if png == nil && err == nil {
		err = &TooLargeError{len(n.Nodes)}
	}
	return png, err
}

// short returns a text for a picture, cut after mostText characters.
func short(text string) string {
	const mostText = 60
	if r := []rune(text); len(r) > mostText {
		return string(r[:mostText-1]) + "…"
	}
	return text
}

// Chart returns the boxes and arrows of the network.
func (n *Drawing) Chart() chart.NetworkDrawing {
	c := chart.NetworkDrawing{Title: n.Name, Classes: n.Classes, Note: n.Note}
	for _, node := range n.Nodes {
		c.Boxes = append(c.Boxes, chart.NetworkBox{Title: short(node.Name), Class: node.Class})
		for _, line := range node.Lines {
			c.Boxes[len(c.Boxes)-1].Lines = append(c.Boxes[len(c.Boxes)-1].Lines, short(line))
		}
	}
	for _, s := range n.Streams {
		c.Arrows = append(c.Arrows, chart.NetworkArrow{From: s.From, To: s.To, Label: s.Label,
			Loose: !n.Nodes[s.From].Port && n.Classes[n.Nodes[s.From].Class].Quiet && n.Loose})
	}
	return c
}

// ForPage returns the network as the page of a build has it, at the same coordinates as in other pictures. The drawing
// must be one of OfReports.
func (n *Drawing) ForPage() *pages.NetworkPicture {
	c := n.Chart()
	l := c.Layout()
	made := &pages.NetworkPicture{Width: l.Width, Height: l.Height}
	for i, b := range c.Boxes {
		size, at := b.Size(), l.Boxes[i]
		made.Nodes = append(made.Nodes, pages.PictureNode{Name: b.Title, Lines: b.Lines, Port: n.Nodes[i].Port,
			Added: n.Nodes[i].Class == added, X: at.X, Y: at.Y, Width: size.Width, Height: size.Height})
	}
	for i, a := range c.Arrows {
		arrow := pages.PictureArrow{From: a.From, To: a.To, Label: a.Label, Points: [][2]float64{}}
		for _, p := range l.Arrows[i] {
			arrow.Points = append(arrow.Points, [2]float64{p.X, p.Y})
		}
		made.Arrows = append(made.Arrows, arrow)
	}
	return made
}

// dims returns a shape as text: 1x16x8x8, or scalar.
func dims(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(shape)), "x"), "[]")
}
