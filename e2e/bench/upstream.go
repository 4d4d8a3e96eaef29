package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/upstream/clubsim"
)

// clubSystem is the simulator, called as the gateway calls it.
type clubSystem struct {
	url    string      // of the demo world
	header http.Header // of every business request
}

// clubSystem gets an access token for the simulator at an address.
func (h *harness) clubSystem(outside string) (*clubSystem, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {clubsim.DemoClientID}, "client_secret": {clubsim.DemoClientSecret}}
	request, err := http.NewRequestWithContext(h.ctx, http.MethodPost, outside+"/sim/oauth/v2/token", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("X-Gateway-Api-Key", clubsim.DemoGatewayKey)
	_, body, err := do(request)
	if err != nil {
		return nil, err
	}
	var granted struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &granted); err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, value := range map[string]string{
		"X-Gateway-Api-Key": clubsim.DemoGatewayKey, "Authorization": "Bearer " + granted.Token,
		"X-User-Club-Id": "/demo/clubs/11", "X-User-Network-Node-Id": "/demo/network_nodes/3",
		"Accept": "application/ld+json, application/json",
	} {
		header.Set(name, value)
	}
	return &clubSystem{url: outside + "/sim/" + clubsim.DemoClientToken, header: header}, nil
}

// put changes something below _control.
func (c *clubSystem) put(ctx context.Context, what string, document any) error {
	body, err := json.Marshal(document)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, c.url+"/_control/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	_, _, err = do(request)
	return err
}

// persona is a contact whom the simulator knows from the start.
func (c *clubSystem) persona(ctx context.Context, key string) (clubsim.Persona, error) {
	_, body, err := fetch(ctx, c.url+"/_control/personas", nil)
	if err != nil {
		return clubsim.Persona{}, err
	}
	var all clubsim.Items[clubsim.Persona]
	if err := json.Unmarshal(body, &all); err != nil {
		return clubsim.Persona{}, err
	}
	for _, one := range all.Items {
		if one.Key == key {
			return one, nil
		}
	}
	return clubsim.Persona{}, fmt.Errorf("the simulator has no persona %s", key)
}
