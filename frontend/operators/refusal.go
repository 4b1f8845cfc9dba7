package operators

import (
	"fmt"

	"hlsgen/internal/diag"
)

// A reject says why a node is not supported. Definitions, and the functions that they call, panic with it: refuse and
// the functions named after its kinds do not return. Only refusal recovers it.
type reject struct {
	code      diag.Code
	msg, hint string
	cause     string // a cause that nodes may share, to report them in one diagnostic; "" for none
}

func refuse(code diag.Code, hint, format string, args ...any) {
	panic(&reject{code, fmt.Sprintf(format, args...), hint, ""})
}

// contradiction is the hint for nodes that are invalid.
const contradiction = "the node contradicts the ONNX definition of its operator: check the exporter"

func invalid(format string, args ...any) { refuse(diag.OpInvalid, contradiction, format, args...) }

func tooLarge(hint, format string, args ...any) { refuse(diag.ModelTooLarge, hint, format, args...) }

func unsupported(hint, format string, args ...any) { refuse(diag.OpUnsupported, hint, format, args...) }

// refusal calls f and returns the reject with which f panics, or nil if f returns.
func refusal(f func()) (r *reject) {
	defer func() {
		if v := recover(); v != nil {
			var ok bool
			if r, ok = v.(*reject); !ok {
				panic(v)
			}
		}
	}()
	f()
	return nil
}

// reported is the refusal of a node whose errors were reported already.
var reported = &reject{}
