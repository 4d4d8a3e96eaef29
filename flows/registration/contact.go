package registration

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// Profile is an identified contact as the club system has it now.
type Profile struct {
	club.Contact
	HomeClub catalogue.Club // its own club
	Debt     int64          // minor units of the club's currency
}

// Contacts serves people known to the club, each identified by a login token, an invitation or an operator.
type Contacts struct {
	cfg Config
}

// Me reads a contact and its account concurrently, at the club of its identity. It fails with
// NotIdentified if that club does not have the contact, as after a move; a new login token then
// has the current identity.
func (c *Contacts) Me(ctx context.Context, identity flows.ContactIdentity) (Profile, error) {
	at, err := c.homeClub(ctx, identity)
	if err != nil {
		return Profile{}, err
	}
	known := Profile{HomeClub: at}
	reads, ctx := errgroup.WithContext(ctx)
	reads.Go(func() (err error) {
		known.Contact, err = c.cfg.readContact(ctx, at.Scope, identity.IRI())
		return notIdentified(err, flows.DetailContactUnread)
	})
	reads.Go(func() error {
		statistics, err := c.cfg.Club.GetAccountStatistics(ctx, at.Scope, identity.IRI())
		known.Debt = statistics.TotalRealDebt
		return notIdentified(err, flows.DetailAccountUnread)
	})
	if err := reads.Wait(); err != nil {
		return Profile{}, err
	}
	if err := checkHome(known.Contact, at); err != nil {
		return Profile{}, err
	}
	return known, nil
}

// checkHome fails with NotIdentified for a login that names another club than the contact's.
func checkHome(contact club.Contact, at catalogue.Club) error {
	if contact.Club != "" && contact.Club != at.IRI {
		return &flows.Error{Code: flows.NotIdentified, Detail: flows.DetailContactUnknown}
	}
	return nil
}

// Buyer reads what decides on the contact's offers. It fails as Me does.
func (c *Contacts) Buyer(ctx context.Context, identity flows.ContactIdentity) (flows.Buyer, error) {
	known, err := c.Me(ctx, identity)
	if err != nil {
		return flows.Buyer{}, err
	}
	return known.Buyer(c.cfg.Now()), nil
}

func (c *Contacts) homeClub(ctx context.Context, identity flows.ContactIdentity) (catalogue.Club, error) {
	at, err := c.cfg.Catalogue.Club(ctx, identity.ClientToken, identity.ClubID)
	if err != nil && flows.CodeOf(err) == flows.ClubNotFound {
		return catalogue.Club{}, &flows.Error{Code: flows.NotIdentified, Detail: flows.DetailContactUnknown, Err: err}
	}
	return at, err
}

// notIdentified translates an error about a contact named only by a token.
func notIdentified(err error, part flows.DetailCode) error {
	if errors.Is(err, club.ErrNotFound) {
		return &flows.Error{Code: flows.NotIdentified, Detail: flows.DetailContactUnknown, Err: err}
	}
	return flows.ClubFailed(err, part)
}

// Buyer is the part of a profile that decides what the contact can buy now.
func (p Profile) Buyer(now time.Time) flows.Buyer {
	day := p.HomeClub.Today(now).Format(time.DateOnly)
	var tags []string
	for _, tag := range p.Tags {
		if tag.ValidFrom <= day && (tag.ValidThrough == "" || day <= tag.ValidThrough) {
			tags = append(tags, string(tag.IRI))
		}
	}
	return flows.Buyer{Contact: p.IRI, Club: p.HomeClub.IRI, Tags: strings.Join(tags, " "), Debt: p.Debt}
}
