package handlers_test

import (
	"net/http"
	"slices"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestSequenceNeverFalls follows a registration through two payments: each change has a higher sequence, in any language.
func TestSequenceNeverFalls(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	seen := []int64{registration.Sequence}
	for range 2 {
		var paying, back api.Registration
		client.RequestPayment(registration.Id, `{"method":"card"}`).Into(http.StatusCreated, &paying)
		client.Do("DELETE", path+"/payment", nil).Into(http.StatusOK, &back)
		seen = append(seen, paying.Sequence, back.Sequence)
	}
	if !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
		t.Errorf("the sequences are %v", seen)
	}
	var french api.Registration
	client.Do("GET", path, nil, [2]string{"Accept-Language", "fr"}).Into(http.StatusOK, &french)
	if now := client.Registration(registration.Id); french.Sequence != now.Sequence || french.Version == now.Version {
		t.Errorf("in French it is %d, %s; in English %d, %s", french.Sequence, french.Version, now.Sequence, now.Version)
	}
}

// TestReplayShowsThePresent: a repeated POST shows the cart as it is, not as it made it; so does a refusal.
func TestReplayShowsThePresent(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	path, key := "/v1/registrations/"+registration.Id, frontdesktest.Key("")
	add := func() (added api.Registration) {
		client.Do("POST", path+"/items", api.NewItem{OfferId: "2501"}, key).Into(http.StatusCreated, &added)
		return added
	}
	full := add()
	var empty api.Registration
	client.Do("DELETE", path+"/items", nil).Into(http.StatusOK, &empty)
	if replay := add(); len(replay.Cart.Items) != 0 || replay.Sequence != empty.Sequence || replay.Sequence <= full.Sequence {
		t.Errorf("the replay shows %+v, at %d of %d", replay.Cart, replay.Sequence, empty.Sequence)
	}
	body := `{"method":"card","cart":"` + full.Cart.Revision + `"}`
	pay := func() *api.Registration {
		return client.RequestPayment(registration.Id, body).Problem(api.CartEmpty).Registration
	}
	if refused := pay(); refused == nil || refused.Sequence < empty.Sequence || refused.Step != api.StepItems {
		t.Errorf("the refusal carries %+v", refused)
	}
}

// TestVersionFollowsSequence: a registration that is as it was before two changes has another version, because a response to the first
// change may still be on its way: a client would take that for the newest.
func TestVersionFollowsSequence(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	client.Do("DELETE", path+"/items", nil).Into(http.StatusOK, &registration)
	client.Do("POST", path+"/items", api.NewItem{OfferId: "2501"}, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	client.Do("DELETE", path+"/items", nil).Into(http.StatusOK, nil)
	known := [2]string{"If-None-Match", `"` + registration.Version + `"`}
	if now := client.Do("GET", path, nil, known); now.Status != http.StatusOK {
		t.Errorf("the version of an earlier sequence is answered with %d", now.Status)
	}
}

// TestRefusalCarriesTheRegistration: a write that the registration refuses shows it as it is, whether the write has a key or not.
func TestRefusalCarriesTheRegistration(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	client.Pay(registration.Id)
	for _, headers := range [][][2]string{nil, {frontdesktest.Key("")}} {
		for _, write := range []request{
			{method: "DELETE", path: path + "/items"},
			{method: "DELETE", path: path + "/items/" + registration.Cart.Items[0].Id},
			{method: "PUT", path: path + "/person", body: person},
			{method: "PATCH", path: path + "/person", body: `{"givenName":"Ida"}`},
		} {
			problem := client.Do(write.method, write.path, write.body, headers...).Problem(api.CartFrozen)
			if now := problem.Registration; now == nil || now.Step != api.StepAtProcessor {
				t.Errorf("%s %s carries %+v", write.method, write.path, now)
			}
		}
	}
}
