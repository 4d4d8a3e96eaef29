package oldsandbox_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

func TestCreate(t *testing.T) {
	b := newTestEnv(t)
	p := b.create()
	want := cards.Payment{
		ID: p.ID, State: cards.RequiresAction, Amount: 4990, Currency: "EUR", CreatedAt: b.clock.Now(),
		Metadata: map[string]string{"fd_sale": "s1"}, RedirectURL: b.url + "/payments/" + p.ID,
	}
	if p.ID == "" || !reflect.DeepEqual(p, want) {
		t.Errorf("created %+v, want %+v", p, want)
	}
	if got := b.get(p.ID); !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, want %+v", got, want)
	}
	if b.client.Name() != "sandbox" {
		t.Errorf("name %q", b.client.Name())
	}
}

// Every call in every state: calls that the table does not allow are refused, and a refusal changes nothing.
func TestStatesAndCalls(t *testing.T) {
	allowed := map[string][]string{
		"requires_action": {"cancel", "annotate", "confirm"},
		"challenge":       {"cancel", "annotate", "confirm", "challenge"},
		"declined":        {"cancel", "annotate", "confirm"},
		"authorised":      {"cancel", "annotate", "capture"},
		"captured":        {"refund", "annotate"},
		"partly refunded": {"refund", "annotate"},
		"refunded":        {"annotate"},
		"cancelled":       {"annotate"},
	}
	b := newTestEnv(t)
	calls := verbs()
	calls["confirm"] = func(_ context.Context, _ *oldsandbox.Client, _, id string) (cards.Payment, error) {
		return cards.Payment{}, asError(b.confirm(id, emptyCard))
	}
	calls["challenge"] = func(_ context.Context, _ *oldsandbox.Client, _, id string) (cards.Payment, error) {
		return cards.Payment{}, asError(b.challenge(id, true))
	}
	for state, can := range allowed {
		for name, call := range calls {
			before := b.in(state)
			_, err := call(t.Context(), b.client, b.key(), before.ID)
			what := fmt.Sprintf("%s of a payment that is %s", name, state)
			if strings.Contains(strings.Join(can, " "), name) {
				wantErr(t, what, err, nil)
				continue
			}
			wantErr(t, what, err, cards.ErrState)
			if after := b.get(before.ID); !reflect.DeepEqual(before, after) {
				t.Errorf("%s was refused and changed it from %+v to %+v", what, before, after)
			}
		}
	}
}

// asError returns the response to a buyer as the error that the client would return.
func asError(r reply) error {
	switch {
	case r.status == http.StatusOK:
		return nil
	case r.status == http.StatusConflict && r.wireError().Type == "state_error":
		return cards.ErrState
	}
	return fmt.Errorf("status %d: %s", r.status, r.body)
}

func TestCards(t *testing.T) {
	b := newTestEnv(t)
	for _, c := range []struct {
		card, declineCode string
		state             cards.State
		challenge         bool
	}{
		{card: goodCard, state: cards.Authorised},
		{card: "4242 4242 4242\u00a04242", state: cards.Authorised},
		{card: declinedCard, state: cards.Declined, declineCode: "card_declined"},
		{card: emptyCard, state: cards.Declined, declineCode: "insufficient_funds"},
		{card: challengeCard, state: cards.RequiresAction, challenge: true},
		{card: "5555555555554444", state: cards.Declined, declineCode: "card_declined"}, // a valid number, but no test card
	} {
		p := b.create()
		r := b.confirm(p.ID, c.card)
		got := r.payment()
		if r.status != http.StatusOK || got.State != c.state || got.DeclineCode != c.declineCode || got.Challenge != c.challenge {
			t.Errorf("%s: status %d, %+v", c.card, r.status, got)
		}
	}
	for _, number := range []string{"", "4242424242424241", "4242", "4242-4242-4242-4242", "42424242424242424242", "abcdefghijklmnop"} {
		p := b.create()
		r := b.confirm(p.ID, number)
		if r.status != http.StatusBadRequest || r.wireError().Code != "invalid_number" || b.get(p.ID).State != cards.RequiresAction {
			t.Errorf("%q: status %d, %s", number, r.status, r.body)
		}
	}
}

