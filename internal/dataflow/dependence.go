package dataflow

// A DependenceForm says in which way the parts of a layer's outputs depend on the parts of its inputs.
type DependenceForm uint8

// The ways to depend on inputs. Every frame of an input, and of an output, divides into equal consecutive parts.
const (
	DependenceFormMixed DependenceForm = iota // none of the following
	// part i of each output depends only on part i of each input, by the same function for all i
	DependenceFormSeparate
	DependenceFormCopy // every element of the outputs is a copy of an element of the inputs
	// part i of each output depends only on parts 0 to i of input 0 and on all of the other inputs
	DependenceFormRecurrent
	DependenceFormWindow // each part is a pixel of a line; an output pixel depends only on some consecutive pixels
)

// String returns a word for the form, such as "recurrent".
func (f DependenceForm) String() string {
	return [...]string{"mixed", "apart", "moved", "recurrent", "along"}[f]
}

// A Dependence says how the parts of a layer's outputs depend on the parts of its inputs. It decides whether frames of
// several samples can take turns in the layer, and whether sequences can have other lengths.
type Dependence struct {
	Form DependenceForm
	In   []int // the number of parts, per input
	Out  int   // the number of parts of each output
	// Window reports that vectors are windows, [positions, channels], even if of one position.
	Window bool
	// Beside returns the layer, not bound, for frames that hold the given number of this layer's frames with their
	// parts side by side. A nil Beside means that this layer itself can be bound to such frames.
	Beside func(frames int) Op
	Why    string // for DependenceFormMixed: the reason, a clause whose subject is the layer, for messages
}

// DependenceOf returns the dependence of a bound layer, of the form DependenceFormMixed if the layer does not describe
// it.
func DependenceOf(op Op) Dependence {
	if of := op.Describe().Dependence; of != nil {
		return of()
	}
	return Dependence{Why: "it computes with several vectors at a time"}
}

// NewSeparateDependence returns the dependence of a layer that computes each part of a frame separately. It has the
// given inputs, each of which, and each output, divides into that many parts.
func NewSeparateDependence(inputs, parts int) Dependence {
	d := Dependence{Form: DependenceFormSeparate, Out: parts}
	for range inputs {
		d.In = append(d.In, parts)
	}
	return d
}

// InterleavedShape returns the shape that the layer takes for a frame of several samples side by side, each of shape
// one in the given number of parts.
func (d Dependence) InterleavedShape(t *SampleInterleaving, one Shape, parts int) Shape {
	switch n := len(one); {
	case d.Form == DependenceFormWindow:
		return Shape{parts, t.Samples, one.ChannelCount()}
	case d.Window && n > 1:
		shape, window := Shape{parts, t.Samples}, one[n-2:]
		if windows := one.ElementCount() / window.ElementCount() / parts; windows > 1 {
			shape = append(shape, windows)
		}
		return append(shape, window...)
	}
	return t.FrameShape(one, parts)
}
