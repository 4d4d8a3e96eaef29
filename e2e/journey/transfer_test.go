package journey_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// Nodes of the simulator: the chain of clubs 11, 12 and 13, and the franchise level above 11 and 12.
const chain, franchise = "1", "2"

// transferVisitor is a logged-in persona in its own world.
type transferVisitor struct {
	visitor
	persona string
}

func newTransferVisitor(t *testing.T, mock *frontdesktest.Process, world, persona string) *transferVisitor {
	t.Helper()
	m := &transferVisitor{visitor{Client: frontdesktest.NewClient(t, mock.URL), t: t}, persona}
	m.World = "demo-move-" + world
	m.logInAs(persona)
	return m
}

func (m *transferVisitor) start(club string, key ...string) *frontdesktest.Response {
	m.t.Helper()
	return m.Do("POST", "/v1/me/transfer", api.NewTransfer{ClubId: club}, namedKey(key))
}

func (m *transferVisitor) sign(code string, key ...string) *frontdesktest.Response {
	m.t.Helper()
	return m.Do("POST", "/v1/me/transfer/signature", api.Signature{Code: code}, namedKey(key))
}

// expectTransfer expects a move in a state, and the contact in a club of the simulator.
func (m *transferVisitor) expectTransfer(response *frontdesktest.Response, state api.SignatureState, club string) (transfer api.Transfer) {
	m.t.Helper()
	response.Into(http.StatusCreated, &transfer)
	if transfer.State != state {
		m.t.Errorf("the move is %s, want %s: %s", transfer.State, state, response.Body)
	}
	m.expectClub(club)
	return transfer
}

func (m *transferVisitor) expectClub(club string) {
	m.t.Helper()
	if got := m.Persona(m.persona).ClubID; !strings.HasSuffix(got, "/clubs/"+club) {
		m.t.Errorf("the contact is of %s, want club %s", got, club)
	}
}

// expectReplay expects the repeated start of a move to show the move as it is now.
func (m *transferVisitor) expectReplay(response *frontdesktest.Response, attemptsLeft int) {
	m.t.Helper()
	var now api.Transfer
	response.Into(http.StatusCreated, &now)
	if response.Header.Get("Idempotent-Replayed") != "true" || frontdesktest.Value(now.AttemptsLeft) != attemptsLeft || now.ResendIn == nil {
		m.t.Errorf("the repetition is answered by %s", response.Body)
	}
}

// expectCodesSent expects the given number of codes in the simulator's outbox.
func (m *transferVisitor) expectCodesSent(want int) {
	m.t.Helper()
	var list clubsim.Items[clubsim.SMS]
	m.Control("GET", "sms", nil).Into(http.StatusOK, &list)
	if len(list.Items) != want {
		m.t.Errorf("%d codes were sent, want %d", len(list.Items), want)
	}
}

// expectSMSLimited expects that no code is sent yet, and that the response says when one can be.
func (m *transferVisitor) expectSMSLimited(response *frontdesktest.Response) {
	m.t.Helper()
	response.Problem(api.SmsLimited)
	if after := number(response.Header.Get("Retry-After")); response.Status != http.StatusTooManyRequests || after < 1 || after > 60 {
		m.t.Errorf("status %d, Retry-After %d", response.Status, after)
	}
}

func (m *transferVisitor) fault(faults ...string) {
	m.t.Helper()
	m.Control("PUT", "faults", "["+strings.Join(faults, ",")+"]").Into(http.StatusOK, nil)
}

