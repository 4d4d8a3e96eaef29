package handlers

import (
	"net/http"

	"frontdesk/flows"
)

// erase serves POST /ops/erasures.
func (o *Ops) erase(r *http.Request) (any, error) {
	var in struct {
		decision
		Email        string `json:"email"`
		Mobile       string `json:"mobile"`
		Registration string `json:"registration"`
		Contact      string `json:"contact"`
	}
	if err := bind(r, &in); err != nil {
		return nil, err
	}
	clientToken, err := o.organisation(r)
	if err != nil {
		return nil, err
	}
	return o.cfg.Eraser.Erase(r.Context(), flows.ErasureRequest{
		ClientToken: clientToken, Email: in.Email, Mobile: in.Mobile, Registration: in.Registration, Contact: in.Contact,
	}, in.By)
}
