package model

import (
	"math/bits"
	"strings"
)

// Mutation is a set of rules that are left out, or of mistakes that are built in.
// A test shows for each that the checker finds it out.
type Mutation uint32

// The mutations.
const (
	// RedisAlone: the compare-and-set in Redis is the right to send; no claim is asked for.
	RedisAlone Mutation = 1 << iota
	// ResumeExpired: a payment in sending whose owner is gone is sent by the next gateway that finds it.
	ResumeExpired
	// RetryAmbiguous: a POST without an answer is sent again.
	RetryAmbiguous
	// OverwritableClaim: the claim is an entry that is read and then written,
	// without an idempotency key that makes one winner.
	OverwritableClaim
	// NoGate: no gateway checks the age of a claim before the first byte leaves.
	NoGate
	// ClaimWithoutRelease: claim n+1 does not ask what became of claim n.
	ClaimWithoutRelease
	// ReleaseAlthoughSent: an unknown outcome is taken for "not sent", and the claim is released.
	ReleaseAlthoughSent
	// BlindCancel: a payment counts as cancelled once that was asked for, not once
	// it was read back; the next one is then created.
	BlindCancel
	// RefundInDoubt: a machine decides to refund what is in doubt.
	RefundInDoubt
	// KeyPerAttempt: the key under which a payment is created belongs to the attempt, not to the sale.
	KeyPerAttempt
	// TrustAnyRelease: a release of claim n counts, whichever attempt wrote it and whichever holds claim n.
	TrustAnyRelease
	// RefundUnread: a refund only asks whether an acceptance was journaled, not which other attempt may post.
	RefundUnread
	// RefundUnclaimed: a refund reads that every claim was given up, and takes none itself.
	RefundUnclaimed
	// PendingReleaseInsists: a pending release that is refused, because another one is there, is written again and again.
	PendingReleaseInsists
	// ClaimUnread: the journal is not read before a claim is written, so that one
	// winner is left to the memory of the processor's keys.
	ClaimUnread
	// TrustAnyCapture: the gateway that captured claims upon that response, however old it is.
	TrustAnyCapture
	// ClaimAtAnyAge: the gate is asked before the POST, and not before the claim.
	ClaimAtAnyAge
	// CreateAtAnyAge: a payment is created at the processor even when that may have forgotten an earlier one's key.
	CreateAtAnyAge
	// NoRebuild: what Redis lost is not rebuilt from the processor.
	NoRebuild
	// ErrorWhileCharged: a call that failed is answered as a failure, whatever was taken before.
	ErrorWhileCharged
	// StaleDecline: "declined, try again" is answered from Redis, without asking the processor.
	StaleDecline
	// OperatorInHaste: an operator does not wait until the claim is old.
	OperatorInHaste
	// OperatorTrustsRedis: an operator looks at the age of the claim in Redis, not at the journal's.
	OperatorTrustsRedis
	// CaptureUnseen: the capture does not ask when the sale was last read as agreed.
	CaptureUnseen
	// PostUnseen: neither does the POST.
	PostUnseen
	// TrustAnyEvidence: a sale that is settled counts as recorded by us, however long after the attempt.
	TrustAnyEvidence
	// EvidenceUnclaimed: it does so even if the journal holds no claim, so that nothing was sent.
	EvidenceUnclaimed
	// RefundBelieved: a refund that is pending counts as refunded.
	RefundBelieved
	// RefundFailureUnseen: no operator is shown that a refund failed.
	RefundFailureUnseen
	// AnyHolder: a payment is given up for any caller.
	AnyHolder
	mutations = iota
)

var mutationNames = [mutations]string{
	"RedisAlone", "ResumeExpired", "RetryAmbiguous", "OverwritableWitness", "NoGate", "ClaimWithoutRelease", "ReleaseAlthoughSent",
	"BlindCancel", "RefundInDoubt", "KeyPerAttempt", "TrustAnyRelease", "RefundUnread", "RefundUnclaimed", "OwedReleaseInsists",
	"ClaimUnread", "TrustAnyCapture", "ClaimAtAnyAge", "CreateAtAnyAge", "NoRebuild", "ErrorWhileCharged", "StaleDecline", "OperatorInHaste",
	"OperatorTrustsRedis", "CaptureUnseen", "PostUnseen", "TrustAnyEvidence", "EvidenceUnclaimed", "RefundBelieved", "RefundFailureUnseen", "AnyHolder",
}

// String lists the names.
func (w Mutation) String() string {
	var names []string
	for rest := uint32(w); rest != 0; rest &= rest - 1 {
		names = append(names, mutationNames[bits.TrailingZeros32(rest)])
	}
	return strings.Join(names, "+")
}