// TestTransfer moves a prospect and a former member. Each call acts from the
// nearest node above both clubs, and from no higher one.
func TestTransfer(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	for name, test := range map[string]struct{ persona, from, to, node string }{
		"prospect":            {"prospect", "13", "11", chain},
		"former":              {"former", "12", "13", chain},
		"within a franchisee": {"former", "12", "11", franchise},
	} {
		t.Run(name, func(t *testing.T) {
			visitor := newTransferVisitor(t, mock, strings.ReplaceAll(name, " ", "-"), test.persona)
			visitor.Do("GET", "/v1/me/transfer", nil).Into(http.StatusNoContent, nil)
			started := visitor.expectTransfer(visitor.start(test.to, "one"), api.SignatureAwaitingCode, test.from)
			if started.ClubId != test.to || frontdesktest.Value(started.AttemptsLeft) != 5 || started.ResendIn == nil {
				t.Errorf("it is %+v", started)
			}
			visitor.expectReplay(visitor.start(test.to, "one"), 5)
			visitor.expectSMSLimited(visitor.start(test.to)) // the previous SMS may still arrive
			visitor.sign(frontdesktest.WrongCode(visitor.code())).Problem(api.CodeWrong)
			var seen api.Transfer
			visitor.Do("GET", "/v1/me/transfer", nil).Into(http.StatusOK, &seen)
			if seen.State != api.SignatureAwaitingCode || seen.ClubId != test.to || frontdesktest.Value(seen.AttemptsLeft) != 4 ||
				seen.ResendIn == nil {
				t.Errorf("read again: %+v", seen)
			}
			visitor.expectReplay(visitor.start(test.to, "one"), 4)
			visitor.expectClub(test.from)
			done := visitor.sign(visitor.code(), "two")
			visitor.expectTransfer(done, api.SignatureSigned, test.to)
			visitor.Do("GET", "/v1/me/transfer", nil).Into(http.StatusOK, &seen)
			if seen.State != api.SignatureSigned {
				t.Errorf("in the end: %+v", seen)
			}
			if again := visitor.sign(visitor.code(), "two"); string(again.Body) != string(done.Body) {
				t.Errorf("the repetition is answered by %s", again.Body)
			}
			visitor.expectCodesSent(1)
			acted := 0
			for _, call := range visitor.Calls() {
				if call.Operation == "createContactMigrationRequest" || call.Operation == "transitionSignatureRequest" {
					acted++
					if want := fmt.Sprintf("/%s/network_nodes/%s", visitor.World, test.node); call.NetworkNodeID != want {
						t.Errorf("%s acts from %s, want %s", call.Operation, call.NetworkNodeID, want)
					}
				}
			}
			if acted != 3 {
				t.Errorf("%d calls of a move", acted)
			}
			visitor.Do("GET", "/v1/me", nil).Problem(api.NotIdentified) // the login's token names the old club
			var me api.Me
			visitor.logInAs(test.persona)
			visitor.Do("GET", "/v1/me", nil).Into(http.StatusOK, &me)
			if me.ClubId != test.to {
				t.Errorf("they are of club %s", me.ClubId)
			}
		})
	}
}

// TestTransferRefused checks that contacts who cannot move get no code.
func TestTransferRefused(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	for name, test := range map[string]struct {
		persona, to string
		code        api.ProblemCode
	}{
		"own club":      {"former", "12", api.MigrationClub},
		"another chain": {"former", "21", api.MigrationClub},
		"no such club":  {"former", "999", api.InvalidRequest},
		"customer":      {"customer", "12", api.MigrationContact},
		"banned":        {"banned", "12", api.MigrationContact},
	} {
		visitor := newTransferVisitor(t, mock, "refused-"+strings.ReplaceAll(name, " ", "-"), test.persona)
		problem := visitor.start(test.to).Problem(test.code)
		if test.code == api.InvalidRequest &&
			(len(frontdesktest.Value(problem.Errors)) != 1 || frontdesktest.Place(frontdesktest.Value(problem.Errors)[0]) != "/clubId") {
			t.Errorf("%s: points at %+v", name, problem.Errors)
		}
		visitor.sign("123456").Problem(api.NoCode)
		visitor.expectCodesSent(0)
	}
	anybody := frontdesktest.NewClient(t, mock.URL)
	anybody.Do("POST", "/v1/me/transfer", api.NewTransfer{ClubId: "11"}, frontdesktest.Key("")).Problem(api.NotIdentified)
}

