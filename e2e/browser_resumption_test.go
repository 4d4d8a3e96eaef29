package e2e_test

import (
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestResumeInBrowser: begun at a desk, paid on a phone, and both know.
func TestResumeInBrowser(t *testing.T) {
	t.Parallel()
	s := newSetting(t)
	_, c := s.gateway(t)
	desk, phone := frontdesktest.NewBrowser(t, 1280, 900), frontdesktest.NewBrowser(t, 390, 844)
	site := strings.Replace(c.URL, "127.0.0.1", "localhost", 1)
	signUp(desk, c, site)
	due := desk.Attribute(`[data-due]`, "data-due")
	desk.Click(`[data-elsewhere]`)
	desk.See(`[data-resume-link]`)
	link := desk.Value(`[data-resume-link]`)
	if !strings.HasPrefix(link, site+"/?resume=") {
		t.Fatalf("the link is %q", link)
	}
	desk.Click(`[data-copy]`)
	desk.See(`[data-copy="done"], [data-copy="by-hand"]`)
	desk.Shot("link")

	reprice(t, s.outside.Sim, int64(atoi(due)), int64(atoi(due))+1000)
	phone.Open(link)
	phone.See(`[data-pay]`)
	phone.See(`[data-change="price"]`)
	phone.Shot("resumed")
	if strings.Contains(phone.Address(), "resume") || phone.Registration() != desk.Registration() || phone.Overflow() > 0 {
		t.Errorf("the phone is at %s, %d pixels too wide", phone.Address(), phone.Overflow())
	}
	phone.Click(`[data-pay]`)
	payAt(phone, "4242424242424242")
	phone.See(`[data-member]`)
	desk.Reload()
	desk.See(`main[data-state="completed"] [data-member]`)
	s.expectOnePayment(t, int64(atoi(due))+1000)

	phone.Open(link)
	phone.See(`[data-error="resumption_invalid"]`)
	if strings.Contains(phone.Address(), "resume") {
		t.Errorf("the phone is at %s", phone.Address())
	}
}
