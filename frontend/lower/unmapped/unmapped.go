// Package unmapped says why a step has no layer. Every stage of lowering answers in these words.
package unmapped

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// A Reason says why a step has no layer, and what to do. Nil is none: the step has one.
type Reason struct {
	Code      diag.Code
	Msg, Hint string
	Cause     error // what else went wrong; may be nil
}

// Because is a reason that has no code of its own.
func Because(msg, hint string) *Reason { return &Reason{Code: diag.NotMapped, Msg: msg, Hint: hint} }

// As is a reason with a code.
func As(code diag.Code, msg, hint string) *Reason { return &Reason{Code: code, Msg: msg, Hint: hint} }

// Empty is the reason of a tensor without elements.
func Empty() *Reason {
	return Because("a tensor without elements", "remove the empty part of the model")
}

// Describe names a node within a message.
func Describe(n *graph.Node) string { return fmt.Sprintf("%s %q", n.FullOp(), n.Label()) }
