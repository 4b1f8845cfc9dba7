// Package ask holds what a user asks of a design: a goal (goal.go), the meaning of "least resources" (measure.go), the
// share of a board that a design may take (use.go), the budget that follows (budget.go), the products that one process
// may compute (unroll.go), the format of numbers (number.go), and a way to end a running search (interrupt.go). In come
// flags and a board; out come values that are compared exactly: rationals, and the vectors of package search. It may
// import that and finn, because a folding file is a part of a goal.
package ask
