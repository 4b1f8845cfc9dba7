// Package unmapped says why a step has no layer. Every stage of lowering answers in these words.
//
// In come a code of diag and what to say; out come errors. It sees graph and diag.
package unmapped

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// A Reason is the error of a step that has no layer, and what to do.
type Reason struct {
	Code      diag.Code
	Msg, Hint string

	cause error
}

func (r *Reason) Error() string { return r.Msg }

// Unwrap is the error behind the reason, if there is one.
func (r *Reason) Unwrap() error { return r.cause }

// Because is a reason that has no code of its own.
func Because(msg, hint string) error { return As(diag.NotMapped, msg, hint) }

// As is a reason with a code.
func As(code diag.Code, msg, hint string) error { return &Reason{Code: code, Msg: msg, Hint: hint} }

// By is a reason with an error behind it.
func By(cause error, code diag.Code, msg, hint string) error { return &Reason{code, msg, hint, cause} }

// Empty is the reason of a tensor without elements.
func Empty() error { return Because("a tensor without elements", "remove the empty part of the model") }

// Describe names a node within a message.
func Describe(n *graph.Node) string { return fmt.Sprintf("%s %q", n.FullOp(), n.Label()) }
