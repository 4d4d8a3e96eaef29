package oldsandbox_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

// signed computes a signature header independently.
func signed(secret string, at time.Time, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

func TestWebhookIntake(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	const secret = oldsandbox.DemoWebhookSecret
	body := `{"id":"evt_1","type":"payment.captured","data":{"payment":{"id":"pay_1","metadata":{"fd_sale":"s1"}}}}`
	good := signed(secret, now, body)
	large := `{"id":"evt_1","data":{"payment":{"id":"pay_1"}},"x":"` + strings.Repeat("x", 512<<10) + `"}`
	client := oldsandbox.New(oldsandbox.Config{Now: func() time.Time { return now }})

	for name, c := range map[string]struct {
		header, body string
		trusted      bool
	}{
		"good":                  {good, body, true},
		"a later version's":     {good + ",v2=zz", body, true},
		"300 s old":             {signed(secret, now.Add(-300*time.Second), body), body, true},
		"301 s old":             {signed(secret, now.Add(-301*time.Second), body), body, false},
		"300 s ahead":           {signed(secret, now.Add(300*time.Second), body), body, true},
		"301 s ahead":           {signed(secret, now.Add(301*time.Second), body), body, false},
		"another secret":        {signed("whsec_other", now, body), body, false},
		"another body":          {good, strings.Replace(body, "pay_1", "pay_2", 1), false},
		"another time":          {strings.Replace(good, fmt.Sprint(now.Unix()), fmt.Sprint(now.Unix()+1), 1), body, false},
		"half a signature":      {good[:len(good)-32], body, false},
		"an empty signature":    {fmt.Sprintf("t=%d,v1=", now.Unix()), body, false},
		"no hexadecimal":        {fmt.Sprintf("t=%d,v1=zz", now.Unix()), body, false},
		"no time":               {good[strings.Index(good, "v1="):], body, false},
		"no header":             {"", body, false},
		"signed, but no event":  {signed(secret, now, `{"id":"evt_1"}`), `{"id":"evt_1"}`, false},
		"signed, but no JSON":   {signed(secret, now, `hello`), `hello`, false},
		"signed, but too large": {signed(secret, now, large), large, false},
	} {
		header := http.Header{}
		header.Set(oldsandbox.SignatureHeader, c.header)
		event, err := client.Webhook(header, []byte(c.body))
		if !c.trusted {
			wantErr(t, name, err, cards.ErrSignature)
			if event.PaymentID != "" {
				t.Errorf("%s: an untrusted delivery was accepted as %+v", name, event)
			}
			continue
		}
		if err != nil || event.ID != "evt_1" || event.Type != "payment.captured" || event.PaymentID != "pay_1" || event.Metadata["fd_sale"] != "s1" {
			t.Errorf("%s: %+v, %v", name, event, err)
		}
	}
}
