package search

import "math"

// game solves the game of prices against solutions. It returns the weights, of sum 1, with which the least weighted
// share of the caps among the solutions is as large as possible; this share is the value. It also returns the best
// mixture of the solutions against these weights. Kinds that cannot exceed their caps have no weight. Without solutions
// the other kinds weigh the same. The result only guides a search, so its accuracy does not matter for correctness.
//
// For example, with caps of 10 and 10, the solutions (4, 12) and (12, 4) take a weighted share of 0.8 each at weights
// of 1/2 and 1/2. At any other weights one of them takes less, so 0.8 is the value.
//
// The game is the linear programme max sum(y), sum_j a[r][j] y[j] <= 1, y >= 0, where a[r][j] is share r of solution j.
// It is solved by the simplex method on the full tableau. y is the mixture and the dual solution gives the weights,
// both scaled.
func (t *parts) game(found []*Solution, caps *Caps) (weight, mixture []float64, value float64) {
	weight = make([]float64, maxAmountKinds+len(t.longest))
	var kinds []int
	for k := range weight {
		if cap, most := t.capOf(k, caps); most > cap || k >= maxAmountKinds && t.longest[k-maxAmountKinds] > caps.Path {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		kinds = []int{0} // every solution is within the caps
	}
	n, m := len(found), len(kinds)
	even := func() ([]float64, []float64, float64) {
		for _, k := range kinds {
			weight[k] = 1 / float64(m)
		}
		return weight, nil, math.Inf(1)
	}
	if n == 0 {
		return even()
	}
	a := make([][]float64, m+1) // the last row is the objective; the columns are solutions, slacks and the right side
	cells := make([]float64, (m+1)*(n+m+1))
	for r := range a {
		a[r] = cells[r*(n+m+1) : (r+1)*(n+m+1)]
	}
	for j, f := range found {
		for r, k := range kinds {
			// The shift by 1 makes every entry positive and moves the value by 1.
			a[r][j] = 1 + math.Max(-0.9, math.Min(shareOf(amount(&f.Cost, f.Paths, k), caps.of(k)), 1e6))
		}
		a[m][j] = -1
	}
	basis := make([]int, m)
	for r := range m {
		a[r][n+r], a[r][n+m] = 1, 1
		basis[r] = n + r
	}
	for range 50 * maxAmountKinds {
		if !pivot(a, basis) {
			break
		}
	}
	sum := a[m][n+m]
	if sum <= 0 {
		return even()
	}
	for r, k := range kinds {
		weight[k] = math.Max(0, a[m][n+r]) / sum
	}
	mixture = make([]float64, n)
	for r, j := range basis {
		if j < n {
			mixture[j] = math.Max(0, a[r][n+m]) / sum
		}
	}
	return weight, mixture, 1/sum - 1
}

// pivot does one step of the simplex method on the tableau a with the given basis. It returns false at the optimum. The
// lowest index breaks ties.
func pivot(a [][]float64, basis []int) bool {
	m := len(basis)
	right := len(a[0]) - 1
	column := -1
	for j := range right {
		if v := a[m][j]; v < -1e-12 && (column < 0 || v < a[m][column]) {
			column = j
		}
	}
	if column < 0 {
		return false
	}
	row := -1
	for r := range m {
		if a[r][column] > 1e-12 && (row < 0 || a[r][right]/a[r][column] < a[row][right]/a[row][column]) {
			row = r
		}
	}
	if row < 0 {
		return false
	}
	basis[row] = column
	p := a[row][column]
	for j := range a[row] {
		a[row][j] /= p
	}
	for r := range a {
		if f := a[r][column]; r != row && f != 0 {
			for j := range a[r] {
				a[r][j] -= f * a[row][j]
			}
		}
	}
	return true
}

// shareOf returns a/b. If b is 0, it returns 2a, so that 0/0 is 0 and any other amount is more than the whole.
func shareOf(a, b int64) float64 {
	if b == 0 {
		a, b = 2*a, 1
	}
	return float64(a) / float64(b)
}
