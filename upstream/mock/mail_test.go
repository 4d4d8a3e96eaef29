package mock_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail"
	"frontdesk/upstream/mock"
)

// TestMailbox: a mail arrives by SMTP in the mailbox of the world that it names, once, and can be read there as it looks, until the
// world is reset.
func TestMailbox(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 10)
	world := mock.New(mock.Config{Now: time.Now, PublicURL: "http://localhost", OnChange: func() { arrived <- struct{}{} }})
	t.Cleanup(world.Close)
	url, err := world.StartMail("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := mail.New(mail.Config{URL: url, From: "Club <signup@clubs.example>", NameWorld: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"demo-a", "demo-a", "demo-b", "", "other"} {
		err := client.Send(t.Context(), mail.Message{
			ID: "confirmation:" + to, Organisation: to, To: "ada@visitor.example", Language: "en", Subject: "For " + to, Text: "Hello.\n",
			HTML:        "<p>Hello.</p>\n",
			Attachments: []mail.Attachment{{Name: "terms.html", Type: "text/html; charset=utf-8", Content: []byte("<p>Terms</p>")}},
		}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		frontdesktest.Receive(t, arrived, "the mail arrives")
	}
	read := func(method, path string) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		world.ServeHTTP(recorder, httptest.NewRequest(method, path, nil))
		return recorder
	}
	list := func(world string) (subjects string, items []clubsim.Mail) {
		t.Helper()
		var all clubsim.Items[clubsim.Mail]
		if err := json.Unmarshal(read("GET", "/sim/"+world+"/_control/mail").Body.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		for _, one := range all.Items {
			subjects += one.Subject + "|"
		}
		return subjects, all.Items
	}
	for name, want := range map[string]string{"demo-a": "For demo-a|", "demo-b": "For demo-b|", "demo": "For|For other|"} {
		if got, _ := list(name); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
	_, items := list("demo-a")
	if one := items[0]; one.To != "ada@visitor.example" || one.Text != "Hello.\n" || one.HTML != "<p>Hello.</p>\n" || one.MessageID == "" ||
		one.SentAt.IsZero() || one.Number != 1 || len(one.Attachments) != 1 || one.Attachments[0].Name != "terms.html" {
		t.Errorf("the mail is %+v", one)
	}
	for path, want := range map[string]string{"mail/1": "<p>Hello.</p>", "mail/1/0": "<p>Terms</p>", "": ">For demo-a</a>"} {
		response := read("GET", "/sim/demo-a/_control/"+path)
		if response.Code != 200 || !strings.Contains(response.Body.String(), want) ||
			!strings.Contains(response.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d, %s", path, response.Code, response.Body)
		}
	}
	for _, path := range []string{"mail/2", "mail/x", "mail/1/1", "mail/1/-1", "mail/1/0/0"} {
		if response := read("GET", "/sim/demo-a/_control/"+path); response.Code != 404 {
			t.Errorf("%s: %d", path, response.Code)
		}
	}
	read("POST", "/sim/demo-a/_control/reset")
	if got, _ := list("demo-a"); got != "" {
		t.Errorf("after a reset it has %q", got)
	}
}
