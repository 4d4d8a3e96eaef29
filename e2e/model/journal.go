package model

import "slices"

// This file mirrors flows/payment/claim.go: how the processor's journal is read.

// claimAvailable mirrors flows' functions claimAvailable and refundHeld: the n-th claim is available to an attempt (0: to the first). A
// refund, which never gives its claim up, keeps it although another attempt released its number, while nobody has a later one.
func (m *machine) claimAvailable(s *slot, n uint8, p attemptID) bool {
	e := s.journal[n-1]
	last, _ := s.lastClaim()
	kept := e.release == 0 || p.refund() && last == n
	if s.acceptanceJournaled() || e.attempt != p || !kept {
		return false
	}
	if m.mutated(ClaimWithoutRelease) {
		return true
	}
	return !slices.ContainsFunc(s.journal[:n-1], func(e entry) bool { return !m.released(e) })
}

// released reports whether a claim was given up by its holder, whose post the release names. A claim
// may also be released before any attempt won it; then none can use it.
func (m *machine) released(e entry) bool {
	return e.release != 0 && (e.attempt == 0 || e.attempt == e.release || m.mutated(TrustAnyRelease))
}

func (s *slot) acceptanceJournaled() bool {
	return slices.ContainsFunc(s.journal[:], func(e entry) bool { return e.done })
}

// untouched reports that no attempt can have recorded the payment: every claim was given up.
func (s *slot) untouched() bool {
	return !slices.ContainsFunc(s.journal[:], func(e entry) bool { return e.done || e.attempt != 0 && e.release != e.attempt })
}

func (s *slot) refundClaimed() bool {
	return slices.ContainsFunc(s.journal[:], func(e entry) bool { return e.attempt.refund() })
}

// lastClaim returns the highest claim in the journal, 0 for none, and its holder.
func (s *slot) lastClaim() (n uint8, p attemptID) {
	for n := uint8(maxClaims); n > 0; n-- {
		switch e := s.journal[n-1]; {
		case e.attempt != 0:
			return n, e.attempt
		case e.release != 0:
			return n, e.release
		}
	}
	return 0, 0
}

// maybeSent reports whether the latest claim is a claim to record that was not released.
func (m *machine) maybeSent(s *slot) bool {
	n, _ := s.lastClaim()
	return n > 0 && s.journal[n-1].attempt != 0 && !m.released(s.journal[n-1])
}
