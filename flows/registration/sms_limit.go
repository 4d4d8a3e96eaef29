package registration

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// smsLimits are the limits of one person and of one phone. One code a minute, because the last SMS may still arrive. Few in ten
// minutes and in an hour, because more codes do not help. Eight a day, to protect the owner of a number that another person
// entered. The text in reserveFor describes them.
var smsLimits = []flows.SMSLimit{
	{Codes: 1, Period: time.Minute},
	{Codes: 3, Period: 10 * time.Minute},
	{Codes: 5, Period: time.Hour},
	{Codes: 8, Period: 24 * time.Hour},
}

// codesPerAddress is the limit of one IP address in an hour: more than a household needs, too few for
// SMS fraud to pay.
const codesPerAddress = 10

// reservation allows one code to be sent.
type reservation struct {
	ID          string
	ResendAfter time.Time // when the next code may be sent
	subjects    []string
}

// Reserve counts a code for each subject: a contact, its phone, and what stays the same when a visitor
// creates further contacts. An empty subject is unknown and not counted. It fails with SMSLimited
// and the time to wait when a subject's limit is reached, and with SMSPaused when the paying club's budget is.
func (c *codeSender) Reserve(ctx context.Context, at club.IRI, subjects ...string) (reservation, error) {
	now := c.cfg.Now()
	networks, _ := ctx.Value(networksKey{}).([]flows.ClientNetwork)
	reserved := reservation{ID: uuid.NewString(), ResendAfter: now}
	if sampled, err := c.sampled(ctx, networks, now); err != nil {
		return reservation{}, err
	} else if !sampled {
		reserved.ID += unsampled
	}
	for _, subject := range subjects {
		if err := c.reserveFor(ctx, &reserved, now, subject, smsLimits); err != nil {
			return reservation{}, err
		}
	}
	for _, network := range networks {
		if err := c.cfg.SMSBudget.suspicious(ctx, network, now); err != nil {
			c.Release(ctx, reserved)
			return reservation{}, err
		}
		limits := []flows.SMSLimit{{Codes: codesPerAddress * network.Share, Period: time.Hour}}
		if err := c.reserveFor(ctx, &reserved, now, "address "+network.Name, limits); err != nil {
			return reservation{}, err
		}
	}
	return reserved, c.reserveBudget(ctx, &reserved, now, at)
}

// sampled reports whether the next code to a client's widest network counts for its club's conversion.
func (c *codeSender) sampled(ctx context.Context, networks []flows.ClientNetwork, now time.Time) (bool, error) {
	if len(networks) == 0 {
		return true, nil
	}
	sent, err := c.cfg.Store.CountSMS(ctx, "address "+networks[len(networks)-1].Name, now.Add(-smsWindow), now)
	return sent < codesPerSample, flows.StorageFailed(err)
}

// reserveBudget counts the code against the budgets of the club and of its organisation.
func (c *codeSender) reserveBudget(ctx context.Context, reserved *reservation, now time.Time, at club.IRI) error {
	if c.cfg.SMSBudget == nil {
		return nil
	}
	if err := c.cfg.SMSBudget.lowConversion(ctx, at, now); err != nil {
		c.Release(ctx, *reserved)
		return err
	}
	c.cfg.SMSBudget.activeClubs.Store(at, nil)
	if !strings.HasSuffix(reserved.ID, unsampled) {
		if err := c.reserveFor(ctx, reserved, now, sampleOf(at), []flows.SMSLimit{{Codes: unlimited, Period: smsWindow}}); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		subject, why string
		limits       []flows.SMSLimit
	}{
		{sentBy(at), "the budget is used up", c.cfg.SMSBudget.limits()},
		{sentByAll(at), "the organisation's budget is used up", c.cfg.SMSBudget.organisationLimits()},
	} {
		err := c.reserveFor(ctx, reserved, now, of.subject, of.limits)
		if full, ok := errors.AsType[*flows.Error](err); ok && full.Code == flows.SMSLimited {
			c.cfg.SMSBudget.overBudget.Add(1)
			c.cfg.SMSBudget.alarm(ctx, at, of.why, "hourly", of.limits[0].Codes, "daily", of.limits[1].Codes)
			return paused(full.RetryAfter)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reserveFor counts the code for one more subject, and releases the whole reservation on failure.
func (c *codeSender) reserveFor(ctx context.Context, reserved *reservation, now time.Time, subject string, limits []flows.SMSLimit) error {
	if subject == "" {
		return nil
	}
	allowed, next, err := c.cfg.Store.ReserveSMS(ctx, subject, reserved.ID, now, limits)
	switch {
	case err != nil:
		c.Release(ctx, *reserved)
		return flows.StorageFailed(err)
	case !allowed:
		c.Release(ctx, *reserved)
		return &flows.Error{
			Code:       flows.SMSLimited,
			RetryAfter: next.Sub(now),
			Detail:     flows.DetailSMSLimited,
		}
	}
	reserved.subjects = append(reserved.subjects, subject)
	if next.After(reserved.ResendAfter) {
		reserved.ResendAfter = next
	}
	return nil
}

// Release returns a reservation for which certainly no SMS was sent.
func (c *codeSender) Release(ctx context.Context, reserved reservation) {
	for _, subject := range reserved.subjects {
		if err := c.cfg.Store.ReleaseSMS(context.WithoutCancel(ctx), subject, reserved.ID); err != nil {
			c.cfg.Log.WarnContext(ctx, "sms reservation not released", "error", err)
		}
	}
}

type networksKey struct{}

// WithClientNetworks adds the client's networks, by which codes are counted, to a context. Codes of
// staff, and of gateways without limits, have none.
func WithClientNetworks(ctx context.Context, networks []flows.ClientNetwork) context.Context {
	nameless := func(network flows.ClientNetwork) bool { return network.Name == "" } // the address is not known
	return context.WithValue(ctx, networksKey{}, slices.DeleteFunc(slices.Clone(networks), nameless))
}

// CheckCountry returns MobileUnreachable for a number that a stranger gave, of a country without codes. A club
// without a country gets codes for all numbers, unless countries are configured. Codes of staff, and of gateways
// without limits, are not checked.
func (c *codeSender) CheckCountry(ctx context.Context, mobile, home string) error {
	if c.cfg.SMSBudget == nil || ctx.Value(networksKey{}) == nil {
		return nil
	}
	allowed := c.cfg.SMSBudget.cfg.Countries
	if len(allowed) == 0 {
		allowed = []string{home}
	}
	isAllowed := func(country string) bool { return slices.Contains(allowed, country) }
	if mobile == "" || allowed[0] == "" || slices.ContainsFunc(flows.PhoneCountries(mobile, home), isAllowed) {
		return nil
	}
	return &flows.Error{
		Code:   flows.MobileUnreachable,
		Detail: flows.DetailSMSCountry,
	}
}
