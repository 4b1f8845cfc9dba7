// Package unmapped provides the reasons why a step has no layer. All stages of lowering use them.
//
// In come a code of diag and a message; out come errors.
package unmapped

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// A Reason is the error for a step that has no layer, with a hint.
type Reason struct {
	Code      diag.Code
	Msg, Hint string

	cause error
}

func (r *Reason) Error() string { return r.Msg }

// Unwrap returns the underlying error, if there is one.
func (r *Reason) Unwrap() error { return r.cause }

// NewReason returns a *Reason with a message, a hint and the general code diag.NotMapped.
func NewReason(msg, hint string) error { return ReasonWithCode(diag.NotMapped, msg, hint) }

// ReasonWithCode returns a *Reason with a code, a message and a hint.
func ReasonWithCode(code diag.Code, msg, hint string) error {
	return &Reason{Code: code, Msg: msg, Hint: hint}
}

// WrapReason returns a *Reason with a code, a message and a hint, which unwraps to cause.
func WrapReason(cause error, code diag.Code, msg, hint string) error {
	return &Reason{code, msg, hint, cause}
}

// EmptyTensorReason returns the *Reason for a step that reads or writes a tensor without elements.
func EmptyTensorReason() error {
	return NewReason("a tensor without elements", "remove the empty part of the model")
}

// NodeText returns a node's operator and its quoted name, for use in a message: Conv "/features.3/Conv".
func NodeText(n *graph.Node) string { return fmt.Sprintf("%s %q", n.FullOp(), n.Label()) }
