package model

// key is a world packed into integers: what the search stores and compares.
//
//	0  redis 25, budgets 18, desk 4, later 4, keys 4
//	1  backups 25 25
//	2  backup 25, process 30
//	3  processes 30 30
//	4  payment at the processor 54
//	5  payment at the processor 54
type key [6]uint64

// pack gives the key of a world, the same for worlds that differ only in what
// nobody can tell apart: the order of the replicas and of the backups, and the
// names of the post ids.
func pack(w *world) key {
	p := [maxReplicas]uint64{w.process[0].bits(), w.process[1].bits(), w.process[2].bits()}
	b := [maxBackups]uint64{w.backups[0].bits(), w.backups[1].bits(), w.backups[2].bits()}
	order(&p)
	order(&b)
	k := key{
		w.redis.bits() | w.left.bits()<<25 | w.inPerson.bits()<<43 | w.deferred.bits()<<47 | uint64(w.key[0])<<51 | uint64(w.key[1])<<53,
		b[0] | b[1]<<25,
		b[2] | p[0]<<25,
		p[1] | p[2]<<30,
		w.slot[0].bits(),
		w.slot[1].bits(),
	}
	return k.rename()
}

// unpack reverses pack.
func unpack(k *key) (w world) {
	w.redis.fromBits(k[0])
	w.left = budgetOf(k[0] >> 25)
	w.inPerson, w.deferred = bookedOf(k[0]>>43), bookedOf(k[0]>>47)
	w.key = [slots]uint8{two(k[0] >> 51), two(k[0] >> 53)}
	w.backups[0].fromBits(k[1])
	w.backups[1].fromBits(k[1] >> 25)
	w.backups[2].fromBits(k[2])
	w.process[0].fromBits(k[2] >> 25)
	w.process[1].fromBits(k[3])
	w.process[2].fromBits(k[3] >> 30)
	w.slot[0].fromBits(k[4])
	w.slot[1].fromBits(k[5])
	return w
}

// order sorts by all that is not the name of a post id, highest first.
func order(list *[3]uint64) {
	for _, i := range [3]int{1, 2, 1} {
		if list[i]&^15 > list[i-1]&^15 {
			list[i], list[i-1] = list[i-1], list[i]
		}
	}
}

// rename gives the post ids the names in whose order the key has them.
func (k key) rename() key {
	var names naming
	k[0] = names.at(k[0], 0)
	for n := range uint(maxClaims) {
		for _, at := range [3]uint{0, 4, 8} {
			k[4], k[5] = names.at(k[4], 14*n+at), names.at(k[5], 14*n+at)
		}
	}
	k[1] = names.at(names.at(k[1], 0), 25)
	k[2] = names.at(names.at(k[2], 0), 25)
	k[3] = names.at(names.at(k[3], 0), 30)
	return k
}

// naming is the new name of each post id, and of either kind how many there are.
type naming struct {
	names [2 * (maxAttemptIDs + 1)]uint64
	count [2]uint64
}

// at renames the post id that stands at some bits of a word.
func (n *naming) at(word uint64, place uint) uint64 {
	old := word >> place & 15
	if old == 0 {
		return word
	}
	if n.names[old] == 0 {
		kind := old / uint64(forRefund)
		n.count[kind]++
		n.names[old] = kind*uint64(forRefund) + n.count[kind]
	}
	return word ^ (old^n.names[old])<<place
}

func two(v uint64) uint8   { return uint8(v & 3) }
func three(v uint64) uint8 { return uint8(v & 7) }

// bit is a flag at its place.
func bit(set bool, place uint) uint64 {
	if set {
		return 1 << place
	}
	return 0
}

// bits of a record: post 4, exists, owed, declined, rebuilt, generation 2, way 2,
// state 4, version 5, slot 2, claim 2. The post id comes first, so that pack can
// leave it out of the order.
func (r record) bits() uint64 {
	return uint64(r.attempt) | bit(r.exists, 4) | bit(r.releasePending, 5) | bit(r.declined, 6) | bit(r.rebuilt, 7) | uint64(r.generation)<<8 |
		uint64(r.method)<<10 | uint64(r.state)<<12 | uint64(r.version)<<16 | uint64(r.slot)<<21 | uint64(r.claim)<<23
}

func (r *record) fromBits(v uint64) {
	*r = record{attempt: attemptID(v & 15), exists: v>>4&1 == 1, releasePending: v>>5&1 == 1, declined: v>>6&1 == 1, rebuilt: v>>7&1 == 1,
		generation: two(v >> 8), method: Method(two(v >> 10)), state: state(v >> 12 & 15), version: uint8(v >> 16 & 31), slot: two(v >> 21), claim: two(v >> 23)}
}

// bits of a process: record 25, stale, at 4.
func (p process) bits() uint64 { return p.rec.bits() | bit(p.stale, 25) | uint64(p.at)<<26 }

func (p *process) fromBits(v uint64) {
	p.rec.fromBits(v)
	p.stale, p.at = v>>25&1 == 1, at(v>>26&15)
}

// bits of a slot: entries of 14 each, generation 2, held 3, late capture, cancel and refund, booked 4.
func (s slot) bits() uint64 {
	v := uint64(s.generation)<<42 | uint64(s.held)<<44 | bit(s.lateCapture, 47) | bit(s.lateCancel, 48) | bit(s.lateRefund, 49) | s.club.bits()<<50
	for n := range s.journal {
		e := s.journal[n]
		v |= (uint64(e.attempt) | uint64(e.release)<<4 | uint64(e.late)<<8 | bit(e.done, 12) | bit(e.keyed, 13)) << (14 * n)
	}
	return v
}

func (s *slot) fromBits(v uint64) {
	for n := range s.journal {
		e := v >> (14 * n)
		s.journal[n] = entry{attempt: attemptID(e & 15), release: attemptID(e >> 4 & 15), late: attemptID(e >> 8 & 15), done: e>>12&1 == 1, keyed: e>>13&1 == 1}
	}
	s.generation, s.held = two(v>>42), held(three(v>>44))
	s.lateCapture, s.lateCancel, s.lateRefund = v>>47&1 == 1, v>>48&1 == 1, v>>49&1 == 1
	s.club = bookedOf(v >> 50)
}

func (b booked) bits() uint64 { return uint64(b.applied) | uint64(b.late)<<2 }

func bookedOf(v uint64) booked { return booked{applied: two(v), late: two(v >> 2)} }

// bits of a budget: 3 each.
func (b budget) bits() uint64 {
	return uint64(b.crashes) | uint64(b.rollbacks)<<3 | uint64(b.wipes)<<6 | uint64(b.sleeps)<<9 | uint64(b.days)<<12 | uint64(b.operator)<<15
}

func budgetOf(v uint64) budget {
	return budget{crashes: three(v), rollbacks: three(v >> 3), wipes: three(v >> 6), sleeps: three(v >> 9), days: three(v >> 12), operator: three(v >> 15)}
}
