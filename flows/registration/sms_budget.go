package registration

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

// Codes that are not entered indicate SMS fraud or harassment. They are found by these figures.
const (
	smsWindow      = time.Hour        // observed: long enough for a club's quiet hours, short enough to show an attack
	smsGrace       = 2 * time.Minute  // for entering a code; with the phone in hand it takes less than one
	smsSample      = 20               // minimum number of codes: among fewer, slow visitors weigh too much; an attack gets as many per hour
	codesPerSample = 3                // of them, at most, from one network: else two addresses could silence a club by themselves
	networkSample  = 5                // codes to one address, at least, before it is refused for those that were not entered
	smsPause       = 15 * time.Minute // the time to wait in the error: staff may have reacted by then, or the codes left the window
	smsAlarmEvery  = 10 * time.Minute // often enough for an alert, rare enough for a readable log
	unlimited      = 1 << 30          // a limit that is never reached, for codes that are only counted
)

// clubsPerBudget: an attack on many clubs at once costs the organisation at most what five clubs may spend.
const clubsPerBudget = 5

// SMSBudget bounds what a club's visitors cost it in SMS: a budget per hour and per day, and a pause
// while too few of the codes are entered.
type SMSBudget struct {
	cfg                                         SMSBudgetConfig
	sent, validated, overBudget, lowConversions atomic.Int64
	activeClubs                                 sync.Map // clubs with recent codes, by club.IRI
}

// SMSBudgetConfig is what a budget needs; every field is required unless noted.
type SMSBudgetConfig struct {
	Store         *store.Store
	Hourly        int // codes for a club's visitors in any hour
	Daily         int // and in any 24 hours
	MinConversion int // percent of the codes that must be entered; 0: not checked
	// OrganisationHourly and OrganisationDaily are for the visitors of all clubs together; 0: five times a club's.
	OrganisationHourly, OrganisationDaily int
	Countries                             []string // ISO 3166-1 alpha-2, to whose numbers strangers get codes; empty: the club's own
	Now                                   func() time.Time
	Log                                   *slog.Logger
}

// NewSMSBudget returns a budget.
func NewSMSBudget(cfg SMSBudgetConfig) *SMSBudget { return &SMSBudget{cfg: cfg} }

// SMSCounts counts the SMS codes of this gateway since its start.
type SMSCounts struct {
	Sent          int64 // accepted by the club system, or the response was lost
	Validated     int64 // that were entered, and signed
	OverBudget    int64 // refused, because a club's or its organisation's budget was used up
	LowConversion int64 // refused, because too few of a club's codes were entered
}

// Counts returns this gateway's counts.
func (b *SMSBudget) Counts() SMSCounts {
	return SMSCounts{
		Sent:          b.sent.Load(),
		Validated:     b.validated.Load(),
		OverBudget:    b.overBudget.Load(),
		LowConversion: b.lowConversions.Load(),
	}
}

// unsampled ends the id of a code that does not count for its club's conversion.
const unsampled = "-unsampled"

// sentBy, sentByAll, sampleOf and validatedBy are the subjects of the codes of a club, or of all clubs
// of its organisation.
func sentBy(at club.IRI) string { return "club " + string(at) }

func sentByAll(at club.IRI) string { return "organisation " + at.ClientToken() }

func sampleOf(at club.IRI) string { return "sample " + string(at) }

func validatedBy(at club.IRI) string { return "validated " + string(at) }

func validatedFrom(network flows.ClientNetwork) string { return "validated address " + network.Name }

func (b *SMSBudget) limits() []flows.SMSLimit {
	return []flows.SMSLimit{{Codes: b.cfg.Hourly, Period: time.Hour}, {Codes: b.cfg.Daily, Period: 24 * time.Hour}}
}

func (b *SMSBudget) organisationLimits() []flows.SMSLimit {
	return []flows.SMSLimit{
		{Codes: cmp.Or(b.cfg.OrganisationHourly, clubsPerBudget*b.cfg.Hourly), Period: time.Hour},
		{Codes: cmp.Or(b.cfg.OrganisationDaily, clubsPerBudget*b.cfg.Daily), Period: 24 * time.Hour},
	}
}

// conversion counts the recent codes of a subject and those of them that were entered. Fewer than a
// sample are enough, whatever their share.
func (b *SMSBudget) conversion(
	ctx context.Context, of, validatedOf string, sample int, now time.Time,
) (sent, validated int, enough bool, err error) {
	if b.cfg.MinConversion == 0 {
		return 0, 0, true, nil
	}
	sent, err = b.cfg.Store.CountSMS(ctx, of, now.Add(-smsWindow), now.Add(-smsGrace))
	if err != nil || sent < sample {
		return sent, 0, true, flows.StorageFailed(err)
	}
	validated, err = b.cfg.Store.CountSMS(ctx, validatedOf, now.Add(-smsWindow), now)
	return sent, validated, validated*100 >= sent*b.cfg.MinConversion, flows.StorageFailed(err)
}