// TestTransferCodes covers five wrong codes, and an expired one.
func TestTransferCodes(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	blocked := newTransferVisitor(t, mock, "blocked", "former")
	blocked.expectTransfer(blocked.start("13"), api.SignatureAwaitingCode, "12")
	for range 4 {
		blocked.sign(frontdesktest.WrongCode(blocked.code())).Problem(api.CodeWrong)
	}
	blocked.sign(frontdesktest.WrongCode(blocked.code())).Problem(api.CodeBlocked)

	old := newTransferVisitor(t, mock, "old", "former")
	old.expectTransfer(old.start("13"), api.SignatureAwaitingCode, "12")
	old.Control("PUT", "clock", `{"advance":"PT11M"}`).Into(http.StatusOK, nil)
	old.Token = old.Persona("former").IdentityToken // the former one has expired too
	old.sign(old.code()).Problem(api.CodeExpired)

	for _, m := range []*transferVisitor{blocked, old} {
		m.sign(m.code()).Problem(api.NoCode) // even the right one
		m.expectClub("12")
		m.expectCodesSent(1)
	}
	blocked.expectSMSLimited(blocked.start("13"))
	old.expectTransfer(old.start("13"), api.SignatureAwaitingCode, "12") // the wait for another code is over as well
}

// TestTransferCallsFail makes each call of a move fail. A contact who may have got an SMS gets no
// second one for it, and the move can be finished.
func TestTransferCallsFail(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	request := `"match":{"method":"POST","path":"/contact_migration_requests"}`
	transition := `"match":{"method":"POST","path":"/signature_requests/*/transitions"}`
	look := `{"match":{"method":"GET","path":"/contacts/*"},"kind":"error_before"}`
	for _, kind := range []string{"error_before", "error_after", "drop_after"} {
		done, sent, shown := true, 1, "13" // what the failed call has done
		if kind == "error_before" {
			done, sent, shown = false, 0, "12"
		}
		once := func(match string) string { return fmt.Sprintf(`{%s,"kind":%q,"times":1}`, match, kind) }
		t.Run("contact "+kind, func(t *testing.T) {
			visitor := newTransferVisitor(t, mock, "contact-"+kind, "former")
			visitor.fault(fmt.Sprintf(`{"match":{"method":"GET","path":"/contacts/*"},"kind":%q}`, kind))
			expectPart(t, visitor.start("13", "same"), "contact could not be read", "")
			visitor.expectCodesSent(0)
			visitor.fault()
			visitor.expectTransfer(visitor.start("13", "same"), api.SignatureAwaitingCode, "12")
			visitor.expectCodesSent(1)
		})
		t.Run("code "+kind, func(t *testing.T) {
			visitor := newTransferVisitor(t, mock, "code-"+kind, "former")
			visitor.fault(once(request))
			visitor.expectTransfer(visitor.start("13", "same"), api.SignatureNoCode, "12")
			visitor.start("13", "same").Into(http.StatusCreated, nil) // a repeated request does nothing
			visitor.expectSMSLimited(visitor.start("13"))
			visitor.sign("123456").Problem(api.NoCode)
			visitor.expectCodesSent(sent)
		})
		t.Run("signature "+kind, func(t *testing.T) {
			visitor := newTransferVisitor(t, mock, "signature-"+kind, "former")
			visitor.expectTransfer(visitor.start("13"), api.SignatureAwaitingCode, "12")
			visitor.fault(once(transition))
			first := visitor.sign(visitor.code(), "same")
			if !done {
				expectPart(t, first, "code could not be checked", "")
				visitor.expectClub("12")
			}
			visitor.expectTransfer(visitor.sign(visitor.code(), "same"), api.SignatureSigned, "13")
			visitor.expectCodesSent(1)
		})
		t.Run("signature, time and again "+kind, func(t *testing.T) {
			visitor := newTransferVisitor(t, mock, "again-"+kind, "former")
			visitor.expectTransfer(visitor.start("13"), api.SignatureAwaitingCode, "12")
			visitor.fault(fmt.Sprintf(`{%s,"kind":%q}`, transition, kind))
			for range 7 {
				visitor.sign(visitor.code(), "same")
			}
			visitor.fault()
			visitor.expectTransfer(visitor.sign(visitor.code(), "same"), api.SignatureSigned, "13")
			visitor.expectCodesSent(1)
		})
		t.Run("signature and look "+kind, func(t *testing.T) {
			visitor := newTransferVisitor(t, mock, "look-"+kind, "former")
			visitor.expectTransfer(visitor.start("13"), api.SignatureAwaitingCode, "12")
			visitor.fault(once(transition), look)
			visitor.expectTransfer(visitor.sign(visitor.code()), api.SignatureUnconfirmed, shown)
			visitor.fault()
			visitor.expectTransfer(visitor.sign(visitor.code()), api.SignatureSigned, "13")
			visitor.expectCodesSent(1)
		})
	}
}
