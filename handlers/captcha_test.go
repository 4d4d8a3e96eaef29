package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// captchaService verifies challenges: it accepts each response "right …" once.
type captchaService struct {
	*httptest.Server
	asked atomic.Int32
	mu    sync.Mutex
	used  map[string]bool
}

func newCaptchaService(t *testing.T) *captchaService {
	service := &captchaService{used: map[string]bool{}}
	service.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service.asked.Add(1)
		response := r.PostFormValue("response")
		service.mu.Lock()
		defer service.mu.Unlock()
		right := r.PostFormValue("secret") == "the secret" && r.PostFormValue("remoteip") == "127.0.0.1" && len(response) > 5 &&
			response[:5] == "right" && !service.used[response]
		service.used[response] = true
		fmt.Fprintf(w, `{"success": %t}`, right)
	}))
	t.Cleanup(service.Close)
	return service
}

func answered(response string) [2]string { return [2]string{"X-Frontdesk-Challenge", response} }

// TestChallenge: anonymous visitors answer a challenge before a registration starts and before an SMS is sent.
// Each response counts once, and a repeated request needs none.
func TestChallenge(t *testing.T) {
	t.Parallel()
	service := newCaptchaService(t)
	gateway := frontdesktest.Start(t, "FRONTDESK_CAPTCHA_URL="+service.URL, "FRONTDESK_CAPTCHA_SECRET=the secret")
	client := frontdesktest.NewClient(t, gateway.URL)
	key, body := frontdesktest.Key(
		"",
	), `{"clubId":"11","person":`+person+`,"items":[{"offerId":"901","startDate":"2030-01-15","debit":{"day":10}}]}`
	start := func(headers ...[2]string) *frontdesktest.Response {
		return client.Do("POST", "/v1/registrations", body, append(headers, key)...)
	}
	problem := start().Problem(api.ChallengeRequired)
	if problem.Status != http.StatusForbidden || problem.Retry != api.ProblemRetryNever || problem.Then != api.Captcha ||
		pointers(problem) != "header/X-Frontdesk-Challenge" {
		t.Errorf("unexpected: %+v", problem)
	}
	if widget := problem.Challenge; widget == nil || widget.Provider != api.ChallengeProviderOther || widget.SiteKey != nil {
		t.Errorf("the problem tells the page to show %+v", widget)
	}
	start(answered("wrong")).Problem(api.ChallengeRequired)
	if calls := client.Calls(); len(calls) > 0 || service.asked.Load() != 1 {
		t.Errorf("the club system was asked for %+v, the service %d times", calls, service.asked.Load())
	}
	var registration api.Registration
	start(answered("right 1")).Into(http.StatusCreated, &registration)
	replay := start(answered("right 1"))
	if replay.Status != http.StatusCreated || replay.Header.Get("Idempotent-Replayed") != "true" || service.asked.Load() != 2 {
		t.Errorf("sent again: %s", replay.Body)
	}
	key = frontdesktest.Key("")
	start(answered("right 1")).Problem(api.ChallengeRequired)

	client.Token = *registration.Token
	path := "/v1/registrations/" + registration.Id + "/mandate"
	account := map[string]string{"holder": "Ada Martin", "iban": "FR1420041010050500013M02606"}
	client.Do("POST", path, account, frontdesktest.Key("")).Problem(api.ChallengeRequired)
	client.Do("POST", path, account, frontdesktest.Key(""), answered("right 2")).Into(http.StatusCreated, nil)
	client.Do("POST", path+"/signature/resend", nil, frontdesktest.Key("")).Problem(api.ChallengeRequired)
	client.Do("POST", path+"/signature", `{"code":"0000"}`, frontdesktest.Key("")).Problem(api.CodeWrong)
}

// TestChallengeIsForStrangers: staff and identified contacts need no challenge.
func TestChallengeIsForStrangers(t *testing.T) {
	t.Parallel()
	service := newCaptchaService(t)
	gateway := frontdesktest.Start(t, "FRONTDESK_CAPTCHA_URL="+service.URL, "FRONTDESK_CAPTCHA_SECRET=the secret")
	client := frontdesktest.NewClient(t, gateway.URL)
	client.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(""), frontdesktest.StaffKey()).Into(http.StatusCreated, nil)
	var registration api.Registration
	customer := client.As("customer")
	customer.Do("POST", "/v1/registrations", `{"clubId":"11","items":[{"offerId":"901","startDate":"2030-01-15","debit":{"day":10}}]}`,
		frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	customer.Token = *registration.Token
	account := map[string]string{"holder": "Ada Martin", "iban": "FR1420041010050500013M02606"}
	customer.Do("POST", "/v1/registrations/"+registration.Id+"/mandate", account, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	former := client.As("former")
	former.Do("POST", "/v1/me/transfer", `{"clubId":"13"}`, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	if service.asked.Load() != 0 {
		t.Errorf("the service was asked %d times", service.asked.Load())
	}
}

// TestChallengeServiceIsAway: the club keeps selling, and the gateway logs a warning.
func TestChallengeServiceIsAway(t *testing.T) {
	t.Parallel()
	service := newCaptchaService(t)
	service.Close()
	gateway := frontdesktest.Start(t, "FRONTDESK_CAPTCHA_URL="+service.URL, "FRONTDESK_CAPTCHA_SECRET=the secret")
	c := frontdesktest.NewClient(t, gateway.URL)
	c.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key("")).Problem(api.ChallengeRequired)
	c.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(""), answered("whatever")).Into(http.StatusCreated, nil)
	frontdesktest.Eventually(t, "the log tells", func() bool { return strings.Contains(gateway.Log(), "captcha response not verified") })
	if log := gateway.Log(); !strings.Contains(log, "level=WARN") || strings.Contains(log, "the secret") || strings.Contains(log, "whatever") {
		t.Errorf("the log says\n%s", log)
	}
}
