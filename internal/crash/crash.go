// Package crash turns panics into errors. A panic is always a defect of hlsgen.
package crash

import (
	"fmt"
	"runtime/debug"
)

// Catch, when deferred, converts a panic to an *Internal error. A panic is always a defect of hlsgen.
func Catch(err *error) {
	if p := recover(); p != nil {
		*err = &InternalError{fmt.Sprint(p), string(debug.Stack())}
	}
}

// An InternalError error reports a defect of hlsgen: a panic's message and stack.
type InternalError struct{ Msg, Stack string }

func (e *InternalError) Error() string { return "internal error: " + e.Msg }
