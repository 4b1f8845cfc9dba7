// Package unmapped provides the errors that say why no hardware layer computes a step of a program. All stages of
// lowering use them.
//
// In come a code of diag and a message; out come errors.
package unmapped

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// A Reason is the error for a step of a program that no hardware layer computes. Its hint tells the user what to
// change.
type Reason struct {
	Code      diag.Code
	Msg, Hint string

	cause error
}

func (r *Reason) Error() string { return r.Msg }

// Unwrap returns the underlying error, or nil if there is none.
func (r *Reason) Unwrap() error { return r.cause }

// NewReason returns a *Reason with a message, a hint and the general code diag.NodeNotMapped.
func NewReason(msg, hint string) error { return NewReasonWithCode(diag.NodeNotMapped, msg, hint) }

// NewReasonWithCode returns a *Reason with a code, a message and a hint.
func NewReasonWithCode(code diag.Code, msg, hint string) error {
	return &Reason{Code: code, Msg: msg, Hint: hint}
}

// NewReasonWithCause returns a *Reason with a code, a message and a hint, whose Unwrap returns cause.
func NewReasonWithCause(cause error, code diag.Code, msg, hint string) error {
	return &Reason{code, msg, hint, cause}
}

// NewEmptyTensorReason returns the *Reason for a step without a layer because it reads or writes a tensor without
// elements.
func NewEmptyTensorReason() error {
	return NewReason("a tensor without elements", "remove the empty part of the model")
}

// DescribeNode returns a node's operator and its quoted label, for use in a message: Conv "/features.3/Conv".
func DescribeNode(n *graph.Node) string { return fmt.Sprintf("%s %q", n.QualifiedOpName(), n.Label()) }
