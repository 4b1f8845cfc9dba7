package folding

import "math"

// game is the best mixture of prices against some foldings: weights, of sum 1, of the shares that the foldings take of
// caps, such that the least weighted share among the foldings, the value, is as large as it can be. Without foldings all
// weights are equal. The result only guides a search; nothing rests on its accuracy.
//
// It is the linear programme max sum(y), sum_j a[r][j] y[j] <= 1, y >= 0 over a[r][j] = share r of folding j, solved by
// the simplex method on the full tableau; the weights are its dual solution, scaled.
func game(found []*folding, caps vector) (weight [kinds]float64, value float64) {
	n := len(found)
	if n == 0 {
		for k := range weight {
			weight[k] = 1.0 / kinds
		}
		return weight, math.Inf(1)
	}
	var a [kinds + 1][]float64 // the last row is the objective; columns: foldings, slacks, right side
	for r := range a {
		a[r] = make([]float64, n+kinds+1)
	}
	for j, f := range found {
		for r := range kinds {
			// The shift by 1 makes every entry positive; it moves the value by 1.
			a[r][j] = 1 + math.Min(shareOf(f.cost[r], caps[r]), 1e6)
		}
		a[kinds][j] = -1
	}
	for r := range kinds {
		a[r][n+r], a[r][n+kinds] = 1, 1
	}
	for range 50 * kinds {
		if !pivot(&a, n) {
			break
		}
	}
	sum := a[kinds][n+kinds]
	if sum <= 0 {
		return game(nil, caps)
	}
	for r := range kinds {
		weight[r] = math.Max(0, a[kinds][n+r]) / sum
	}
	return weight, 1/sum - 1
}

// pivot does one step of the simplex method; it reports false at the optimum. Ties are broken by the lowest index.
func pivot(a *[kinds + 1][]float64, n int) bool {
	right := n + kinds
	column := -1
	for j := range right {
		if v := a[kinds][j]; v < -1e-12 && (column < 0 || v < a[kinds][column]) {
			column = j
		}
	}
	if column < 0 {
		return false
	}
	row := -1
	for r := range kinds {
		if a[r][column] > 1e-12 && (row < 0 || a[r][right]/a[r][column] < a[row][right]/a[row][column]) {
			row = r
		}
	}
	if row < 0 {
		return false
	}
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
