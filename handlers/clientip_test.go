package handlers_test

import (
	"os/exec"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// from sends a request with this X-Forwarded-For and returns what is left of its address's limit.
func from(c *frontdesktest.Client, forwarded string) int {
	return left(c.Do("GET", "/v1/clubs", nil, [2]string{"X-Forwarded-For", forwarded}), "requests")
}

// fresh is what is left for an address after its first request. All other addresses send so many requests that
// their limit cannot refill during the test.
const fresh = 119

func TestForwardedFor(t *testing.T) {
	t.Parallel()
	client := newLimited(t, "FRONTDESK_TRUSTED_PROXIES=127.0.0.1, 10.0.0.0/8")
	if from(client, "203.0.113.7") != fresh || from(client, "2001:db8:1:2::1") != fresh {
		t.Error("an address begins with less than everything")
	}
	for range 30 {
		from(client, "203.0.113.7")
		from(client, "2001:db8:1:2::1")
		client.Do("GET", "/v1/clubs", nil)
	}
	for forwarded, isFresh := range map[string]bool{
		"203.0.113.8":               true,
		"198.51.100.1, 203.0.113.7": false, // the visitor controls the addresses to the left
		strings.Repeat("198.51.100.2, ", 500) + "203.0.113.7": false,
		"garbage, 203.0.113.7":                                false,
		"203.0.113.7, 10.1.2.3":                               false, // a chain of proxies
		"203.0.113.7, 10.1.2.3, 127.0.0.1":                    false,
		"198.51.100.3, 203.0.113.9, 10.1.2.3":                 true,
		"203.0.113.7,":                                        false, // unreadable: the proxy's own address counts
		"garbage":                                             false,
		"203.0.113.8:4711":                                    false,
		"::ffff:203.0.113.7":                                  false,
		"2001:db8:1:2:ffff:ffff:ffff:ffff":                    false, // one customer's network
		"2001:db8:1:3::1":                                     true,
		"[2001:db8:1:2::7]":                                   false,
	} {
		if got := from(client, forwarded); (got == fresh) != isFresh {
			t.Errorf("%.60q has %d left", forwarded, got)
		}
	}
}

// TestUntrustedForwardedFor: the gateway ignores X-Forwarded-For unless a trusted proxy sent it.
func TestUntrustedForwardedFor(t *testing.T) {
	t.Parallel()
	for _, trusted := range []string{"", "10.0.0.0/8,2001:db8::/32"} {
		c := newLimited(t, "FRONTDESK_TRUSTED_PROXIES="+trusted)
		for range 30 {
			from(c, "203.0.113.7")
		}
		for _, forwarded := range []string{"203.0.113.8", "127.0.0.1", "10.0.0.1", "garbage", "2001:db8::1", "::1"} {
			if from(c, forwarded) == fresh {
				t.Errorf("with %q trusted, %s is believed", trusted, forwarded)
			}
		}
	}
}

// TestUnsafeLimits: settings that cannot work, or do not protect, keep the gateway from starting.
func TestUnsafeLimits(t *testing.T) {
	t.Parallel()
	for environment, says := range map[string]string{
		"FRONTDESK_TRUSTED_PROXIES=10.0.0.0/33":                                      `FRONTDESK_TRUSTED_PROXIES: "10.0.0.0/33" is neither`,
		"FRONTDESK_TRUSTED_PROXIES=10.0.0.0/8,proxy.local":                           `FRONTDESK_TRUSTED_PROXIES: "proxy.local" is neither`,
		"FRONTDESK_TRUSTED_PROXIES=0.0.0.0/0":                                        "any caller could forge its own",
		"FRONTDESK_TRUSTED_PROXIES=::ffff:0:0/96":                                    "write it as IPv4",
		"FRONTDESK_TRUSTED_PROXIES=::/0":                                             "any caller could forge its own",
		"FRONTDESK_TRUSTED_PROXIES=10.1.0.0/8":                                       "did you mean 10.0.0.0/8?",
		"FRONTDESK_CAPTCHA_URL=https://challenge.example/":                           "must be set together",
		"FRONTDESK_CAPTCHA_SECRET=s":                                                 "must be set together",
		"FRONTDESK_CAPTCHA_SECRET=s FRONTDESK_CAPTCHA_URL=challenge.example":         "FRONTDESK_CAPTCHA_URL is not an address",
		"FRONTDESK_CAPTCHA_SECRET=s FRONTDESK_CAPTCHA_URL=http://challenge.example/": "FRONTDESK_CAPTCHA_URL must begin with https://",
		"FRONTDESK_SMS_HOURLY=0":                                                     "at least one code an hour",
		"FRONTDESK_SMS_ORGANISATION_HOURLY=-1":                                       "FRONTDESK_SMS_ORGANISATION_HOURLY must not be negative",
		"FRONTDESK_SMS_COUNTRIES=FR,France":                                          `FRONTDESK_SMS_COUNTRIES has "France"`,
		"FRONTDESK_METHODS=visitor:desk":                                             "FRONTDESK_METHODS has desk for visitor",
		"FRONTDESK_METHODS=staff:barter":                                             "FRONTDESK_METHODS has \"barter\" for staff",
		"FRONTDESK_METHODS=visitor:card,free":                                        "FRONTDESK_METHODS has \"free\", which is not name:value",
		"FRONTDESK_METHODS=visitors:card":                                            "must be one of visitor, contact, staff, later-days",
		"FRONTDESK_METHODS=staff:card,staff:desk":                                    "which repeats staff",
		"FRONTDESK_METHODS=later-days:0":                                             "FRONTDESK_METHODS has later-days:0, which must be from 1",
		"FRONTDESK_METHODS=later-days:soon":                                          "must be from 1 to 366",
		"FRONTDESK_CLUB_API=path-prefix:api":                                         "FRONTDESK_CLUB_API has path-prefix:api",
		"FRONTDESK_CLUB_API=token-path:/t?a=b":                                       "must be a path that begins with a slash",
		"FRONTDESK_CLUB_API=key-header:x(y)":                                         "which is not the name of a header",
		"FRONTDESK_CLUB_API=header:X-Key":                                            "must be one of key-header, token-path, path-prefix",
		"FRONTDESK_RATE_LIMITS=perhaps":                                              "FRONTDESK_RATE_LIMITS",
		"FRONTDESK_RATE_LIMITS=off FRONTDESK_MODE=live":                              "FRONTDESK_RATE_LIMITS must not be off",
	} {
		cmd := exec.CommandContext(t.Context(), frontdesktest.Binary(t))
		cmd.Env = append(strings.Fields(environment), "FRONTDESK_ADDR=127.0.0.1:0", "FRONTDESK_OPS_ADDR=off")
		said, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(strings.ReplaceAll(string(said), "--rate-limits", "FRONTDESK_RATE_LIMITS"), says) {
			t.Errorf("with %s: %v, %s", environment, err, said)
		}
	}
}
