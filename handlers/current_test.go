package handlers_test

import (
	"net/http"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestCurrentRegistration: a browser that keeps nothing but its cookies finds the registration whose session began last.
func TestCurrentRegistration(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	earlier := start(t, client)
	later := start(t, client)
	for later.ExpiresAt.Unix() == earlier.ExpiresAt.Unix() { // sessions are ordered by the second
		later = start(t, client)
	}
	read := func(cookies ...string) *frontdesktest.Response {
		var headers [][2]string
		for _, cookie := range cookies {
			headers = append(headers, [2]string{"Cookie", cookie})
		}
		return client.Do("GET", "/v1/registrations/current", nil, headers...)
	}
	expect := func(want string, cookies ...string) {
		t.Helper()
		var shown api.Registration
		read(cookies...).Into(http.StatusOK, &shown)
		if shown.Id != want || shown.Step != api.StepPerson {
			t.Errorf("the session is %s of %s, want %s", shown.Step, shown.Id, want)
		}
	}
	cookie := func(of api.Registration, token string) string { return "frontdesk-" + of.Id + "=" + token }
	first, second := cookie(earlier, *earlier.Token), cookie(later, *later.Token)
	const others = "frontdesk-world=demo; theme=dark; frontdesk-=x; frontdesk-current=x"
	expect(earlier.Id, first+"; "+others)
	expect(later.Id, first+"; "+second)
	expect(later.Id, second+"; "+first)
	expect(earlier.Id, first+"; "+cookie(later, *earlier.Token)) // another registration's token
	elsewhere := [2]string{"X-Frontdesk-World", "demo-elsewhere"}
	client.Do("GET", "/v1/registrations/current", nil, [2]string{"Cookie", first}, elsewhere).Problem(api.RegistrationNotFound)
	client.Do("DELETE", "/v1/registrations/"+later.Id+"/session", nil, bearer(*later.Token)).Into(http.StatusNoContent, nil)
	expect(earlier.Id, first+"; "+second)
	read(second).Problem(api.RegistrationNotFound)
	read().Problem(api.TokenRequired)
	client.Do("GET", "/v1/registrations/current", nil, [2]string{"Cookie", others}, bearer(*earlier.Token)).Problem(api.TokenRequired)
}
