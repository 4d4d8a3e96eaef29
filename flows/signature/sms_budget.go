package signature

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// The figures by which codes that nobody enters are known: somebody has them sent
// for what a network pays to the numbers' owner, or to be a nuisance.
const (
	// smsWindow is looked back on: long enough for a club's quiet hours, short enough to see an attack by.
	smsWindow = time.Hour
	// smsGrace is how old a code is before it is expected to be entered; who has the phone at hand takes less than a minute.
	smsGrace = 2 * time.Minute
	// smsSample codes at least are judged: of fewer, a few slow visitors are a large share. It is also what an attack gets in an hour, before the share stops it again.
	smsSample = 20
	// smsPause is told to visitors as the time to wait; by then the club's staff may have looked, or the codes are out of the window.
	smsPause = 15 * time.Minute
	// smsAlarmEvery keeps the log readable; one line in ten minutes is loud enough to alert on.
	smsAlarmEvery = 10 * time.Minute
)

// unlimited is a limit that is never reached, for what is only to be counted.
const unlimited = 1 << 30

// SMSBudget keeps what a club's visitors cost it in SMS within bounds, whoever they
// say they are and wherever they come from: a budget by hour and by day, and a
// stop while too few of the codes that were sent are entered.
type SMSBudget struct {
	cfg                                         SMSBudgetConfig
	sent, validated, overBudget, lowConversions atomic.Int64
	activeClubs                                 sync.Map // the clubs that codes were sent for of late, by club.IRI
}

// SMSBudgetConfig is what a guard needs; every field is required unless said.
type SMSBudgetConfig struct {
	Store         Store
	Hourly        int // codes for a club's visitors in any hour
	Daily         int // and in any 24 hours
	MinConversion int // percent of the codes that have to be entered; 0: that is not looked at
	Now           func() time.Time
	Log           *slog.Logger
}

// NewSMSBudget makes a guard.
func NewSMSBudget(cfg SMSBudgetConfig) *SMSBudget { return &SMSBudget{cfg: cfg} }

// SMSCounts is what this gateway has seen of SMS codes since it was started.
type SMSCounts struct {
	Sent          int64 // asked for at the club system, whatever came of it
	Validated     int64 // that were entered, and signed
	OverBudget    int64 // refused, because a club's budget was used up
	LowConversion int64 // refused, because too few of a club's codes were entered
}

// Counts tells what this gateway has seen so far.
func (g *SMSBudget) Counts() SMSCounts {
	return SMSCounts{Sent: g.sent.Load(), Validated: g.validated.Load(), OverBudget: g.overBudget.Load(), LowConversion: g.lowConversions.Load()}
}

// sentBy and validatedBy name a club's codes among those who are sent some.
func sentBy(at club.IRI) string { return "club " + string(at) }

func validatedBy(at club.IRI) string { return "validated " + string(at) }

// limits is what a club's visitors may be sent.
func (g *SMSBudget) limits() []flows.SMSLimit {
	return []flows.SMSLimit{{Codes: g.cfg.Hourly, Period: time.Hour}, {Codes: g.cfg.Daily, Period: 24 * time.Hour}}
}

// lowConversion tells whether too few of a club's codes were entered of late.
func (g *SMSBudget) lowConversion(ctx context.Context, at club.IRI, now time.Time) error {
	if g.cfg.MinConversion == 0 {
		return nil
	}
	sent, err := g.cfg.Store.CountSMS(ctx, sentBy(at), now.Add(-smsWindow), now.Add(-smsGrace))
	if err != nil || sent < smsSample {
		return flows.StorageFailed(err)
	}
	validated, err := g.cfg.Store.CountSMS(ctx, validatedBy(at), now.Add(-smsWindow), now)
	if err != nil || validated*100 >= sent*g.cfg.MinConversion {
		return flows.StorageFailed(err)
	}
	g.lowConversions.Add(1)
	g.alarm(ctx, at, "too few of the codes are entered", "sent", sent, "validated", validated)
	return paused(smsPause)
}

// exhausted is the refusal of a code that a club's budget has no room for.
func (g *SMSBudget) exhausted(ctx context.Context, at club.IRI, wait time.Duration) error {
	g.overBudget.Add(1)
	g.alarm(ctx, at, "the budget is used up", "hourly", g.cfg.Hourly, "daily", g.cfg.Daily)
	return paused(wait)
}

func paused(wait time.Duration) error {
	return &flows.Error{Code: flows.SMSPaused, RetryAfter: wait, Detail: "The club sends no codes at the moment. Please try again later, or ask its staff."}
}

// alarm says loudly that a club's visitors get no codes, once in a while, on whichever gateway.
func (g *SMSBudget) alarm(ctx context.Context, at club.IRI, why string, figures ...any) {
	if first, err := g.cfg.Store.Once(ctx, "sms alarm "+string(at), smsAlarmEvery); err == nil && !first {
		return
	}
	g.cfg.Log.ErrorContext(ctx, "sms codes paused for a club", append([]any{"club", at, "why", why}, figures...)...)
}

// countSent counts a code that was asked for at the club system.
func (g *SMSBudget) countSent() {
	if g != nil {
		g.sent.Add(1)
	}
}

// Entered counts a code that signed.
func (c *CodeSender) Entered(ctx context.Context, at club.IRI, s flows.Signature) {
	c.cfg.Budget.countValidated(ctx, at, s)
}

// countValidated counts a code that signed, by the one that was sent. A code for which
// that cannot be noted is missing in the share, which errs on the side of an alarm.
func (g *SMSBudget) countValidated(ctx context.Context, at club.IRI, s flows.Signature) {
	if g == nil || s.SMS == "" {
		return
	}
	g.validated.Add(1)
	if _, _, err := g.cfg.Store.ReserveSMS(ctx, validatedBy(at), s.SMS, g.cfg.Now(), []flows.SMSLimit{{Codes: unlimited, Period: smsWindow}}); err != nil {
		g.cfg.Log.WarnContext(ctx, "validated sms code not counted", "error", err)
	}
}

// SMSUsage is how much of a budget is used.
type SMSUsage struct {
	Period time.Duration // what the budget is for
	Budget int           // codes, of each club
	Used   int           // by the club that has used the most
}

// Usage tells how much of its budget was used by the club that has used the most: of
// the clubs that this gateway had codes sent for, whatever gateway sent the others'.
func (g *SMSBudget) Usage(ctx context.Context) ([]SMSUsage, error) {
	now := g.cfg.Now()
	var uses []SMSUsage
	for _, limit := range g.limits() {
		uses = append(uses, SMSUsage{Period: limit.Period, Budget: limit.Codes})
	}
	var failed error
	g.activeClubs.Range(func(at, _ any) bool {
		var used int
		for i := range uses { // the last is the longest
			if used, failed = g.cfg.Store.CountSMS(ctx, sentBy(at.(club.IRI)), now.Add(-uses[i].Period), now); failed != nil {
				return false
			}
			uses[i].Used = max(uses[i].Used, used)
		}
		if used == 0 {
			g.activeClubs.Delete(at)
		}
		return true
	})
	return uses, flows.StorageFailed(failed)
}
