package folding

import (
	"cmp"
	"context"
	"slices"
)

// maxLabels bounds the labels kept after one step, maxExtended those that are compared with each other.
const (
	maxLabels   = 300
	maxExtended = 4 * maxLabels
)

// A label is the beginning of a folding, up to some step.
type label struct {
	cost       vector
	clamped    vector // cost, with what no rest can make matter taken out
	converters int64
	state      int32
	from       int32 // the label of the step before
	option     int32
}

// label finds the best folding within caps by the space's measure: it carries every beginning of a folding forward, step
// by step, and drops those that provably cannot end within caps and those that another one equals or beats in every
// kind of resource. best is nil where there is none; exact is false where there were more than maxLabels, so that a
// better one may exist.
func (s *space) label(ctx context.Context, l *lattice, r relaxed, caps vector) (best *folding, exact bool, err error) {
	prune := pruner{caps: caps, single: r.single, mixed: r.mixed}
	for kind := range kinds {
		if kind != lut {
			prune.most[kind] = l.most(kind)
		}
	}
	for _, p := range r.mixed {
		prune.limits = append(prune.limits, p.unit.dot(caps))
	}
	exact = true
	kept := make([][]label, len(l.steps)+1)
	kept[0] = []label{{from: -1, option: -1}}
	for k := range l.steps {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		all := prune.extend(&l.steps[k], k, kept[k])
		s.examined += len(all)
		if len(all) > maxExtended {
			all, exact = prune.likeliest(all, k+1, maxExtended), false
		}
		all = prune.undominated(all)
		if len(all) > maxLabels {
			all, exact = prune.likeliest(all, k+1, maxLabels), false
		}
		kept[k+1] = all
	}
	for i := range kept[len(l.steps)] {
		best = s.better(best, trace(kept, i))
	}
	return best, exact, nil
}

// trace follows a last label back.
func trace(kept [][]label, last int) *folding {
	end := kept[len(kept)-1][last]
	f := &folding{cost: end.cost, converters: end.converters}
	for k, i := len(kept)-1, int32(last); k > 0; k-- {
		n := kept[k][i]
		if n.option >= 0 {
			f.options = append(f.options, n.option)
		}
		i = n.from
	}
	slices.Reverse(f.options)
	return f
}

// A pruner knows which labels lead nowhere.
type pruner struct {
	caps   vector
	single []price
	mixed  []price
	limits []int64 // the price of caps, per mixed price
	most   [kinds][][]int64
}

// extend gives every label after step k that may end within caps.
func (p *pruner) extend(st *step, k int, before []label) []label {
	var all []label
	for i := range before {
		b := &before[i]
		for _, e := range st.edges[st.first[b.state]:st.first[b.state+1]] {
			for j := range st.groups[e.group] {
				c := &st.groups[e.group][j]
				n := label{cost: b.cost.plus(c.cost), converters: b.converters + int64(c.converter), state: e.to, from: int32(i), option: c.option}
				if p.hopeful(&n, k+1) {
					n.clamped = p.clamp(&n, k+1)
					all = append(all, n)
				}
			}
		}
	}
	return all
}

// hopeful reports whether no price proves that the label ends beyond caps.
func (p *pruner) hopeful(n *label, k int) bool {
	for kind := range p.single {
		if n.cost[kind]+p.single[kind].rest[k][n.state] > p.caps[kind] {
			return false
		}
	}
	for i := range p.mixed {
		if p.mixed[i].unit.dot(n.cost)+p.mixed[i].rest[k][n.state] > p.limits[i] {
			return false
		}
	}
	return true
}

// clamp raises each amount to where even the largest rest stays within caps: below that, less is not better. LUTs are
// left, for fewer of them always are.
func (p *pruner) clamp(n *label, k int) vector {
	v := n.cost
	for kind := range v {
		if kind != lut {
			v[kind] = max(v[kind], p.caps[kind]-p.most[kind][k][n.state])
		}
	}
	return v
}

// undominated keeps, per state, the labels that no other equals or beats. The order of the result is fixed.
func (p *pruner) undominated(all []label) []label {
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(a.state, b.state), slices.Compare(a.clamped[:], b.clamped[:]), cmp.Compare(a.converters, b.converters), cmp.Compare(i, j))
	})
	var kept []label
	first := 0 // of the state's kept labels
	for _, i := range order {
		n := &all[i]
		if len(kept) > 0 && kept[len(kept)-1].state != n.state {
			first = len(kept)
		}
		if !dominated(kept[first:], &n.clamped) {
			kept = append(kept, *n)
		}
	}
	return kept
}

// dominated reports whether one of kept, which have no more LUTs, takes no more of anything.
func dominated(kept []label, v *vector) bool {
	for i := range kept {
		k := &kept[i].clamped
		if k[ff] <= v[ff] && k[bram] <= v[bram] && k[dsp] <= v[dsp] && k[uram] <= v[uram] {
			return true
		}
	}
	return false
}

// likeliest keeps the n labels that the prices leave most room, in their order.
func (p *pruner) likeliest(all []label, k, n int) []label {
	type rank struct {
		share float64 // of caps
		at    int
	}
	ranks := make([]rank, len(all))
	for i := range all {
		ranks[i].at = i
		for j := range p.mixed {
			total := p.mixed[j].unit.dot(all[i].cost) + p.mixed[j].rest[k][all[i].state]
			ranks[i].share = max(ranks[i].share, float64(total)/float64(p.limits[j]))
		}
	}
	slices.SortFunc(ranks, func(a, b rank) int { return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.at, b.at)) })
	ranks = ranks[:n]
	slices.SortFunc(ranks, func(a, b rank) int { return cmp.Compare(a.at, b.at) })
	for i, r := range ranks {
		all[i] = all[r.at] // r.at >= i
	}
	return all[:n]
}
