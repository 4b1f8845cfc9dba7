package adders

import (
	"container/heap"
	"math/bits"
	"slices"

	"hlsgen/internal/num"
)

// A weighting says what it is worth to compute a pair once that occurs so many times.
type weighting func(b *builder, p Sum, times int) int

// byOverlap counts the bits that the operands have in common.
func byOverlap(b *builder, p Sum, times int) int {
	x, y := widthOf(b.ranges[p.A]), widthOf(b.ranges[p.B])+p.Shift
	return times * max(0, min(x, y)-p.Shift)
}

// bySaving counts the bits of the adders that go.
func bySaving(b *builder, p Sum, times int) int { return (times - 1) * b.bitsOf(p) }

// A row is an output that is still a sum of several terms.
type row struct {
	terms []Term
	room  int // 2^levels that are allowed, less 2^level of each term
}

// A sharer replaces pairs of terms that occur several times by one term.
type sharer struct {
	*builder
	rows   []row
	holds  [][]int32         // per signal: the rows that have, or had, a term of it
	found  map[pairKey]int32 // per pair that may be worth something: how often it occurs at most
	queue  pairQueue         // these pairs, by what they were worth at first
	weight func(pairKey) int // what a pair is worth now
	fresh  map[pairKey]int32 // scratch: pairs with the newest signal
}

// A queuedPair is a pair with what it was worth when it was put into the queue.
type queuedPair struct {
	pair  pairKey
	worth int
}

// A pairQueue is a heap of pairs, the worthiest first.
type pairQueue []queuedPair

