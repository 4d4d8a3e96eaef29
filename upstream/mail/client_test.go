package mail_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/mail"
	"frontdesk/upstream/mail/sink"
)

// certificate is for 127.0.0.1, and trusted by this process.
var certificate *tls.Config

func TestMain(m *testing.M) {
	https := httptest.NewTLSServer(nil)
	certificate = https.TLS
	folder, err := os.MkdirTemp("", "mail")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(folder, "trusted.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: https.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		panic(err)
	}
	_ = os.Setenv("SSL_CERT_FILE", file) // which the process reads with the first connection
	code := m.Run()
	https.Close()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

func newClient(t *testing.T, cfg mail.Config) *mail.Client {
	t.Helper()
	if cfg.From == "" {
		cfg.From = "Club Bastille <signup@club.example>"
	}
	client, err := mail.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

var (
	message = mail.Message{
		ID:       "confirmation:1",
		To:       "ada@visitor.example",
		Language: "fr",
		Subject:  "Votre contrat – confirmé ✓",
		Text:     "Bonjour Ada,\n\nc'est fait.\n",
		HTML:     "<p>Bonjour Ada,</p>\n<p>c'est fait.</p>\n",
		Attachments: []mail.Attachment{
			{Name: "conditions générales.html", Type: "text/html; charset=utf-8", Content: []byte("<p>é\r\nà\n</p>")},
			{Name: "contract.pdf", Type: "application/pdf", Content: []byte{0, 1, 2, 255}},
		},
	}
	written = time.Date(2026, 11, 29, 17, 0, 0, 0, time.UTC)
)

// TestSend: a mail arrives encrypted, from the authenticated sender, with its texts, documents and headers as they were, and a
// repetition has the same Message-ID.
func TestSend(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]sink.Config{
		"smtp":  {TLS: certificate, User: "frontdesk", Password: "p@ss/word%"},
		"smtps": {TLS: certificate, FromFirstByte: true, User: "frontdesk", Password: "p@ss/word%"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := frontdesktest.NewMailServer(t, cfg)
			client := newClient(t, mail.Config{URL: name + "://frontdesk:p%40ss%2Fword%25@" + to.Addr, RequireTLS: true})
			for range 2 {
				if err := client.Send(t.Context(), message, written); err != nil {
					t.Fatal(err)
				}
			}
			mails := to.Taken()
			if len(mails) != 2 || mails[0].MessageID != mails[1].MessageID || !strings.HasSuffix(mails[0].MessageID, "@club.example") {
				t.Fatalf("two attempts of a mail are %+v", mails)
			}
			expectMessage(t, mails[0])
		})
	}
}

func expectMessage(t *testing.T, got sink.Mail) {
	t.Helper()
	if got.To != message.To || got.Subject != message.Subject || got.Text != message.Text || got.HTML != message.HTML {
		t.Errorf("it arrives as %+v", got)
	}
	for i, want := range message.Attachments {
		if i >= len(got.Attachments) {
			t.Fatalf("it has %d documents", len(got.Attachments))
		}
		document := got.Attachments[i]
		kind, _, _ := strings.Cut(want.Type, ";")
		if document.Name != want.Name || document.Type != kind || string(document.Content) != string(want.Content) {
			t.Errorf("document %d is %+v", i, document)
		}
	}
	for field, want := range map[string]string{
		"Auto-Submitted": "auto-generated", "Content-Language": "fr", "Date": written.Format(time.RFC1123Z), "X-Frontdesk-World": "",
		"User-Agent": "", "X-Mailer": "", "Disposition-Notification-To": "", "From": `"Club Bastille" <signup@club.example>`,
	} {
		if got.Header[field] != want {
			t.Errorf("%s is %q, want %q", field, got.Header[field], want)
		}
	}
}

