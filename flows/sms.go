package flows

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"frontdesk/upstream/club"
)

// SMSLimit allows so many codes within a time.
type SMSLimit struct {
	Codes  int
	Within time.Duration
}

// smsLimits are what one person, and one phone, gets at most: a code a minute,
// since the SMS before may be under way; few in ten minutes and an hour, since
// who needs more has another problem; eight a day, which is what a stranger's
// number can be bothered with.
var smsLimits = []SMSLimit{{1, time.Minute}, {3, 10 * time.Minute}, {5, time.Hour}, {8, 24 * time.Hour}}

// addressLimits are what may be asked for from one address: more than one
// household needs, and little enough that sending to strangers' numbers pays nobody.
var addressLimits = []SMSLimit{{10, time.Hour}}

// allowance is one code that may be sent.
type allowance struct {
	id       string
	subjects []string
	next     time.Time // when the one after it may be sent
}

// allow takes a code out of what each subject may get: a contact, its phone, and
// what stays the same when a visitor makes one contact after the other. An empty
// subject is one that is not known. SMSLimited with the time to wait when one of
// them had enough, SMSPaused when the club that pays for it had.
func (c *CodeSender) allow(ctx context.Context, at club.IRI, subjects ...string) (allowance, error) {
	now := c.cfg.Now()
	a := allowance{id: uuid.NewString(), next: now}
	for _, subject := range subjects {
		if err := c.take(ctx, &a, now, subject, smsLimits); err != nil {
			return allowance{}, err
		}
	}
	if address, _ := ctx.Value(addressKey{}).(string); address != "" {
		if err := c.take(ctx, &a, now, "address "+address, addressLimits); err != nil {
			return allowance{}, err
		}
	}
	return a, c.spend(ctx, &a, now, at)
}

// spend takes the code of an allowance out of what the club pays for.
func (c *CodeSender) spend(ctx context.Context, a *allowance, now time.Time, at club.IRI) error {
	if c.cfg.Guard == nil {
		return nil
	}
	if err := c.cfg.Guard.distrusts(ctx, at, now); err != nil {
		c.giveBack(ctx, *a)
		return err
	}
	err := c.take(ctx, a, now, sentBy(at), c.cfg.Guard.budget())
	c.cfg.Guard.paying.Store(at, nil)
	var full *Error
	if errors.As(err, &full) && full.Code == SMSLimited {
		return c.cfg.Guard.overspent(ctx, at, full.RetryAfter)
	}
	return err
}

// take counts the code of an allowance for one subject more. When that had enough,
// or cannot be asked, the whole allowance is given back.
func (c *CodeSender) take(ctx context.Context, a *allowance, now time.Time, subject string, limits []SMSLimit) error {
	if subject == "" {
		return nil
	}
	allowed, next, err := c.cfg.Store.TakeSMS(ctx, subject, a.id, now, limits)
	switch {
	case err != nil:
		c.giveBack(ctx, *a)
		return storageFailed(err)
	case !allowed:
		c.giveBack(ctx, *a)
		return &Error{Code: SMSLimited, RetryAfter: next.Sub(now), Detail: "Codes are sent at most once a minute, and a few times a day."}
	}
	a.subjects = append(a.subjects, subject)
	if next.After(a.next) {
		a.next = next
	}
	return nil
}

// giveBack returns an allowance for which certainly no SMS was sent.
func (c *CodeSender) giveBack(ctx context.Context, a allowance) {
	for _, subject := range a.subjects {
		if err := c.cfg.Store.GiveBackSMS(context.WithoutCancel(ctx), subject, a.id); err != nil {
			c.cfg.Log.WarnContext(ctx, "allowance for a code not given back", "error", err)
		}
	}
}

type addressKey struct{}

// FromAddress notes in a context from which address a wish came, for the codes that
// are counted by it. Without one they are not: staff, and gateways that count nothing.
func FromAddress(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}