func (q pairQueue) Len() int { return len(q) }
func (q pairQueue) Less(i, j int) bool {
	return q[i].worth > q[j].worth || q[i].worth == q[j].worth && q[i].pair < q[j].pair
}
func (q pairQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *pairQueue) Push(x any)   { *q = append(*q, x.(queuedPair)) }
func (q *pairQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// A pairKey is a sum in one word: A and B in 20 bits each, the shift, and whether B is subtracted.
type pairKey uint64

// mostSignals is the number of signals beyond which pairs have no key.
const mostSignals = 1 << 20

func (s Sum) key() pairKey {
	k := pairKey(s.A)<<44 | pairKey(s.B)<<24 | pairKey(s.Shift)<<1
	if s.Minus {
		k |= 1
	}
	return k
}

func (k pairKey) sum() Sum {
	return Sum{Signal(k >> 44), Signal(k >> 24 & (mostSignals - 1)), int(k >> 1 & (1<<23 - 1)), k&1 != 0}
}

// digitsOf returns the terms of a row of a matrix whose columns are the first signals.
func digitsOf(weights []int64) (terms []Term) {
	for i, w := range weights {
		for _, d := range num.CanonicalSignedDigits(w) {
			terms = append(terms, Term{Signal(i), d.Weight, d.Negative})
		}
	}
	return terms
}

// share returns a term for each row: the sum of its terms. No path is longer than levels, unless a row needs more.
func (b *builder) share(rows [][]Term, levels int, w weighting) (outputs []Term) {
	s := &sharer{builder: b, found: map[pairKey]int32{}, fresh: map[pairKey]int32{},
		holds: make([][]int32, len(b.ranges))}
	s.weight = func(p pairKey) int { return w(b, p.sum(), int(s.found[p])) }
	for i, terms := range rows {
		r := row{terms: slices.Clone(terms)}
		for _, t := range terms {
			r.room -= 1 << b.levels[t.Signal]
			s.hold(t.Signal, int32(i))
		}
		r.room += 1 << max(levels, bits.Len(uint(max(0, -r.room-1))))
		s.rows = append(s.rows, r)
	}
	for signal := range Signal(len(b.ranges)) {
		s.enqueue(signal)
	}
	for s.queue.Len() > 0 {
		q := heap.Pop(&s.queue).(queuedPair)
		if s.found[q.pair] < 2 {
			continue
		}
		if worth := s.weight(q.pair); worth < q.worth {
			heap.Push(&s.queue, queuedPair{q.pair, worth})
			continue
		}
		s.replace(q.pair)
	}
	for i := range s.rows {
		outputs = append(outputs, s.summed(&s.rows[i]))
	}
	return outputs
}

// hold notes that a row has a term of signal x.
func (s *sharer) hold(x Signal, row int32) {
	for int(x) >= len(s.holds) {
		s.holds = append(s.holds, nil)
	}
	if h := s.holds[x]; len(h) == 0 || h[len(h)-1] != row {
		s.holds[x] = append(h, row)
	}
}

// enqueue puts the pairs of signal x with itself and with those before it into the queue, if they occur twice. From now
// on they can only become fewer, because a new term is always one of a new signal.
func (s *sharer) enqueue(x Signal) {
	clear(s.fresh)
	for _, i := range s.holds[x] {
		terms := s.rows[i].terms
		for k, t := range terms {
			if t.Signal != x {
				continue
			}
			for j, u := range terms {
				if u.Signal < x || u.Signal == x && j < k {
					p, _, _ := pairOf(t, u)
					s.fresh[p.key()]++
				}
			}
		}
	}
	for p, times := range s.fresh {
		if times < 2 {
			continue
		}
		s.found[p] = times
		if worth := s.weight(p); worth > 0 {
			heap.Push(&s.queue, queuedPair{p, worth})
		}
	}
}

// replace makes the sum of a pair and puts it into the rows, if it leaves room in two places at least. Places do not
// become more later on, so the pair is then done.
func (s *sharer) replace(key pairKey) {
	delete(s.found, key)
	p := key.sum()
	growth, places, rows := s.growth(p), 0, []int32(nil)
	for _, i := range s.holds[p.A] {
		r := &s.rows[i]
		n := s.count(r, p)
		if growth > 0 {
			n = min(n, r.room/growth)
		}
		if n > 0 {
			places += n
			rows = append(rows, i)
		}
	}
	if places < 2 {
		return
	}
	sum := s.sum(p)
	for _, i := range rows {
		r := &s.rows[i]
		for s.growth(p) <= r.room {
			a, b, ok := place(r.terms, p, nil)
			if !ok {
				break
			}
			_, shift, minus := pairOf(r.terms[a], r.terms[b])
			s.take(r, max(a, b))
			s.take(r, min(a, b))
			r.terms = append(r.terms, Term{sum, shift, minus})
			r.room -= growth
		}
		s.hold(sum, i)
	}
	s.enqueue(sum)
}

// take removes a term from its row.
func (s *sharer) take(r *row, at int) {
	t := r.terms[at]
	r.terms = slices.Delete(r.terms, at, at+1)
	for _, u := range r.terms {
		p, _, _ := pairOf(t, u)
		if n, ok := s.found[p.key()]; ok {
			s.found[p.key()] = n - 1
		}
	}
}

// count returns how often a pair occurs in a row, no two of them with a term in common.
func (s *sharer) count(r *row, p Sum) (n int) {
	used := make([]bool, len(r.terms))
	for {
		a, b, ok := place(r.terms, p, used)
		if !ok {
			return n
		}
		used[a], used[b] = true, true
		n++
	}
}

// place returns the indices of the terms of a pair in a row, other than those that used marks. used may be nil.
func place(terms []Term, p Sum, used []bool) (a, b int, ok bool) {
	for a, t := range terms {
		if t.Signal != p.A || used != nil && used[a] {
			continue
		}
		u := Term{p.B, t.Shift + p.Shift, t.Minus != p.Minus}
		if b := slices.Index(terms, u); b >= 0 && b != a && (used == nil || !used[b]) {
			return a, b, true
		}
	}
	return 0, 0, false
}

// summed returns the sum of a row's terms: always of the two whose adder is smallest, among those that leave room.
func (s *sharer) summed(r *row) Term {
	terms := r.terms
	if len(terms) == 0 {
		return Term{Signal: NoSignal}
	}
	for len(terms) > 1 {
		bestA, bestB, best := -1, -1, 0
		for a := range terms {
			for b := range a {
				p, _, _ := pairOf(terms[a], terms[b])
				if s.growth(p) > r.room {
					continue
				}
				cost := s.levels[p.A] + s.levels[p.B] // of adders that are alike, the one that delays least
				if _, ok := s.made[p]; !ok {
					cost += s.bitsOf(p) << 8
				}
				if bestA < 0 || cost < best {
					bestA, bestB, best = a, b, cost
				}
			}
		}
		t, u := terms[bestA], terms[bestB] // there is one: the two terms of the lowest levels leave room
		p, _, _ := pairOf(t, u)
		r.room -= s.growth(p)
		terms = slices.Delete(terms, bestA, bestA+1) // bestB is less
		terms[bestB] = s.plus(t, u)
	}
	return terms[0]
}

// growth returns by how much a sum of 2^level grows where a pair replaces its two terms.
func (s *sharer) growth(p Sum) int {
	a, b := s.levels[p.A], s.levels[p.B]
	return 2<<max(a, b) - 1<<a - 1<<b
}
