// Package ask holds what a user asks of a design: its goal, its budget, and the limits of the search. In come flags and
// a board; out come values that are compared exactly: rationals, and the vectors of package search. It may import that
// and finn, because a folding file is a part of a goal.
//
//	goal.go       the goal of a design
//	measure.go    the meaning of "least resources"
//	use.go        the share of a board that a design may take
//	budget.go     the budget that follows from that share
//	unroll.go     the most products that one process may compute
//	number.go     the format of numbers
//	interrupt.go  a way to end a running search
package ask
