package registration

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// OwnEvents is where a service publishes Frontdesk's own events; each function is nil if there are no subscribers.
type OwnEvents struct {
	// IsDue reports whether an event about a subject remains to be published.
	IsDue func(ctx context.Context, name, subject string) (bool, error)
	// Publish publishes an event, at least once.
	Publish func(ctx context.Context, event flows.OwnEvent) error
}

// isDue is IsDue, or false without subscribers.
func (e OwnEvents) isDue(ctx context.Context, name, subject string) (bool, error) {
	if e.IsDue == nil {
		return false, nil
	}
	return e.IsDue(ctx, name, subject)
}

// completedData is the data of RegistrationCompleted.
type completedData struct {
	RegistrationID string          `json:"registrationId"`
	ClubID         string          `json:"clubId"`
	ContactID      string          `json:"contactId,omitempty"`
	PaymentID      flows.PaymentID `json:"paymentId"`
	Confirmation   json.RawMessage `json:"confirmation,omitempty"`     // as the public API shows it
	Page           string          `json:"confirmationHtml,omitempty"` // the same as HTML
}

// announceCompleted publishes that a registration is completed, with its confirmation; nil: it was lost.
func (s *Service) announceCompleted(ctx context.Context, r *flows.Registration, p *flows.Payment, confirmation *flows.Confirmation) error {
	if due, err := s.cfg.Events.isDue(ctx, flows.RegistrationCompleted, r.ID); err != nil || !due {
		return err
	}
	data := completedData{RegistrationID: r.ID, ClubID: r.ClubID, PaymentID: p.ID}
	if r.Contact != nil {
		data.ContactID = r.Contact.IRI.ID()
	}
	if confirmation != nil {
		data.Confirmation, data.Page = confirmation.Document, confirmation.HTML
	}
	return s.cfg.Events.Publish(ctx, flows.NewOwnEvent(flows.RegistrationCompleted, r.ID, p.Since(flows.Recorded), data))
}

// mandateData is the data of MandateSignedEvent.
type mandateData struct {
	RegistrationID string `json:"registrationId"`
	ClubID         string `json:"clubId"`
	ContactID      string `json:"contactId"`
	MandateID      string `json:"mandateId"`
}

// announceMandate publishes that the mandate of a registration is signed. A registration with a signed mandate is refreshed at least
// once, which repeats what failed or was lost.
func (s *Service) announceMandate(ctx context.Context, registration *flows.Registration) error {
	mandate := registration.Mandate
	if mandate == nil || mandate.State != flows.SignatureSigned {
		return nil
	}
	if due, err := s.cfg.Events.isDue(ctx, flows.MandateSignedEvent, string(mandate.IRI)); err != nil || !due {
		return err
	}
	return s.cfg.Events.Publish(ctx, flows.NewOwnEvent(flows.MandateSignedEvent, string(mandate.IRI), s.cfg.Now(), mandateData{
		RegistrationID: registration.ID,
		ClubID:         registration.ClubID,
		ContactID:      mandate.Contact.ID(),
		MandateID:      mandate.IRI.ID(),
	}))
}

// abandonedData is the data of RegistrationAbandoned.
type abandonedData struct {
	RegistrationID string    `json:"registrationId"`
	ClubID         string    `json:"clubId"`
	ContactID      string    `json:"contactId"`
	Channels       []string  `json:"channels"`  // on which the contact agreed to advertising
	ResumeURL      string    `json:"resumeUrl"` // can be used once
	ExpiresAt      time.Time `json:"expiresAt"` // of the link
}

// announceAbandoned publishes that the visitor of an open registration has not continued, with a link that resumes it. It does
// nothing for a visitor who has a link already, or whose contact the club system does not show to have agreed to advertising. It
// returns when to look again, if the visitor may still be there; zero: never.
func (s *Service) announceAbandoned(
	ctx context.Context, registration *flows.Registration, changed time.Time, at catalogue.Club,
) (again time.Time, err error) {
	now := s.cfg.Now()
	code := registration.ID + "." + base64.RawURLEncoding.EncodeToString(s.cfg.Keys.Sign([]byte("abandoned registration\n"+registration.ID)))
	begun := registration.Resume != nil && flows.TokenMatches(code, registration.Resume.Hash) // by a gateway that may have died since
	if !registration.MayBeReminded() || registration.HasLink(now) && !begun {
		return again, nil
	}
	if due, err := s.cfg.Events.isDue(ctx, flows.RegistrationAbandoned, registration.ID); err != nil || !due {
		return again, err
	}
	if end := changed.Add(flows.AbandonedAfter); end.After(now) && !begun {
		return end, nil
	}
	if bought, err := s.boughtSince(ctx, registration); err != nil || bought {
		return again, err
	}
	channels, err := s.advertisingChannels(ctx, registration, at)
	if err != nil || len(channels) == 0 {
		return again, err
	}
	link := registration.LinkEnd(nil, now)
	registration.Resume = &flows.Resume{Hash: flows.HashToken(code), ExpiresAt: link}
	if err := s.cfg.Store.AmendRegistration(ctx, registration); err != nil {
		return again, flows.StorageFailed(err)
	}
	return again, s.cfg.Events.Publish(ctx, flows.NewOwnEvent(flows.RegistrationAbandoned, registration.ID, now, abandonedData{
		RegistrationID: registration.ID,
		ClubID:         registration.ClubID,
		ContactID:      registration.Contact.IRI.ID(),
		Channels:       channels,
		ResumeURL:      s.cfg.PublicURL + "/?resume=" + code,
		ExpiresAt:      flows.Instant(link),
	}))
}

// maxOthers is how many registrations of the same address or phone are read to find a purchase: a family has fewer.
const maxOthers = 50

// boughtSince reports whether the person of a registration has paid for a later one, or may have: they began again, on another device
// perhaps, and a reminder could make them buy twice.
func (s *Service) boughtSince(ctx context.Context, r *flows.Registration) (bool, error) {
	ids, err := s.cfg.Store.RegistrationsOfPerson(ctx, r.PersonPseudonyms...)
	if err != nil {
		return false, flows.StorageFailed(err)
	}
	for _, id := range ids[max(0, len(ids)-maxOthers):] {
		other, payment, err := s.cfg.Store.Registration(ctx, id)
		switch {
		case id == r.ID, errors.Is(err, flows.ErrNotFound), flows.Unreadable(err):
		case err != nil:
			return false, flows.StorageFailed(err)
		case payment.Purchased() && payment.CreatedAt.After(r.CreatedAt) && other.IsOfSamePerson(r):
			return true, nil
		}
	}
	return false, nil
}

// advertisingChannels lists the channels on which the contact of a registration has agreed to the club's advertising.
func (s *Service) advertisingChannels(ctx context.Context, r *flows.Registration, at catalogue.Club) (channels []string, err error) {
	optins, err := s.cfg.Club.ListOptins(ctx, at.Scope, r.Contact.IRI)
	if err != nil {
		return nil, flows.ClubFailed(err, flows.DetailConsentsUnread)
	}
	for _, optin := range optins {
		if optin.Authorized && optin.Type == club.OptinAdvertising && !slices.Contains(channels, optin.Channel) {
			channels = append(channels, optin.Channel)
		}
	}
	return channels, nil
}
