package signature

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// smsLimits are what one person, and one phone, gets at most: a code a minute,
// since the SMS before may be under way; few in ten minutes and an hour, since
// who needs more has another problem; eight a day, which is what a stranger's
// number can be bothered with.
var smsLimits = []flows.SMSLimit{{Codes: 1, Period: time.Minute}, {Codes: 3, Period: 10 * time.Minute}, {Codes: 5, Period: time.Hour}, {Codes: 8, Period: 24 * time.Hour}}

// addressLimits are what may be asked for from one address: more than one
// household needs, and little enough that sending to strangers' numbers pays nobody.
var addressLimits = []flows.SMSLimit{{Codes: 10, Period: time.Hour}}

// Reservation is one code that may be sent.
type Reservation struct {
	ID          string
	ResendAfter time.Time // when the next code may be sent
	subjects    []string
}

// Reserve takes a code out of what each subject may get: a contact, its phone, and
// what stays the same when a visitor makes one contact after the other. An empty
// subject is one that is not known. SMSLimited with the time to wait when one of
// them had enough, SMSPaused when the club that pays for it had.
func (c *CodeSender) Reserve(ctx context.Context, at club.IRI, subjects ...string) (Reservation, error) {
	now := c.cfg.Now()
	a := Reservation{ID: uuid.NewString(), ResendAfter: now}
	for _, subject := range subjects {
		if err := c.reserveFor(ctx, &a, now, subject, smsLimits); err != nil {
			return Reservation{}, err
		}
	}
	if address, _ := ctx.Value(addressKey{}).(string); address != "" {
		if err := c.reserveFor(ctx, &a, now, "address "+address, addressLimits); err != nil {
			return Reservation{}, err
		}
	}
	return a, c.reserveBudget(ctx, &a, now, at)
}

// reserveBudget takes the code of an allowance out of what the club pays for.
func (c *CodeSender) reserveBudget(ctx context.Context, a *Reservation, now time.Time, at club.IRI) error {
	if c.cfg.Budget == nil {
		return nil
	}
	if err := c.cfg.Budget.lowConversion(ctx, at, now); err != nil {
		c.Release(ctx, *a)
		return err
	}
	err := c.reserveFor(ctx, a, now, sentBy(at), c.cfg.Budget.limits())
	c.cfg.Budget.activeClubs.Store(at, nil)
	var full *flows.Error
	if errors.As(err, &full) && full.Code == flows.SMSLimited {
		return c.cfg.Budget.exhausted(ctx, at, full.RetryAfter)
	}
	return err
}

// reserveFor counts the code of an allowance for one subject more. When that had enough,
// or cannot be asked, the whole allowance is given back.
func (c *CodeSender) reserveFor(ctx context.Context, a *Reservation, now time.Time, subject string, limits []flows.SMSLimit) error {
	if subject == "" {
		return nil
	}
	allowed, next, err := c.cfg.Store.ReserveSMS(ctx, subject, a.ID, now, limits)
	switch {
	case err != nil:
		c.Release(ctx, *a)
		return flows.StorageFailed(err)
	case !allowed:
		c.Release(ctx, *a)
		return &flows.Error{Code: flows.SMSLimited, RetryAfter: next.Sub(now), Detail: "Codes are sent at most once a minute, and a few times a day."}
	}
	a.subjects = append(a.subjects, subject)
	if next.After(a.ResendAfter) {
		a.ResendAfter = next
	}
	return nil
}

// Release returns an allowance for which certainly no SMS was sent.
func (c *CodeSender) Release(ctx context.Context, a Reservation) {
	for _, subject := range a.subjects {
		if err := c.cfg.Store.ReleaseSMS(context.WithoutCancel(ctx), subject, a.ID); err != nil {
			c.cfg.Log.WarnContext(ctx, "sms reservation not released", "error", err)
		}
	}
}

type addressKey struct{}

// WithClientAddress notes in a context from which address a wish came, for the codes that
// are counted by it. Without one they are not: staff, and gateways that count nothing.
func WithClientAddress(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}
