package journey_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestSignatureCalls loses each call of the signature in each way, and continues from there.
func TestSignatureCalls(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(d *debtor, kind string){
		"mandate": loseMandate, "code": loseCode, "signature": loseSignature, "cancel": loseCancel,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDebtor(t)
			for _, kind := range []string{"error_before", "error_after", "drop_after", "hang", "malformed", "too_many", "unauthorized_once"} {
				t.Run(kind, func(t *testing.T) { lose(d.again(t), kind) })
			}
		})
	}
}

// failed expects the response to say that the club system failed.
func (d *debtor) failed(response *frontdesktest.Response) {
	d.t.Helper()
	if !strings.Contains(string(response.Body), `"club_system_`) || response.Status < http.StatusInternalServerError {
		d.t.Errorf("status %d: %s", response.Status, response.Body)
	}
}

// loseMandate: no code is sent while it is unknown whether the mandate exists. The same request
// continues the signature.
func loseMandate(payer *debtor, kind string) {
	wish, codes := api.NewMandate{Holder: "Ada", Iban: frontdesktest.GoodIBAN}, len(payer.upstreams.Sim.SMS())
	payer.fault(kind, "POST", "/mandates")
	if response := payer.post("/mandate", wish, "lost "+payer.id); kind != "unauthorized_once" { // this call is repeated
		payer.failed(response)
		payer.sent(codes)
		payer.answered(payer.post("/mandate", wish, "lost "+payer.id), api.SignatureAwaitingCode)
	}
	payer.sent(codes + 1)
	payer.answered(payer.post("/mandate/signature", api.Signature{Code: payer.code()}), api.SignatureSigned)
}

// loseCode: a visitor who may have got an SMS gets no second one before the interval is over.
func loseCode(payer *debtor, kind string) {
	codes := len(payer.upstreams.Sim.SMS())
	payer.fault(kind, "POST", "/signature_requests")
	if kind == "unauthorized_once" {
		payer.mandate(api.SignatureAwaitingCode)
		return
	}
	payer.mandate(api.SignatureNoCode)
	payer.post("/mandate/signature", api.Signature{Code: "123456"}).Problem(api.NoCode)
	payer.post("/mandate/signature/resend", nil).Problem(api.SmsLimited)
	if sent := len(payer.upstreams.Sim.SMS()) - codes; sent > 1 {
		payer.t.Errorf("%d codes were sent", sent)
	}
	payer.expectRecovery()
}

// loseSignature: the mandate itself shows whether it is signed.
func loseSignature(payer *debtor, kind string) {
	payer.mandate(api.SignatureAwaitingCode)
	payer.fault(kind, "POST", "/signature_requests/*/transitions")
	response := payer.post("/mandate/signature", api.Signature{Code: payer.code()}, "lost "+payer.id)
	done := kind == "error_after" || kind == "drop_after" || kind == "malformed" || kind == "unauthorized_once"
	if !done {
		payer.failed(response)
		if m := payer.read().Mandate; m.State != api.SignatureAwaitingCode || frontdesktest.Value(m.AttemptsLeft) != 4 {
			payer.t.Errorf("not signed: %+v", m)
		}
		response = payer.post("/mandate/signature", api.Signature{Code: payer.code()}, "lost "+payer.id)
	}
	payer.answered(response, api.SignatureSigned)
}

