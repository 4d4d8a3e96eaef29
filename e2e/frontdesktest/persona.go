package frontdesktest

import (
	"net/http"

	"frontdesk/upstream/clubsim"
)

// Persona gives somebody whom every world knows, with fresh tokens.
func (c *Client) Persona(key string) clubsim.Persona {
	c.t.Helper()
	var list clubsim.Items[clubsim.Persona]
	c.Control("GET", "personas", nil).Into(http.StatusOK, &list)
	for _, persona := range list.Items {
		if persona.Key == key {
			return persona
		}
	}
	c.t.Fatalf("nobody is %q", key)
	return clubsim.Persona{}
}

// As gives the front end of a persona who has just logged in at the club.
func (c *Client) As(key string) *Client {
	c.t.Helper()
	other := *c
	other.Token = c.Persona(key).IdentityToken
	return &other
}

// Calls lists what the club system was asked so far, tokens left out.
func (c *Client) Calls() []clubsim.Request {
	c.t.Helper()
	var list clubsim.Items[clubsim.Request]
	c.Control("GET", "requests", nil).Into(http.StatusOK, &list)
	calls := list.Items[:0]
	for _, call := range list.Items {
		if call.Operation != "token" {
			calls = append(calls, call)
		}
	}
	return calls
}

// Control speaks to the control endpoints of the simulator's world.
func (c *Client) Control(method, name string, body any) *Response {
	c.t.Helper()
	world := c.World
	if world == "" {
		world = clubsim.DemoClientToken
	}
	plain := *c
	plain.Token, plain.World = "", ""
	if c.SimulatorURL != "" {
		plain.URL = c.SimulatorURL
	}
	return plain.Do(method, "/sim/"+world+"/_control/"+name, body)
}
