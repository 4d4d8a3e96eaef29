package registration_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"frontdesk/e2e/flowstest"
	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/flows/store"
)

// TestNothingIsReadableInRedis runs a whole journey and searches all of Redis after each step.
func TestNothingIsReadableInRedis(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	ctx := t.Context()
	token := ""
	search := func(when string) {
		t.Helper()
		secrets := []string{
			visitor.GivenName, visitor.FamilyName, visitor.BirthDate, visitor.Email, visitor.Mobile, visitor.Street, "98765432",
			"/demo/", "clubs/11", "sales/5", "Quarter Pass", "PARIS11", goodCard,
		}
		if token != "" {
			secrets = append(secrets, token)
		}
		all := world.everything()
		if len(all) == 0 {
			t.Fatalf("%s Redis is empty", when)
		}
		for key, value := range all {
			for _, secret := range secrets {
				if strings.Contains(key+"\n"+value, secret) {
					t.Errorf("%s %q is in %s: %q", when, secret, key, value)
				}
			}
		}
	}
	world.Journal.Listen(func(_ flows.PaymentID, m flowstest.Move) { search("at " + string(m.To)) })

	view, token, err := gateway.Registrations.Start(ctx, registration.StartRequest{
		ClientToken: "demo",
		ClubID:      "11",
		Channel:     "web",
		Person:      &visitor,
		Items:       []flows.NewItem{{OfferID: "201", StartDate: world.Clock.Now().Format("2006-01-02")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	response := store.Response{
		Status: 201,
		Header: map[string]string{"Location": "/v1/registrations/" + view.ID},
		Body:   []byte(`{"token":"` + token + `"}`),
	}
	if _, _, err := gateway.Store.BeginRequest(ctx, token, "key", "print", "owner"); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Store.SaveResponse(ctx, token, "key", "owner", response, store.KeepResponse); err != nil {
		t.Fatal(err)
	}
	search("after the start")
	payment, err := gateway.PayWith(ctx, view.ID, token, flows.StartPayment{Method: "card"})
	if err != nil {
		t.Fatal(err)
	}
	world.Confirm(payment, goodCard)
	world.Handle(gateway, flowstest.Event(payment))
	if _, err := gateway.Registrations.Get(ctx, view.ID, token); err != nil {
		t.Fatal(err)
	}
	search("with the queue full")
	payment = world.Advance(gateway, payment)
	if payment.State != flows.Recorded {
		t.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	if _, err := gateway.Registrations.Get(ctx, view.ID, token); err != nil {
		t.Fatal(err)
	}
	search("in the end")
	text := world.Journal.String()
	for _, secret := range []string{visitor.FamilyName, visitor.Email, token, "/demo/"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

// everything returns all of Redis as text.
func (w *world) everything() map[string]string {
	ctx := context.Background()
	all := map[string]string{}
	for _, key := range w.Redis.Keys(ctx, "*").Val() {
		switch kind := w.Redis.Type(ctx, key).Val(); kind {
		case "hash":
			all[key] = fmt.Sprint(w.Redis.HGetAll(ctx, key).Val())
		case "zset":
			all[key] = fmt.Sprint(w.Redis.ZRangeWithScores(ctx, key, 0, -1).Val())
		case "set":
			all[key] = fmt.Sprint(w.Redis.SMembers(ctx, key).Val())
		case "list":
			all[key] = fmt.Sprint(w.Redis.LRange(ctx, key, 0, -1).Val())
		case "string":
			all[key] = w.Redis.Get(ctx, key).Val()
		case "none": // it has just expired
		default:
			w.Errorf("%s is a %s, which is not looked into", key, kind)
		}
	}
	return all
}
