package registration

import (
	"context"

	"frontdesk/flows"
	"frontdesk/flows/member"
	"frontdesk/upstream/club"
)

// attachContact makes an identified contact the buyer of a registration. Who may not
// buy is told so before anything is made at the club system.
func (f *Service) attachContact(ctx context.Context, r *flows.Registration, identity flows.ContactIdentity) (club.Contact, error) {
	if identity.ClubID != r.ClubID {
		return club.Contact{}, &flows.Error{Code: flows.OtherClub, Detail: "You belong to another club. Please register there, or move to this club first."}
	}
	known, err := member.ReadProfile(ctx, f.cfg.Club, f.cfg.Catalogue, identity)
	if err != nil {
		return club.Contact{}, err
	}
	if known.Status == club.StatusBanned {
		return club.Contact{}, &flows.Error{Code: flows.ContactBanned, Detail: "The club does not sell to you. Please ask its staff."}
	}
	buyer := known.Buyer(f.cfg.Now())
	r.Contact = &flows.Contact{IRI: known.IRI, Number: known.Number, Status: known.Status, Buyer: &buyer}
	f.indexPerson(r, known.Email, known.Mobile)
	return known.Contact, nil
}
