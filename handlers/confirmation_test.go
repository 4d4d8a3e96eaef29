package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestConfirmationElsewhere: a browser without the session of a registration gets a page in both languages that says where the confirmation
// is, whether or not the registration exists. A program gets a problem document, and the holder the confirmation.
func TestConfirmationElsewhere(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
	client.Await(registration.Id, api.Completed)
	path, browser := "/v1/registrations/"+registration.Id+"/confirmation", [2]string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}
	if held := client.Do("GET", path, nil, browser); held.Status != http.StatusOK || !strings.Contains(string(held.Body), registration.Id) {
		t.Errorf("its holder gets %d:\n%s", held.Status, held.Body)
	}
	client.Token = ""
	client.Do("GET", path, nil).Problem(api.TokenRequired)
	unknown := strings.Replace(path, registration.Id, "00000000-0000-4000-8000-000000000000", 1)
	for _, address := range []string{path, unknown} {
		page := client.Do("GET", address, nil, browser)
		for _, part := range []string{"Your confirmation is in your e-mail", "Votre confirmation est dans vos e-mails"} {
			if page.Status < http.StatusBadRequest || !strings.Contains(string(page.Body), part) {
				t.Errorf("%s: %d without %q:\n%s", address, page.Status, part, page.Body)
			}
		}
		if strings.Contains(string(page.Body), registration.Id) || page.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v\n%s", address, page.Header, page.Body)
		}
	}
}