// lowConversion returns SMSPaused while too few of a club's recent codes were entered.
func (b *SMSBudget) lowConversion(ctx context.Context, at club.IRI, now time.Time) error {
	sent, validated, enough, err := b.conversion(ctx, sampleOf(at), validatedBy(at), smsSample, now)
	if err != nil || enough {
		return err
	}
	b.lowConversions.Add(1)
	b.alarm(ctx, at, "too few of the codes are entered", "sent", sent, "validated", validated)
	return paused(smsPause)
}

// suspicious returns SMSLimited while a network enters too few of the codes that it asked for, so that
// its codes neither use up a club's budget nor pause it.
func (b *SMSBudget) suspicious(ctx context.Context, network flows.ClientNetwork, now time.Time) error {
	if b == nil {
		return nil
	}
	_, _, enough, err := b.conversion(ctx, "address "+network.Name, validatedFrom(network), networkSample*network.Share, now)
	if err != nil || enough {
		return err
	}
	return &flows.Error{
		Code:       flows.SMSLimited,
		RetryAfter: smsPause,
		Detail:     flows.DetailSMSNetwork,
	}
}

func paused(wait time.Duration) error {
	return &flows.Error{
		Code:       flows.SMSPaused,
		RetryAfter: wait,
		Detail:     flows.DetailSMSPaused,
	}
}

// alarm logs that a club's codes are paused, at most once per smsAlarmEvery across all gateways.
func (b *SMSBudget) alarm(ctx context.Context, at club.IRI, why string, figures ...any) {
	if first, err := b.cfg.Store.Once(ctx, "sms alarm "+string(at), smsAlarmEvery); err == nil && !first {
		return
	}
	b.cfg.Log.ErrorContext(ctx, "sms codes paused for a club", append([]any{"club", at, "why", why}, figures...)...)
}

func (b *SMSBudget) countSent() {
	if b != nil {
		b.sent.Add(1)
	}
}

// Entered counts a code that signed, once per code sent. A failure lowers the share, which errs on the
// side of an alarm.
func (c *codeSender) Entered(ctx context.Context, at club.IRI, signature flows.Signature) {
	budget := c.cfg.SMSBudget
	if budget == nil || signature.SMS == "" {
		return
	}
	budget.validated.Add(1)
	networks, _ := ctx.Value(networksKey{}).([]flows.ClientNetwork)
	for _, network := range networks {
		budget.count(ctx, validatedFrom(network), signature)
	}
	if !strings.HasSuffix(signature.SMS, unsampled) {
		budget.count(ctx, validatedBy(at), signature)
	}
}

func (b *SMSBudget) count(ctx context.Context, subject string, s flows.Signature) {
	limits := []flows.SMSLimit{{Codes: unlimited, Period: smsWindow}}
	if _, _, err := b.cfg.Store.ReserveSMS(ctx, subject, s.SMS, b.cfg.Now(), limits); err != nil {
		b.cfg.Log.WarnContext(ctx, "validated sms code not counted", "error", err)
	}
}

// SMSUsage is how much of the budgets is used.
type SMSUsage struct {
	Period             time.Duration // what the budgets are for
	Budget             int           // codes, of each club
	Used               int           // by the club that has used the most
	OrganisationBudget int           // codes, of all clubs together
	OrganisationUsed   int           // by the organisation that has used the most
}

// Usage returns how much the club and the organisation with the highest usage have used of their
// budgets, on all gateways. It covers the clubs that this gateway sent codes for.
func (b *SMSBudget) Usage(ctx context.Context) ([]SMSUsage, error) {
	now := b.cfg.Now()
	var uses []SMSUsage
	organisation := b.organisationLimits()
	for i, limit := range b.limits() {
		uses = append(uses, SMSUsage{Period: limit.Period, Budget: limit.Codes, OrganisationBudget: organisation[i].Codes})
	}
	var failed error
	b.activeClubs.Range(func(at, _ any) bool {
		var used, all int
		for i := range uses { // the last is the longest
			since := now.Add(-uses[i].Period)
			if used, failed = b.cfg.Store.CountSMS(ctx, sentBy(at.(club.IRI)), since, now); failed != nil {
				return false
			}
			if all, failed = b.cfg.Store.CountSMS(ctx, sentByAll(at.(club.IRI)), since, now); failed != nil {
				return false
			}
			uses[i].Used, uses[i].OrganisationUsed = max(uses[i].Used, used), max(uses[i].OrganisationUsed, all)
		}
		if used == 0 {
			b.activeClubs.Delete(at)
		}
		return true
	})
	return uses, flows.StorageFailed(failed)
}