// TestMessageID: another mail and another sender's domain have other ones, and none shows the mail's id.
func TestMessageID(t *testing.T) {
	t.Parallel()
	to := frontdesktest.NewMailServer(t, sink.Config{})
	seen := map[string]bool{}
	for _, from := range []string{"a@club.example", "a@other.example"} {
		for _, id := range []string{"confirmation:1", "confirmation:2"} {
			one := message
			one.ID = id
			if err := newClient(t, mail.Config{URL: "smtp://" + to.Addr, From: from}).Send(t.Context(), one, written); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, got := range to.Taken() {
		seen[got.MessageID] = true
		if strings.Contains(got.MessageID, "confirmation") {
			t.Errorf("it shows the id: %s", got.MessageID)
		}
	}
	if len(seen) != 4 {
		t.Errorf("four mails have the ids %v", seen)
	}
}

// TestWorld: outside live mode a mail says whose mailbox it is for.
func TestWorld(t *testing.T) {
	t.Parallel()
	to := frontdesktest.NewMailServer(t, sink.Config{})
	one := message
	one.Organisation = "demo-abc"
	if err := newClient(t, mail.Config{URL: "smtp://" + to.Addr, NameWorld: true}).Send(t.Context(), one, written); err != nil {
		t.Fatal(err)
	}
	if got := to.Taken()[0]; got.World != "demo-abc" {
		t.Errorf("its world is %q", got.World)
	}
}

// TestFailures: what fails says why, whether another attempt can help, and never the recipient.
func TestFailures(t *testing.T) {
	t.Parallel()
	plain, password := sink.Config{}, sink.Config{TLS: certificate, User: "frontdesk", Password: "right"}
	for name, c := range map[string]struct {
		server    sink.Config
		url       string // SERVER is its address
		tls       bool
		fault     sink.Fault
		permanent bool
		reason    string
		taken     int
	}{
		"4xx":                   {plain, "smtp://SERVER", false, sink.Fault{Status: 450}, false, "refused the recipient: 450", 0},
		"5xx":                   {plain, "smtp://SERVER", false, sink.Fault{Status: 550}, true, "refused the recipient: 550", 0},
		"hangs":                 {plain, "smtp://SERVER", false, sink.Fault{Hang: true}, false, "", 0},
		"dies after the mail":   {plain, "smtp://SERVER", false, sink.Fault{Die: true}, false, "may have accepted the mail", 1},
		"no STARTTLS":           {plain, "smtp://SERVER", true, sink.Fault{}, false, "required encryption", 0},
		"no TLS":                {plain, "smtps://SERVER", true, sink.Fault{}, false, "", 0},
		"wrong password":        {password, "smtp://frontdesk:wrong@SERVER", true, sink.Fault{}, false, "user and password: 535", 0},
		"no password":           {password, "smtp://SERVER", true, sink.Fault{}, false, "refused the sender: 502", 0},
		"untrusted certificate": {password, "smtp://frontdesk:right@localhost:PORT", true, sink.Fault{}, false, "certificate is not trusted", 0},
		"no server":             {plain, "smtp://127.0.0.1:1", false, sink.Fault{}, false, "cannot be reached", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := frontdesktest.NewMailServer(t, c.server)
			to.Fail(-1, c.fault)
			_, port, _ := strings.Cut(to.Addr, ":")
			client := newClient(t, mail.Config{
				URL: strings.NewReplacer("SERVER", to.Addr, "PORT", port).Replace(c.url), RequireTLS: c.tls, Timeout: 5 * time.Second,
			})
			err := client.Send(t.Context(), message, written)
			failed, ok := errors.AsType[*mail.Error](err)
			if !ok || failed.Permanent != c.permanent || !strings.Contains(failed.Reason, c.reason) {
				t.Errorf("it fails with %#v", err)
			}
			if ok && (strings.Contains(failed.Reason, "ada") || strings.Contains(failed.Reason, "wrong")) {
				t.Errorf("it says too much: %s", failed.Reason)
			}
			if n := len(to.Taken()); n != c.taken {
				t.Errorf("the server has %d mails", n)
			}
		})
	}
}

// TestInvalidRecipient: it fails for good, without a connection.
func TestInvalidRecipient(t *testing.T) {
	t.Parallel()
	one := message
	one.To = "ada@visitor.example\r\nBcc: eve@visitor.example"
	err := newClient(t, mail.Config{URL: "smtp://127.0.0.1:1"}).Send(t.Context(), one, written)
	if failed, ok := errors.AsType[*mail.Error](err); !ok || !failed.Permanent || strings.Contains(failed.Reason, "ada") {
		t.Errorf("it fails with %#v", err)
	}
}

// TestSendEndsWithItsContext: a server that hangs does not hold up a process that stops.
func TestSendEndsWithItsContext(t *testing.T) {
	t.Parallel()
	to := frontdesktest.NewMailServer(t, sink.Config{})
	to.Fail(-1, sink.Fault{Hang: true})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := newClient(t, mail.Config{URL: "smtp://" + to.Addr}).Send(ctx, message, written); err == nil {
		t.Error("it was sent")
	}
}

// TestCheck: a check authenticates, and sends nothing.
func TestCheck(t *testing.T) {
	t.Parallel()
	to := frontdesktest.NewMailServer(t, sink.Config{TLS: certificate, User: "frontdesk", Password: "right"})
	for password, works := range map[string]bool{"right": true, "wrong": false} {
		client := newClient(t, mail.Config{URL: "smtp://frontdesk:" + password + "@" + to.Addr, RequireTLS: true})
		if err := client.Check(t.Context()); (err == nil) != works {
			t.Errorf("with the %s password: %v", password, err)
		}
	}
	if n := len(to.Taken()); n != 0 {
		t.Errorf("%d mails were sent", n)
	}
}

// TestNew: what cannot be used is refused, without repeating it.
func TestNew(t *testing.T) {
	t.Parallel()
	const sender = "signup@club.example"
	for address, want := range map[string]string{
		"":                                      "must be smtp://",
		"mail.example":                          "must be smtp://",
		"https://mail.example":                  "must be smtp://",
		"smtp://":                               "must be smtp://",
		"smtp://mail.example/path":              "must be smtp://",
		"smtp://secret@mail.example":            "both a user and a password",
		"smtp://:secret@mail.example":           "both a user and a password",
		"smtp://user:secret@mail.example:99999": "port",
		"smtp://user:sec%zzret@mail.example":    "must be smtp://",
	} {
		_, err := mail.New(mail.Config{URL: address, From: sender})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sec") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, from := range []string{"", "Club", "signup@", "a@club.example, b@club.example"} {
		if _, err := mail.New(mail.Config{URL: "smtp://mail.example", From: from}); err == nil {
			t.Errorf("%q can send", from)
		}
	}
	for address, server := range map[string]string{
		"smtp://mail.example":           "mail.example:587",
		"smtps://mail.example":          "mail.example:465",
		"smtps://u:secret@[::1]:2465":   "[::1]:2465",
		"smtp://u:secret@mail.example:": "mail.example:587",
	} {
		client, err := mail.New(mail.Config{URL: address, From: sender})
		if err != nil || client.Server() != server {
			t.Errorf("%q leads to %v, %v", address, client, err)
		}
	}
}