func TestAnotherCardAfterADecline(t *testing.T) {
	b := newTestEnv(t)
	p := b.in("declined")
	if p.DeclineCode != "card_declined" {
		t.Fatalf("declined with %q", p.DeclineCode)
	}
	if r := b.merchant("/payments/"+p.ID+"/capture", b.key(), `{"amount":4990}`); r.wireError().DeclineCode != "card_declined" {
		t.Errorf("capturing a declined payment answered %s", r.body)
	}
	b.confirm(p.ID, goodCard)
	if p = b.get(p.ID); p.State != cards.Authorised || p.DeclineCode != "" {
		t.Errorf("after a good card: %+v", p)
	}
}

func TestChallenge(t *testing.T) {
	b := newTestEnv(t)
	refused := b.in("challenge")
	b.challenge(refused.ID, false)
	if p := b.get(refused.ID); p.State != cards.Declined || p.DeclineCode != "authentication_failed" {
		t.Errorf("refused: %+v", p)
	}
	approved := b.in("challenge")
	r := b.challenge(approved.ID, true)
	if p := r.payment(); p.State != cards.Authorised || p.Challenge {
		t.Errorf("approved: %s", r.body)
	}
	for _, body := range []string{`{}`, `{"approve":"yes"}`, `{"approve":true,"card":"x"}`, ``} {
		if r := b.send(http.MethodPost, "/payments/"+approved.ID+"/challenge", body); r.status != http.StatusBadRequest {
			t.Errorf("challenge with %s: status %d", body, r.status)
		}
	}
}

func TestDoubleClicksChangeNothing(t *testing.T) {
	b := newTestEnv(t)
	twice := func(what string, click func() reply) {
		t.Helper()
		first, second := click(), click()
		if first.status != http.StatusOK || second.status != http.StatusOK || string(first.body) != string(second.body) {
			t.Errorf("%s: %d %s, then %d %s", what, first.status, first.body, second.status, second.body)
		}
	}
	paid, asked, refused := b.create(), b.create(), b.in("challenge")
	twice("pay", func() reply { return b.confirm(paid.ID, goodCard) })
	twice("pay with a card that is asked for", func() reply { return b.confirm(asked.ID, challengeCard) })
	twice("approve", func() reply { return b.challenge(asked.ID, true) })
	twice("refuse", func() reply { return b.challenge(refused.ID, false) })
	if r := b.confirm(paid.ID, challengeCard); r.status != http.StatusConflict || r.wireError().Message == "" {
		t.Errorf("another card on an authorised payment: %d %s", r.status, r.body)
	}
}

func TestCaptureInFull(t *testing.T) {
	b := newTestEnv(t)
	p := b.in("authorised")
	for amount, code := range map[int64]string{4991: "amount_too_large", 4989: "amount_too_small", 0: "invalid_amount", -1: "invalid_amount"} {
		_, err := b.client.Capture(t.Context(), b.key(), p.ID, amount)
		wantErr(t, fmt.Sprintf("capture of %d", amount), err, cards.ErrRefused)
		if err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("capture of %d: %v, want %s", amount, err, code)
		}
	}
	got, err := b.client.Capture(t.Context(), b.key(), p.ID, 4990)
	if err != nil || got.State != cards.Captured || got.Captured != 4990 {
		t.Errorf("captured %+v, %v", got, err)
	}
}

func TestRefundsAddUp(t *testing.T) {
	b := newTestEnv(t)
	p := b.in("captured")
	refund := func(amount int64) (cards.Payment, error) {
		return b.client.Refund(t.Context(), b.key(), p.ID, amount)
	}
	got, err := refund(990)
	if err != nil || got.State != cards.Captured || got.Refunded != 990 || got.Captured != 4990 {
		t.Errorf("first part: %+v, %v", got, err)
	}
	_, err = refund(4001)
	wantErr(t, "more than what is left", err, cards.ErrRefused)
	got, err = refund(4000)
	if err != nil || got.State != cards.Refunded || got.Refunded != 4990 {
		t.Errorf("the rest: %+v, %v", got, err)
	}
}

