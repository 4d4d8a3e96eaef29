package protocol

import "time"

// Limits up to the capture.
const (
	// CreateWithin: with the sale's 20 h less than the 24 h for which the processor remembers the key of the creation.
	CreateWithin = 3 * time.Hour
	// ClockSkew is between our clock and the processor's, at most.
	ClockSkew = 5 * time.Minute
	// GroupSpan is longer than the time between the payments of one registration: a sale is payable for 20 h, and the
	// processor repeats a creation for 24 h.
	GroupSpan = 3 * 24 * time.Hour
	// IdleIntent: after that, the buyer has left; the cart can change again.
	IdleIntent = 30 * time.Minute
	// IdleAuthorisation: reserved money that could not be checked for so long is released.
	IdleAuthorisation = 60 * time.Minute
	// CaptureMargin before the end of the authorisation is enough for a capture, and for clocks that differ.
	CaptureMargin = time.Minute
	// FreshSale is how long ago the sale must have been seen as agreed when money is about to move: a minute, less the life of
	// a claim, within which the POST follows.
	FreshSale = time.Minute - ClaimLife
	// MissingBlocks is for how long an operator can correct a wrong key before payments are blocked.
	MissingBlocks = 30 * time.Minute
)

// Pauses between two readings of a payment.
const (
	// PollEvery is the shortest pause between two readings by the queue; see IdlePause for a buyer without activity.
	PollEvery = 15 * time.Second
	// DoubtPollEvery is how often the processor's journal of a payment in doubt is read.
	DoubtPollEvery = 2 * time.Minute
	// activeBuyer is how long most buyers need at the processor, with their bank's challenge. Until then, the payment is read
	// each PollEvery, so that it is completed within a minute after a lost webhook.
	activeBuyer = 5 * time.Minute
	// maxIdlePause is the longest pause between two reads of a payment whose buyer does nothing. A webhook, and the visitor's
	// own requests, wake it at once.
	maxIdlePause = 2 * time.Minute
)

// Limits of the one POST that records a payment at the club system.
const (
	// Lease covers a claim, a POST of 30 s and a read of the sale, so it needs no renewal.
	Lease = 60 * time.Second
	// LeaseGrace allows for clock skew and a stalled owner.
	LeaseGrace = 30 * time.Second
	// ClaimLife: a process that slept longer must not send, because others may have acted.
	ClaimLife = 10 * time.Second
	// TriesPerClaim is how often a call is made in a row if it is safe to repeat: a POST of which no byte left, or a write to
	// the processor, whose key replays the first response.
	TriesPerClaim = 3
	// MaxClaims: with ClaimPause about 28 minutes of a club system that can be read and accepts no payment; then the buyer
	// gets the money back. Two metadata entries for each claim stay below the processor's limit of 50.
	MaxClaims = 10
	// HighestClaim leaves a refund, which needs one claim, four more for keys that are used up.
	HighestClaim = MaxClaims + 5
	// MaxClaimPause is the longest pause between two claims without a limit of the API gateway.
	MaxClaimPause = 5 * time.Minute
	// MaxLimitPause: the longest quota whose reset is waited for is that of a day.
	MaxLimitPause = 24 * time.Hour
	// ShortLimit: within a claim's life, and within the time for which a buyer waits. A spike arrest ends sooner.
	ShortLimit = 2 * time.Second
	// SaleUnreadableAfter: until then the club system may be closed; a sale that fails alone must not keep the money for good.
	SaleUnreadableAfter = 24 * time.Hour
)

// Limits of a payment without a processor.
const (
	// MaxSettlements: with ClaimPause about four minutes. Giving up loses nothing, and a visitor or a member of staff is
	// waiting.
	MaxSettlements = 5
	// SettleWithin: after this, the buyer may have left or paid in another way. Staff have the money of a payment at the desk,
	// and may have left too.
	SettleWithin = 30 * time.Minute
)

// Limits of the brake. While the club system records no payment, it keeps further buyers from being charged.
const (
	// ProbeLease covers what a probe does: reads of the sale, a capture of 25 s, a claim, and a POST of 30 s. If its gateway
	// dies, another payment probes afterwards.
	ProbeLease = 2 * time.Minute
	// MaxCapturedHold is about as long as the claims of a payment that is not sent take. Then the payment is sent anyway.
	// Money at the desk is taken too.
	MaxCapturedHold = 30 * time.Minute
	// MaxUnknown payments in a row that were sent and not accepted engage the brake. One is a lost connection, or a
	// sale that the club system rejects. If one response in a hundred is lost, three in a row are one case in a million;
	// each more would cost another buyer a doubt, or a charge and its refund.
	MaxUnknown = 3
	// AcceptedPerUnknown: where many payments are accepted and some fail at random, three in a row are soon chance. So a row must be
	// as long as a tenth of those that were accepted in the last minute. An outage then lasts six seconds before it is noticed.
	AcceptedPerUnknown = 10
	// MaxUnknownInCrowd is the longest row that is needed. Of twenty payments a second of which one in five fails, three in a row
	// fail every eight seconds, and ten in a row once a week; if every second one fails, within two minutes.
	MaxUnknownInCrowd = 10
	// FirstProbePause follows the first probe that failed; it doubles with each further one. The first probe does not
	// wait, so that a disturbance of seconds does not delay buyers for a minute.
	FirstProbePause = time.Minute
	// MaxProbePause lets a payment that stays authorised for an hour meet several probes. An outage costs at most
	// seven probes in its first hour, and four in each hour after it.
	MaxProbePause = 15 * time.Minute
	// MaxCapturedProbePause: the money of a captured probe is already taken, so it may come earlier. It also keeps
	// captured money from waiting longer than ten minutes once the club system records again.
	MaxCapturedProbePause = 5 * time.Minute
)

// Limits of the evidence of a doubt, and of what follows its end.
const (
	// RuleWithin is how soon after the attempt a reading decides. A settled sale does not name what settled it: later, it may
	// well have been the club's staff.
	RuleWithin = time.Minute
	// EvidenceEvery: events cause readings no more often than the schedule begins.
	EvidenceEvery = 30 * time.Second
	// MaxReadings: two whole doubts with a failure before each reading, for a payment that an operator sends again.
	MaxReadings = 2 * 2 * len(ReadingAt)
	// VerifyAfter: staff who act on what their screens showed before the POST have acted by then.
	VerifyAfter = time.Minute
	// DebtWithin: an account that cannot be read for longer may be gone. One that can be read is compared however late, as
	// after an outage: the contact may have paid other debts meanwhile, and operators see that when they look.
	DebtWithin = 6 * time.Hour
	// MaxVerifyPause is the longest pause between two readings of what an operator must look at.
	MaxVerifyPause = time.Hour
	// DecideAfter is the age of a claim at which an operator may say that it had no effect. Its owner may not send after 10 s
	// and gives up after 30 s; the rest is for proxies and the club system's own queues.
	DecideAfter = 15 * time.Minute
	// MaxBuyerWait is the age from which a lost payment is cancelled instead of captured.
	MaxBuyerWait = IdleIntent + IdleAuthorisation
)

// ReadingAt is when evidence is read, counted from the beginning of the doubt: often while the club system may still process
// the payment, later for changes by its staff.
var ReadingAt = [...]time.Duration{30 * time.Second, 2 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
