package dataflow

// Iterations is the number of iterations per frame: the interval in clocks of a layer whose ends never stall.
func (l Loop) Iterations() int {
	n := 1
	for _, t := range l.Trips {
		n *= t
	}
	return n
}

// Moves reports whether iteration i of a frame moves a word by a.
func (l Loop) Moves(a Access, i int) bool {
	for k := len(l.Trips) - 1; k >= 0; k-- {
		n := l.Trips[k]
		j := i % n
		i /= n
		switch a[k].Kind {
		case First:
			if j != 0 {
				return false
			}
		case Last:
			if j != n-1 {
				return false
			}
		case At:
			if a[k].Pattern[j] != '1' {
				return false
			}
		case Each:
		default:
			panic("dataflow: invalid index set")
		}
	}
	return true
}

// Words is the number of words per frame that a moves.
func (l Loop) Words(a Access) int {
	n := 1
	for k, t := range l.Trips {
		switch a[k].Kind {
		case Each:
			n *= t
		case At:
			m := 0
			for _, c := range a[k].Pattern {
				if c == '1' {
					m++
				}
			}
			n *= m
		}
	}
	return n
}

// FirstWrite and LastWrite are the clocks, counted from the start of the frame's first iteration, at which the first
// and the last word by a arrive, when nothing stalls.
func (l Loop) FirstWrite(a Access) int { return l.edge(a, true) + l.Latency }

// LastWrite is described at FirstWrite.
func (l Loop) LastWrite(a Access) int { return l.edge(a, false) + l.Latency }

func (l Loop) edge(a Access, first bool) int {
	i := 0
	for k, n := range l.Trips {
		j := 0
		switch {
		case a[k].Kind == Last, a[k].Kind == Each && !first:
			j = n - 1
		case a[k].Kind == At:
			for m := range n {
				if a[k].Pattern[m] == '1' {
					j = m
					if first {
						break
					}
				}
			}
		}
		i = i*n + j
	}
	return i
}
