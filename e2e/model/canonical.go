package model

// canonical returns one form for worlds that differ only in the order of replicas and backups and in the
// names of attempt ids. Replicas that do the same under different ids keep their order.
func canonical(w world) world {
	sortByRank(&w.process)
	sortByRank(&w.backups)
	var names [2 * (maxAttemptIDs + 1)]attemptID
	used := [2]attemptID{forPost, forRefund}
	for _, id := range w.attemptIDs() {
		if *id == 0 {
			continue
		}
		if names[*id] == 0 {
			purpose := *id / forRefund
			used[purpose]++
			names[*id] = used[purpose]
		}
		*id = names[*id]
	}
	return w
}

// sortByRank puts the highest rank first.
func sortByRank[T interface{ rank() uint64 }](list *[3]T) {
	for _, i := range [3]int{1, 2, 1} {
		if list[i].rank() > list[i-1].rank() {
			list[i], list[i-1] = list[i-1], list[i]
		}
	}
}

// rank orders records by everything but their attempt id.
func (r record) rank() (rank uint64) {
	for _, flag := range []bool{r.exists, r.releasePending, r.declined, r.rebuilt, r.seen, r.refundFailed} {
		rank <<= 1
		if flag {
			rank++
		}
	}
	for _, v := range []uint8{r.generation, uint8(r.method), uint8(r.state), r.version, r.slot, r.claim} {
		rank = rank<<8 | uint64(v)
	}
	return rank
}

// rank orders processes by everything but their attempt id.
func (p process) rank() uint64 {
	rank := p.rec.rank() | uint64(p.at)<<56
	if p.stale {
		rank |= 1 << 63
	}
	return rank
}

// sameAs reports whether a world in its canonical form is w in another order.
func (w world) sameAs(form world) bool {
	for _, p := range orders {
		for _, b := range orders {
			other := w
			for i := range orders[0] {
				other.process[i], other.backups[i] = w.process[p[i]], w.backups[b[i]]
			}
			if canonical(other) == form {
				return true
			}
		}
	}
	return false
}

// orders are all orders of three things, the most replicas and backups that a world has.
var orders = [...][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
