package model

import (
	"math/bits"
	"strings"
)

// Mutation is a set of rules that are left out, or of mistakes that are built in. For each, a test
// shows that the checker finds it.
type Mutation uint32

// The mutations.
const (
	// RedisAlone: the compare-and-set in Redis is the right to send; no claim is requested.
	RedisAlone Mutation = 1 << iota
	// ResumeExpired: a payment in sending whose owner is gone is sent by the next gateway that finds it.
	ResumeExpired
	// RetryAmbiguous: a POST without a response is sent again.
	RetryAmbiguous
	// OverwritableClaim: the claim is an entry that is read and then written,
	// without an idempotency key that makes one winner.
	OverwritableClaim
	// NoGate: no gateway checks the age of a claim before the first byte leaves.
	NoGate
	// ClaimWithoutRelease: claim n+1 does not check whether claim n was released.
	ClaimWithoutRelease
	// ReleaseAlthoughSent: an unknown outcome is taken for "not sent", and the claim is released.
	ReleaseAlthoughSent
	// BlindCancel: a payment counts as cancelled once that was requested, not once it was read back; the
	// next one is then created.
	BlindCancel
	// RefundInDoubt: a machine decides to refund a payment in doubt.
	RefundInDoubt
	// KeyPerAttempt: the key under which a payment is created belongs to the attempt, not to the sale.
	KeyPerAttempt
	// TrustAnyRelease: a release of claim n counts, whichever attempt wrote it and whichever holds claim n.
	TrustAnyRelease
	// RefundUnread: a refund only asks whether an acceptance was journaled, not which other attempt may post.
	RefundUnread
	// RefundUnclaimed: a refund reads that every claim was given up, and takes none itself.
	RefundUnclaimed
	// PendingReleaseInsists: a pending release that is refused because another release exists is retried
	// forever.
	PendingReleaseInsists
	// ClaimUnread: the journal is not read before a claim is written, so that only the processor's memory
	// of its keys ensures a single winner.
	ClaimUnread
	// TrustAnyCapture: the gateway that captured claims on the basis of that response, however old it is.
	TrustAnyCapture
	// ClaimAtAnyAge: the gate is checked before the POST, but not before the claim.
	ClaimAtAnyAge
	// CreateAtAnyAge: a payment is created at the processor even when the processor may have forgotten an
	// earlier one's key.
	CreateAtAnyAge
	// NoRebuild: what Redis lost is not rebuilt from the processor.
	NoRebuild
	// ErrorWhileCharged: a failed call returns a failure, even if money was taken before.
	ErrorWhileCharged
	// StaleDecline: "declined, try again" is returned from Redis, without asking the processor.
	StaleDecline
	// OperatorInHaste: an operator does not wait until the claim is old.
	OperatorInHaste
	// OperatorTrustsRedis: an operator checks the age of the claim in Redis, not in the journal.
	OperatorTrustsRedis
	// CaptureUnseen: the capture does not check when the sale was last read as agreed.
	CaptureUnseen
	// PostUnseen: the POST does not check it either.
	PostUnseen
	// TrustAnyEvidence: a sale that is settled counts as recorded by us, however long after the attempt.
	TrustAnyEvidence
	// EvidenceUnclaimed: a settled sale counts as recorded even if the journal holds no claim, so that
	// nothing was sent.
	EvidenceUnclaimed
	// RefundBelieved: a refund that is pending counts as refunded.
	RefundBelieved
	// RefundFailureUnseen: operators do not see that a refund failed.
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