// TestRepeatedCode checks that while the club system fails, a code is one attempt, however often and by
// whichever request it is entered. Another code is another attempt. The last one can be entered again
// until its effect is known.
func TestRepeatedCode(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	debtor.mandate(api.SignatureAwaitingCode)
	debtor.faults(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/signature_requests/*/transitions"}, Kind: "error_before"})
	enter := func(code, key string, left int) {
		t.Helper()
		debtor.failed(debtor.post("/mandate/signature", api.Signature{Code: code}, key))
		r := debtor.read() // which may find out that the code did not sign
		entered := r.Mandate.State == api.SignatureUnconfirmed || r.Mandate.State == api.SignatureAwaitingCode
		if !entered || frontdesktest.Value(r.Mandate.AttemptsLeft) != left || !strings.HasPrefix(actions(r), "sign ") {
			t.Errorf("%s by %q: %+v, %s; want %d attempts left", code, key, r.Mandate, actions(r), left)
		}
	}
	guess := debtor.code()
	for range 7 {
		enter(guess, "the same", 4)
	}
	enter(guess, "", 4)
	for _, left := range []int{3, 2, 1, 1} {
		guess = frontdesktest.WrongCode(guess)
		enter(guess, "", left)
		enter(guess, "", left)
	}
	debtor.post("/mandate/signature", api.Signature{Code: frontdesktest.WrongCode(guess)}).Problem(api.NoCode)
	debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}).Problem(api.NoCode) // another code than the last
	debtor.faults()
	debtor.post("/mandate/signature", api.Signature{Code: guess}).Problem(api.CodeBlocked)
	debtor.sent(1)
}

// TestLastCodeRepeated checks that the right code signs, although its first response was lost and four
// wrong ones came before.
func TestLastCodeRepeated(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	debtor.mandate(api.SignatureAwaitingCode)
	for range 4 {
		debtor.post("/mandate/signature", api.Signature{Code: frontdesktest.WrongCode(debtor.code())}).Problem(api.CodeWrong)
	}
	debtor.fault("error_before", "POST", "/signature_requests/*/transitions")
	debtor.failed(debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}, "the same"))
	debtor.answered(debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}, "the same"), api.SignatureSigned)
	debtor.sent(1)
}

// faults sets the faults of the club system; none without arguments.
func (d *debtor) faults(faults ...clubsim.Fault) {
	d.t.Helper()
	if err := d.upstreams.Sim.SetFaults(faults); err != nil {
		d.t.Fatal(err)
	}
}

// loseCancel: the code no longer signs anything, whatever the club system knows of it.
func loseCancel(payer *debtor, kind string) {
	payer.mandate(api.SignatureAwaitingCode)
	payer.fault(kind, "POST", "/signature_requests/*/transitions")
	payer.Do("DELETE", payer.path+"/mandate/signature", nil).Into(http.StatusOK, nil)
	if m := payer.read().Mandate; m.State != api.SignatureCancelled {
		payer.t.Errorf("cancelled: %+v", m)
	}
	payer.post("/mandate/signature", api.Signature{Code: payer.code()}).Problem(api.NoCode)
}

// TestUnconfirmedSignature checks that the cart cannot be paid while it is unknown whether a code
// signed, and that the mandate is neither cancelled nor replaced. Reading the registration checks the code once
// that is possible.
func TestUnconfirmedSignature(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	debtor.mandate(api.SignatureAwaitingCode)
	frontdesktest.Must(t, debtor.upstreams.Sim.SetFaults([]clubsim.Fault{
		{Match: clubsim.FaultMatch{Method: "POST", Path: "/signature_requests/*/transitions"}, Kind: "drop_after"},
		{Match: clubsim.FaultMatch{Method: "GET", Path: "/mandates/*"}, Kind: "error_before"},
	}))
	debtor.answered(debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}), api.SignatureUnconfirmed)
	debtor.post("/payment", `{"method":"card"}`).Problem(api.ClubSystemUnavailable)
	debtor.Do("DELETE", debtor.path+"/mandate/signature", nil).Problem(api.ClubSystemUnavailable)
	debtor.post("/mandate/signature/resend", nil).Problem(api.ClubSystemUnavailable)
	debtor.post("/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}).Problem(api.ClubSystemUnavailable)
	debtor.upstreams.Sim.SetFaults(nil)
	frontdesktest.Eventually(t, "the signature is known", func() bool { return debtor.read().Mandate.State == api.SignatureSigned })
	debtor.sent(1)
	if got := actions(debtor.read()); !strings.HasPrefix(got, "pay ") {
		t.Errorf("one can %s", got)
	}
}

// expectRecovery expects the mandate to say what the visitor can do.
func (d *debtor) expectRecovery() {
	d.t.Helper()
	if shown := d.read(); shown.Mandate.ResendIn == nil || !strings.HasPrefix(shown.Message.Code, "signature_") {
		d.t.Errorf("nothing says what can be done: %+v; %+v", shown.Mandate, shown.Message)
	}
}

// again returns another visitor of the same gateway, with the caps reset.
func (d *debtor) again(t *testing.T) *debtor {
	t.Helper()
	other := *d
	other.t, other.Client = t, d.WithT(t)
	d.upstreams.Sim.SetFaults(nil)
	other.later()
	other.register()
	return &other
}
