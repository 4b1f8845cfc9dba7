// Package ask is what a user asks of a design, in the words that it is asked in: a goal (goal.go), what "least" means
// (measure.go), what share of a board may be taken (use.go), which is a budget (budget.go), what one process computes
// at most (unroll.go), and numbers as they are read and written (number.go); and, while it is looked for, an end of the
// search (interrupt.go). In come flags and a board; out come values that are compared exactly: rationals, and the
// vectors of package search. It may import that and finn, what folding files say being a part of a goal.
package ask
