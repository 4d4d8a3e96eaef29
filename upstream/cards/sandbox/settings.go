package sandbox

import (
	"fmt"
	"net/url"
	"slices"
	"time"
)

// maxWorlds is how many demo worlds can have settings; then all of them lose theirs.
const maxWorlds = 10_000

// WebhookMode is how webhooks behave.
type WebhookMode string

// The ways in which webhooks behave. Stripe documents that receivers must cope with all
// of them (https://docs.stripe.com/webhooks#behaviors).
const (
	Normal    WebhookMode = "normal"    // at once, and again when refused
	Drop      WebhookMode = "drop"      // never sent
	Duplicate WebhookMode = "duplicate" // sent twice at the same time, with the same id
	Late      WebhookMode = "late"      // sent after LateDelay
	Reorder   WebhookMode = "reorder"   // every second one overtakes the one before it
)

// Settings are what a test or a developer can change while the double runs. They are of a demo world; those of
// the default world are also those of worlds without their own.
type Settings struct {
	Webhooks WebhookMode `json:"webhooks"` // empty: normal
	// WebhookURL receives all events instead of the account's endpoints and the addresses that callers name; empty: those.
	WebhookURL string `json:"webhookUrl"`

	// Refunds are "pending" until SettleRefund, or "refused", as with a balance that is too low; empty: they succeed at once.
	Refunds string `json:"refunds,omitempty"`
	// Errors: the merchant's writes fail with a 500, which is stored under their keys: "before" they have an effect or "after"
	// it; empty: they do not fail.
	Errors string `json:"errors,omitempty"`
	// Confirmations of cards are "processing" until Approve, and the payment cannot be cancelled; empty: they are decided at once.
	Confirmations string `json:"confirmations,omitempty"`
	// Captures are "processing", as confirmations.
	Captures string `json:"captures,omitempty"`
	// Challenges of a bank are "modal", in a frame of the page with the card fields; empty: on a page of their own, which leads back.
	Challenges string `json:"challenges,omitempty"`
	// CaptureBefore is until when an authorisation can be captured, from its time on: a duration such as 10m or -1m; "none":
	// the field is missing; empty: seven days. The double does not cancel the payment then: see Expire.
	CaptureBefore string `json:"captureBefore,omitempty"`
	// RateLimit is how many calls of one endpoint are allowed in a second (https://docs.stripe.com/rate-limits); zero: any.
	RateLimit int `json:"rateLimit,omitempty"`
	// Secrets is how many secrets sign events: 2 while one replaces the other, the second one with the suffix _next if the account
	// has none; zero: all of the account's.
	Secrets int `json:"secrets,omitempty"`
}

// Check returns an error if a member has none of its values.
func (in *Settings) Check() error {
	if in.Webhooks == "" {
		in.Webhooks = Normal
	}
	for _, member := range []struct {
		name, value string
		of          []string
	}{
		{"webhooks", string(in.Webhooks), []string{"normal", "drop", "duplicate", "late", "reorder"}},
		{"refunds", in.Refunds, []string{"", "pending", "refused"}},
		{"errors", in.Errors, []string{"", "before", "after"}},
		{"confirmations", in.Confirmations, []string{"", "processing"}},
		{"captures", in.Captures, []string{"", "processing"}},
		{"challenges", in.Challenges, []string{"", "modal"}},
	} {
		if !slices.Contains(member.of, member.value) {
			return fmt.Errorf("%s must be one of %q", member.name, member.of)
		}
	}
	if at, err := url.Parse(in.WebhookURL); in.WebhookURL != "" &&
		(err != nil || at.Hostname() == "" || at.User != nil || at.Scheme != "http" && at.Scheme != "https") {
		return fmt.Errorf("webhookUrl must be an absolute http or https URL without credentials")
	}
	if _, err := in.captureWindow(); err != nil {
		return fmt.Errorf("captureBefore must be a duration such as 10m, or none, or empty")
	}
	if in.RateLimit < 0 || in.Secrets < 0 || in.Secrets > 2 {
		return fmt.Errorf("rateLimit must be at least 0, and secrets 0, 1 or 2")
	}
	return nil
}

// captureWindow is how long an authorisation can be captured; zero: the field is missing.
func (in *Settings) captureWindow() (time.Duration, error) {
	const week = 7 * 24 * time.Hour
	switch in.CaptureBefore {
	case "":
		return week, nil
	case "none":
		return 0, nil
	}
	return time.ParseDuration(in.CaptureBefore)
}

// Settings returns what applies in a demo world.
func (s *Server) Settings(world string) Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.of(world)
}

// Configure replaces a demo world's settings. It returns an error, and changes nothing, if
// the world's name or a member is invalid.
func (s *Server) Configure(world string, settings Settings) error {
	if err := settings.Check(); err != nil {
		return err
	}
	if !worldPattern.MatchString(world) {
		return fmt.Errorf("the world must be demo, or demo- and letters, digits, dots, underscores and hyphens")
	}
	defer s.cfg.Changed(world)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.store.settings) > maxWorlds {
		s.store.settings = map[string]Settings{defaultWorld: s.store.of(defaultWorld)}
	}
	s.store.settings[world] = settings
	return nil
}

// SetWebhooks sends the events of the default world, and of those without their own settings, to an address, in a mode. An empty
// address is an account without a webhook endpoint.
func (s *Server) SetWebhooks(mode WebhookMode, url string) {
	settings := s.Settings(defaultWorld)
	settings.Webhooks, settings.WebhookURL = mode, url
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.settings[defaultWorld] = settings
}