func TestMetadata(t *testing.T) {
	b := newTestEnv(t)
	p := b.create()
	annotate := func(metadata map[string]string) (cards.Payment, error) {
		return b.client.UpdateMetadata(t.Context(), b.key(), p.ID, metadata)
	}
	got, err := annotate(map[string]string{"fd_post_1": "a", "fd_sale": "s2"})
	want := map[string]string{"fd_post_1": "a", "fd_sale": "s2"}
	if err != nil || !maps.Equal(got.Metadata, want) {
		t.Errorf("merged into %v, %v", got.Metadata, err)
	}
	got, err = annotate(map[string]string{"fd_sale": ""})
	if _, kept := got.Metadata["fd_sale"]; err != nil || kept {
		t.Errorf("an empty value left %v, %v", got.Metadata, err)
	}
	if got, err = annotate(map[string]string{strings.Repeat("ä", 40): strings.Repeat("ä", 500)}); err != nil || len(got.Metadata) != 2 {
		t.Errorf("the longest key and value: %v, %v", got.Metadata, err)
	}
	many := map[string]string{}
	for i := range 49 {
		many[fmt.Sprintf("k%d", i)] = "v"
	}
	for what, metadata := range map[string]map[string]string{
		"a long key": {strings.Repeat("k", 41): "v"}, "a long value": {"k": strings.Repeat("v", 501)},
		"an empty key": {"": "v"}, "nothing": {}, "a 51st key": many,
	} {
		_, err := annotate(metadata)
		wantErr(t, what, err, cards.ErrRefused)
	}
	if got = b.get(p.ID); len(got.Metadata) != 2 {
		t.Errorf("refused metadata left %v", got.Metadata)
	}
}

func TestCreateRefuses(t *testing.T) {
	b := newTestEnv(t)
	long := strings.Repeat("x", 3000)
	for body, code := range map[string]string{
		`{"amount":0,"currency":"EUR"}`:                                                      "invalid_amount",
		`{"amount":-1,"currency":"EUR"}`:                                                     "invalid_amount",
		`{"currency":"EUR"}`:                                                                 "invalid_amount",
		`{"amount":1,"currency":"EUR"}`:                                                      "amount_too_small",
		`{"amount":49,"currency":"EUR"}`:                                                     "amount_too_small",
		`{"amount":100000000,"currency":"EUR"}`:                                              "amount_too_large",
		`{"amount":49.9,"currency":"EUR"}`:                                                   "invalid_body",
		`{"amount":"4990","currency":"EUR"}`:                                                 "invalid_body",
		`{"amount":4990,"currency":"eur"}`:                                                   "invalid_currency",
		`{"amount":4990,"currency":"EURO"}`:                                                  "invalid_currency",
		`{"amount":4990}`:                                                                    "invalid_currency",
		`{"amount":4990,"currency":"EUR","captureMethod":"auto"}`:                            "invalid_body",
		`{"amount":4990,"currency":"EUR"} {}`:                                                "invalid_body",
		`{"amount":4990,"currency":"EUR","metadata":{"a":1}}`:                                "invalid_body",
		`{"amount":4990,"currency":"EUR","description":"two\nlines"}`:                        "invalid_description",
		`{"amount":4990,"currency":"EUR","description":"` + strings.Repeat("é", 501) + `"}`:  "invalid_description",
		`{"amount":4990,"currency":"EUR","returnUrl":"/thanks"}`:                             "invalid_url",
		`{"amount":4990,"currency":"EUR","returnUrl":"javascript:alert(1)"}`:                 "invalid_url",
		`{"amount":4990,"currency":"EUR","returnUrl":"https://user:secret@club.example/"}`:   "invalid_url",
		`{"amount":4990,"currency":"EUR","returnUrl":"https://club.example;script-src/"}`:    "invalid_url",
		`{"amount":4990,"currency":"EUR","returnUrl":"https://club.example/` + long + `"}`:   "invalid_url",
		`{"amount":4990,"currency":"EUR","webhookUrl":"ftp://club.example/hooks"}`:           "invalid_url",
		`{"amount":4990,"currency":"EUR","metadata":{"` + strings.Repeat("k", 41) + `":""}}`: "invalid_metadata",
		`[]`: "invalid_body",
		``:   "invalid_body",
	} {
		r := b.merchant("/payments", b.key(), body)
		if r.status != http.StatusBadRequest || r.wireError().Code != code || r.wireError().Type != "invalid_request" {
			t.Errorf("%.80s: status %d, %s; want %s", body, r.status, r.body, code)
		}
	}
	if held := b.server.Payments(); len(held) != 0 {
		t.Errorf("refused requests left %+v", held)
	}
}
