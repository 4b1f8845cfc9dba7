package dataflow

// A Form is one of how the parts of a layer's outputs depend on those of its inputs.
type Form uint8

// The forms. Every frame of an input, and of an output, falls into equal parts that follow each other.
const (
	Mixed     Form = iota // in none of the ways below
	Apart                 // part i of each output is made of part i of each input, and all of them alike
	Moved                 // every element of the outputs is one of the inputs', whatever they are
	Recurrent             // part i of each output is made of parts 0 to i of input 0 and of all of the others
	Along                 // a line of pixels, each a part: an output's pixel is made of some that follow each other
)

func (f Form) String() string { return [...]string{"mixed", "apart", "moved", "recurrent", "along"}[f] }

// A Dependence is how the parts of a layer's outputs depend on those of its inputs: what decides whether frames can
// take turns in it (Turns), and whether they can be of other lengths (Lengths).
type Dependence struct {
	Form Form
	In   []int // parts, by input
	Out  int   // parts of each output
	// Window says that vectors are windows, [positions, channels], though it be of one position.
	Window bool
	// Beside is the layer, not bound, whose frames hold so many frames of this one with their parts side by side. It is
	// nil where that is this layer itself, bound to such frames.
	Beside func(frames int) Op
	Why    string // of what is mixed: a clause whose subject is the layer, for messages
}

// Dependent is implemented by bound layers that can say how their outputs depend on their inputs.
type Dependent interface{ Dependence() Dependence }

// DependenceOf is what a bound layer says; mixed, where it says nothing.
func DependenceOf(op Op) Dependence {
	if d, ok := op.(Dependent); ok {
		return d.Dependence()
	}
	return Dependence{Why: "it computes with several vectors at a time"}
}

// EachApart is the dependence of a layer that computes each of so many parts of its inputs apart from the others.
func EachApart(inputs, parts int) Dependence {
	d := Dependence{Form: Apart, Out: parts}
	for range inputs {
		d.In = append(d.In, parts)
	}
	return d
}

// Shape is that of a frame of samples side by side, each of a shape and in so many parts, as the layer takes it.
func (d Dependence) Shape(t *Turns, one Shape, parts int) Shape {
	switch n := len(one); {
	case d.Form == Along:
		return Shape{parts, t.Samples, one.Channels()}
	case d.Window && n > 1:
		shape, window := Shape{parts, t.Samples}, one[n-2:]
		if windows := one.Size() / window.Size() / parts; windows > 1 {
			shape = append(shape, windows)
		}
		return append(shape, window...)
	}
	return t.Shape(one, parts)
}
