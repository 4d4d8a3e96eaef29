package redact_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"frontdesk/flows/redact"
)

// TestAttributes: of an attribute whose key is not in the list, only the key is logged, at any depth.
func TestAttributes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(redact.New(slog.NewTextHandler(&out, nil)))
	log.With("email", "ada@example.com").WithGroup("buyer").Warn("sent ada@example.com",
		"familyName", "Martin", "payment", "0d1c8a44-0000-4000-8000-123456789012-1", "status", 502,
		slog.Group("deep", "iban", "FR1420041010050500013M02606", "state", "open"), "error", errors.New(`no contact "Martin"`))
	said := out.String()
	for _, want := range []string{
		"[email]", "[familyName]", "[iban]", "payment=0d1c8a44-0000-4000-8000-123456789012-1",
		"status=502", "state=open", "[quoted]", "sent [e-mail]",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is not in %s", want, said)
		}
	}
	for _, secret := range []string{"ada@", "Martin", "FR14"} {
		if strings.Contains(said, secret) {
			t.Errorf("%s is in %s", secret, said)
		}
	}
}

// TestText removes all personal data and keeps what operators search for.
func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`Get "https://club.example/demo/contacts/7": EOF`:        `Get [quoted]: EOF`,
		"dial redis://user:pass@redis.example:6379/3 failed":     "dial redis://redis.example:6379/[path] failed",
		"no mailbox ada.martin@example.com, said smtp":           "no mailbox [e-mail], said smtp",
		"account FR14 2004 1010 0505 0001 3M02 606 refused":      "account [account] refused",
		"mobile +33 6 12 34 56 78 and card 4242 4242 4242 4242":  "mobile [number] and card [number]",
		"token dGhpcyBpcyBhIHRva2VuIG9mIHNvbWVib2R5MTIz is gone": "token [token] is gone",
		"contact /demo-x/contacts/1001 is gone":                  "contact [contacts] is gone",
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("%q\nbecame %q\nwant   %q", text, got, want)
		}
	}
	for _, harmless := range []string{
		"registration 0d1c8a44-0000-4000-8000-123456789012: held",
		"api.error.contact.migration.contact-not-valid, status 400",
		"dial tcp 127.0.0.1:6379: connect: connection refused",
		"club: CreateSale: unknown, status 500 (connection closed)",
		"POST 127.0.0.1:8081/sandbox/v1/payment_intents/pi_3PqT7k/capture: EOF",
		"the club system accepted it after 1500 ms, trace 4bf92f3577b34da6a3ce929d0e0e4736",
	} {
		if got := redact.Text(harmless); got != harmless {
			t.Errorf("%q\nbecame %q", harmless, got)
		}
	}
}
