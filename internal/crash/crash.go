// Package crash turns panics into errors. A panic is always a defect of hlsgen.
package crash

import (
	"fmt"
	"runtime/debug"
)

// RecoverPanicIntoError recovers a panic and stores it in *err as an *InternalError, which replaces any other error.
// Without a panic it leaves *err unchanged. It works only in a function that defers it directly. A panic is always a
// defect of hlsgen.
func RecoverPanicIntoError(err *error) {
	if p := recover(); p != nil {
		*err = &InternalError{fmt.Sprint(p), string(debug.Stack())}
	}
}

// An InternalError reports a defect of hlsgen: the message and the stack of a panic.
type InternalError struct{ Msg, Stack string }

// Error returns "internal error: " and the panic's message, without the stack.
func (e *InternalError) Error() string { return "internal error: " + e.Msg }
