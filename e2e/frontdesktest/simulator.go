package frontdesktest

import (
	"net/http"
	"slices"

	"frontdesk/upstream/clubsim"
)

// RecordPayment is the club system's operation that records a payment.
var RecordPayment = clubsim.FaultMatch{Method: "POST", Path: "/sales/*/payments"}

// Times is how often a fault happens.
func Times(n int) *int { return &n }

// Persona returns a persona of the simulator, with fresh tokens.
func (c *Client) Persona(key string) clubsim.Persona {
	c.t.Helper()
	for _, persona := range list[clubsim.Persona](c, "personas") {
		if persona.Key == key {
			return persona
		}
	}
	c.t.Fatalf("unknown persona %q", key)
	return clubsim.Persona{}
}

// As returns the front end of a persona after a login at the club.
func (c *Client) As(key string) *Client {
	c.t.Helper()
	other := *c
	other.Token = c.Persona(key).IdentityToken
	return &other
}

// Calls lists the requests that the club system has received, without those for tokens.
func (c *Client) Calls() []clubsim.Request {
	c.t.Helper()
	return slices.DeleteFunc(list[clubsim.Request](c, "requests"), func(call clubsim.Request) bool { return call.Operation == "token" })
}

// Control sends a request to the control endpoints of the simulator's world.
func (c *Client) Control(method, name string, body any) *Response {
	c.t.Helper()
	world := c.World
	if world == "" {
		world = clubsim.DemoClientToken
	}
	plain := *c
	plain.Token, plain.World = "", ""
	if c.UpstreamsURL != "" {
		plain.URL = c.UpstreamsURL
	}
	return plain.Do(method, "/sim/"+world+"/_control/"+name, body)
}

func list[T any](c *Client, name string) []T {
	c.t.Helper()
	var read clubsim.Items[T]
	c.Control("GET", name, nil).Into(http.StatusOK, &read)
	return read.Items
}

// Operations lists the names of the club system's calls, without the first ones.
func (c *Client) Operations(skip int) (names []string) {
	c.t.Helper()
	for _, call := range c.Calls()[skip:] {
		names = append(names, call.Operation)
	}
	return names
}

// SMS lists the messages that the club system has sent.
func (c *Client) SMS() []clubsim.SMS {
	c.t.Helper()
	return list[clubsim.SMS](c, "sms")
}

// LatestCode returns the code in the latest message.
func (c *Client) LatestCode() string {
	c.t.Helper()
	sent := c.SMS()
	if len(sent) == 0 {
		c.t.Fatal("no SMS was sent")
	}
	return sent[len(sent)-1].Code
}

// Records are the payments that the club system holds, and its own audit of them.
type Records struct {
	Ledger []clubsim.LedgerEntry
	Audit  clubsim.Audit
}

// Records reads the records of the front end's world.
func (c *Client) Records() (r Records) {
	c.t.Helper()
	r.Ledger = list[clubsim.LedgerEntry](c, "ledger")
	c.Control("GET", "audit", nil).Into(http.StatusOK, &r.Audit)
	return r
}

// ExpectOnePayment fails the test unless the ledger holds one payment of an amount in cents, which settled its sale.
func (r Records) ExpectOnePayment(t TB, amount int64) {
	t.Helper()
	if len(r.Ledger) != 1 || int64(r.Ledger[0].Amount) != amount || r.Ledger[0].OnAccount != 0 {
		t.Errorf("the ledger holds %+v, want one payment of %d cents that settled its sale", r.Ledger, amount)
	}
	if !r.Audit.OK {
		t.Errorf("the audit finds %+v", r.Audit)
	}
}
