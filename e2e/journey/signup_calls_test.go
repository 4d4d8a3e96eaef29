package journey_test

import (
	"net/http"
	"slices"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// stepCalls are the calls to the club system that one step of a signup makes.
type stepCalls struct {
	step  string
	calls []string
}

// signup is a visitor whose calls to the club system are noted step by step.
type signup struct {
	*visitor
	steps []stepCalls
	seen  int
}

func newSignup(t *testing.T) *signup {
	t.Helper()
	client, _ := frontdesktest.NewWorld(t)
	client.Control(http.MethodPut, "settings", `{"webhookUrl": ""}`).Into(http.StatusOK, nil)
	client.Do(http.MethodGet, "/v1/clubs/11/products", nil).Into(http.StatusOK, nil)
	return &signup{visitor: &visitor{Client: client, t: t}, seen: len(client.Calls())}
}

func (s *signup) after(step string, do func()) {
	s.t.Helper()
	do()
	calls := s.Operations(s.seen)
	s.seen += len(calls)
	slices.Sort(calls)
	s.steps = append(s.steps, stepCalls{step, calls})
}

// TestSignupCalls: what a whole signup asks of the club system, whose calls are limited. docs/explanation/performance.md says why each
// call is made.
func TestSignupCalls(t *testing.T) {
	t.Parallel()
	start := []string{"addArticle", "checkSale", "createContact", "createSale", "getSale"}
	reading, card := []string{"checkSale", "getSale", "listOffers"}, []string{"checkSale", "createPayment", "getAccountStatistics", "getSale"}
	for name, journey := range map[string]struct {
		run   func(s *signup)
		steps []stepCalls
		total int
	}{
		"card": {
			func(s *signup) {
				s.after("start", s.start(cardOnlyOffer))
				s.payByCard()
			},
			[]stepCalls{{"start", start}, {"payment", reading}, {"card", card}, {"read", nil}},
			12,
		},
		"direct debit": {
			func(s *signup) {
				s.get("/v1/clubs/11/debit-days?startDate=2031-03-01")()
				s.seen = len(s.Calls())
				s.after("start", s.startWith([]api.NewItem{frontdesktest.DebitItem("2031-03-01")}))
				s.after("mandate", s.mandate())
				s.after("signature", func() { s.post(s.path+"/mandate/signature", api.Signature{Code: s.code()}, http.StatusCreated)() })
				s.payByCard()
			},
			[]stepCalls{
				{"start", start},
				{"mandate", []string{"createMandate", "createSignatureRequest", "getContact"}},
				{"signature", []string{"checkSale", "getSale", "transitionSignatureRequest"}},
				{"payment", reading},
				{"card", card},
				{"read", nil},
			},
			18,
		},
		"free": {
			func(s *signup) {
				s.after("start", s.start(frontdesktest.FreeTrial))
				s.after("payment", s.pay(map[string]string{"method": "free"}))
				s.after("read", s.get(s.path))
			},
			[]stepCalls{
				{"start", start},
				{"payment", []string{"checkSale", "checkSale", "getAccountStatistics", "getSale", "getSale", "listOffers", "transitionSale"}},
				{"read", nil},
			},
			12,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signup := newSignup(t)
			journey.run(signup)
			total := 0
			for i, step := range signup.steps {
				total += len(step.calls)
				if want := journey.steps[i]; step.step != want.step || !slices.Equal(step.calls, want.calls) {
					t.Errorf("%s makes the calls %v, want %v", step.step, step.calls, want.calls)
				}
			}
			if total != journey.total || signup.Registration(signup.id).State != api.Completed {
				t.Errorf("%d calls, want %d", total, journey.total)
			}
			if records := signup.Records(); !records.Audit.OK {
				t.Errorf("the audit finds %+v", records.Audit)
			}
		})
	}
}

// payByCard pays, and waits until the payment is recorded.
func (s *signup) payByCard() {
	var payment api.Payment
	s.after("payment", func() { payment = s.Pay(s.id) })
	s.after("card", func() {
		s.Confirm(payment, frontdesktest.ApprovedCard)
		s.Await(s.id, api.Completed)
	})
	s.after("read", s.get(s.path))
}
