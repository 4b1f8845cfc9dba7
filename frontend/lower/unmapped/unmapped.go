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

// NewReason returns a reason without a specific code.
func NewReason(msg, hint string) error { return ReasonWithCode(diag.NotMapped, msg, hint) }

// ReasonWithCode returns a reason with a code.
func ReasonWithCode(code diag.Code, msg, hint string) error {
	return &Reason{Code: code, Msg: msg, Hint: hint}
}

// WrapReason returns a reason with an underlying error.
func WrapReason(cause error, code diag.Code, msg, hint string) error {
	return &Reason{code, msg, hint, cause}
}

// EmptyTensorReason returns the reason for a tensor without elements.
func EmptyTensorReason() error {
	return NewReason("a tensor without elements", "remove the empty part of the model")
}

// NodeText names a node for use in a message.
func NodeText(n *graph.Node) string { return fmt.Sprintf("%s %q", n.FullOp(), n.Label()) }
