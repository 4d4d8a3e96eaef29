package journey_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestEndSession checks that a device that ends its session loses access, the others keep theirs, and
// the payment continues.
func TestEndSession(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	other, _ := resume(t, client, registration.Id)
	stranger := *client
	stranger.Token = ""
	stranger.Do("DELETE", path+"/session", nil).Problem(api.TokenRequired)
	key := frontdesktest.Key("a link made before the end")
	client.Do("POST", path+"/resume-link", nil, key).Into(http.StatusCreated, nil)
	payment := client.Pay(registration.Id)
	stream := client.Follow(registration.Id, "")
	client.Do("DELETE", path+"/session", nil).Into(http.StatusNoContent, nil)
	client.Do("GET", path, nil).Problem(api.RegistrationNotFound)
	client.Do("POST", path+"/resume-link", nil, frontdesktest.Key("")).Problem(api.RegistrationNotFound)
	client.Do("POST", path+"/resume-link", nil, key).Problem(api.RegistrationNotFound)
	client.Do("DELETE", path+"/session", nil).Into(http.StatusNoContent, nil) // the first response may have been lost
	for {
		if event, ended := stream.Next(); ended {
			t.Error("the device's stream ended without a reason")
		} else if event == nil || event.End == "" {
			continue
		} else if !strings.Contains(event.End, "forgotten") {
			t.Errorf("the device's stream ended with %s", event.End)
		}
		break
	}
	other.Confirm(payment, "4242424242424242")
	other.Await(registration.Id, api.Completed)
	other.Do("DELETE", path+"/session", nil).Into(http.StatusNoContent, nil)
	other.Do("GET", path, nil).Problem(api.RegistrationNotFound)
}

// TestEndCookieSession checks that the browser deletes its cookie, and that copies of it are void.
func TestEndCookieSession(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	r := client.Register()
	path := "/v1/registrations/" + r.Id
	stranger := *client
	stranger.Token = ""
	response := exchange(&stranger, resumeCode(t, client, r.Id), [2]string{"X-Frontdesk-Session", "cookie"})
	response.Into(http.StatusCreated, nil)
	set, err := http.ParseSetCookie(response.Header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	cookie, own := [2]string{"Cookie", set.Name + "=" + set.Value}, [2]string{"Sec-Fetch-Site", "same-origin"}
	stranger.Do("DELETE", path+"/session", nil, cookie, [2]string{"Sec-Fetch-Site", "cross-site"}).Problem(api.ForbiddenOrigin)
	ended := stranger.Do("DELETE", path+"/session", nil, cookie, own)
	ended.Into(http.StatusNoContent, nil)
	gone, err := http.ParseSetCookie(ended.Header.Get("Set-Cookie"))
	if err != nil || gone.Name != set.Name || gone.Value != "" || gone.Path != "/" || gone.MaxAge >= 0 {
		t.Errorf("the cookie becomes %v, %v", gone, err)
	}
	stranger.Do("GET", path, nil, cookie).Problem(api.RegistrationNotFound)
	client.Do("GET", path, nil).Into(http.StatusOK, nil)
	client.Do("DELETE", path+"/session", nil, cookie, own).Into(http.StatusNoContent, nil) // the token and the cookie
	client.Do("GET", path, nil).Problem(api.RegistrationNotFound)
}

// TestAttribution checks that a visitor's campaign is kept and shown, and that personal data is not
// accepted as one.
func TestAttribution(t *testing.T) {
	t.Parallel()
	c, _ := frontdesktest.NewWorld(t)
	start := func(attribution string) *frontdesktest.Response {
		return c.Do("POST", "/v1/registrations", `{"clubId":"11","attribution":`+attribution+`}`, frontdesktest.Key(""))
	}
	var r api.Registration
	start(`{"source":"newsletter","medium":"email","campaign":"new-year-2030"}`).Into(http.StatusCreated, &r)
	if a := r.Attribution; a == nil || frontdesktest.Value(a.Source) != "newsletter" || frontdesktest.Value(a.Medium) != "email" ||
		frontdesktest.Value(a.Campaign) != "new-year-2030" || a.Content != nil {
		t.Errorf("it is kept as %+v", a)
	}
	for _, wrong := range []string{
		`{}`, `{"source":""}`, `{"source":"ada@example.com"}`, `{"source":"+33612345678"}`, `{"campaign":"0612345678"}`,
		`{"content":"Ada Martin"}`, `{"medium":"` + strings.Repeat("a", 65) + `"}`, `{"gclid":"abc"}`, `"newsletter"`,
	} {
		start(wrong).Problem(api.InvalidRequest)
	}
}
