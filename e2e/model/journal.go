package model

// This file is how flows/record.go reads the processor's journal.

// free mirrors flows' function: the n-th claim is there for a post (0: for whoever
// comes first).
func (m *machine) free(s *slot, n uint8, p post) bool {
	if e := s.journal[n-1]; s.journalled() || e.post != p || e.release != 0 {
		return false
	}
	if m.weak(ClaimWithoutRelease) {
		return true
	}
	for _, e := range s.journal[:n-1] {
		if !m.released(e) {
			return false
		}
	}
	return true
}

// released tells whether a claim was given up by its holder, whose post the
// release names; or before anybody won it, after which nobody can use it.
func (m *machine) released(e entry) bool {
	return e.release != 0 && (e.post == 0 || e.post == e.release || m.weak(TrustAnyRelease))
}

// journalled tells whether an acceptance was journalled under any claim.
func (s *slot) journalled() bool {
	for _, e := range s.journal {
		if e.done {
			return true
		}
	}
	return false
}

// givenUp tells whether nobody can have sent anything under any claim, and nobody
// ever will under these.
func (s *slot) givenUp(last uint8) bool {
	for _, e := range s.journal {
		if e.post != 0 && e.release != e.post {
			return false
		}
	}
	return s.journal[last-1].release != 0
}

// last is the highest claim that the journal speaks of, 0 for none, and whose it is.
func (s *slot) last() (n uint8, p post) {
	for n := uint8(maxClaims); n > 0; n-- {
		switch e := s.journal[n-1]; {
		case e.post != 0:
			return n, e.post
		case e.release != 0:
			return n, e.release
		}
	}
	return 0, 0
}
