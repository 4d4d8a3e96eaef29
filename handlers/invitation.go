package handlers

import (
	"net/http"
	"net/url"
	"time"

	"frontdesk/flows"
)

// invitation is a link as operators get it.
type invitation struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// invite serves POST /ops/invitations. The club in the link is for the page that it
// leads to: what the invitation is good for, the gateway knows by itself.
func (o *Ops) invite(r *http.Request) (any, error) {
	var in struct {
		decision
		ContactID string `json:"contactId"`
		ClubID    string `json:"clubId"`
		TTL       string `json:"ttl"`
	}
	if err := bind(r, &in); err != nil {
		return nil, err
	}
	clientToken, err := o.organisation(r)
	if err != nil {
		return nil, err
	}
	life := flows.InvitationLife
	if in.TTL != "" {
		life, _ = time.ParseDuration(in.TTL) // what cannot be read is too short
	}
	who := flows.ContactIdentity{ClientToken: clientToken, ContactID: in.ContactID, ClubID: in.ClubID}
	token, end, err := o.cfg.Contacts.Invite(r.Context(), who, life, in.By)
	if err != nil {
		return nil, err
	}
	return invitation{URL: o.cfg.PublicURL + "/?invitation=" + token + "&club=" + url.QueryEscape(in.ClubID), ExpiresAt: end.UTC()}, nil
}

// organisation is whose contact is meant. A world is refused where there are none:
// the link would be another organisation's.
func (o *Ops) organisation(r *http.Request) (string, error) {
	world := r.Header.Get("X-Frontdesk-World")
	switch {
	case world == "":
		return o.cfg.ClientToken, nil
	case !o.cfg.Worlds || !isWorld(world):
		return "", &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "header/X-Frontdesk-World",
			Message: "Worlds are of mock mode alone: demo, or demo- and letters, digits, dots, underscores and hyphens."}}}
	}
	return world, nil
}
