package sandbox

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

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

// RefundMode is what becomes of refunds.
type RefundMode string

// The refund modes (https://docs.stripe.com/refunds).
const (
	RefundsNormal  RefundMode = ""        // succeed at once
	RefundsPending RefundMode = "pending" // stay pending until SettleRefund
	RefundsRefused RefundMode = "refused" // are refused, as with a balance that is too low
)

// ErrorMode is whether the merchant's writes fail.
type ErrorMode string

// The error modes. The error is stored under the request's idempotency key and replayed for a day.
const (
	ErrorsNone   ErrorMode = ""       // writes are carried out
	ErrorsBefore ErrorMode = "before" // writes fail with 500 and have no effect
	ErrorsAfter  ErrorMode = "after"  // writes fail with 500 although their effect is done
)

// ProcessingMode is whether a step of a payment is decided at once.
type ProcessingMode string

// The processing modes. While a step is processed, the payment cannot be cancelled.
const (
	AtOnce     ProcessingMode = ""           // is decided at once
	Processing ProcessingMode = "processing" // is processed until Approve
)

// ChallengeMode is how the buyer's bank asks for an approval.
type ChallengeMode string

// The challenge modes.
const (
	Redirect ChallengeMode = ""      // on a page of its own, which leads back
	Modal    ChallengeMode = "modal" // in a frame of the page with the card fields
)

// Settings are what a test or a developer can change while the double runs. They are of a demo world; those of
// the default world are also those of worlds without their own.
type Settings struct {
	Webhooks WebhookMode `json:"webhooks"` // zero: normal
	// WebhookURL receives all events instead of the account's endpoints and the addresses that callers name; empty: those.
	WebhookURL    string         `json:"webhookUrl"`
	Refunds       RefundMode     `json:"refunds,omitempty"`       // zero: normal
	Errors        ErrorMode      `json:"errors,omitempty"`        // zero: none
	Confirmations ProcessingMode `json:"confirmations,omitempty"` // of a buyer's card
	Captures      ProcessingMode `json:"captures,omitempty"`      // of the authorised money
	Challenges    ChallengeMode  `json:"challenges,omitempty"`    // zero: redirect
	// CaptureBefore is until when an authorisation can be captured, from the authorisation: a duration such as 10m or -1m; "none":
	// the field is missing; empty: seven days. The double does not cancel the payment then: see Expire.
	CaptureBefore string `json:"captureBefore,omitempty"`
	// RateLimit is how many calls of one endpoint are allowed in a second (https://docs.stripe.com/rate-limits); zero: any.
	RateLimit int `json:"rateLimit,omitempty"`
	// Secrets is how many secrets sign events: 2 while one replaces the other. The second one is the account's, or the first
	// one with the suffix _next. Zero: all of the account's.
	Secrets int `json:"secrets,omitempty"`
}

// Check returns an error if a member has none of its values.
func (in *Settings) Check() error {
	if in.Webhooks == "" {
		in.Webhooks = Normal
	}
	modes := []WebhookMode{Normal, Drop, Duplicate, Late, Reorder}
	_, notAge := in.captureWindow()
	at, notURL := url.Parse(in.WebhookURL)
	switch {
	case !slices.Contains(modes, in.Webhooks):
		return fmt.Errorf("webhooks must be one of %s", modes)
	case in.WebhookURL != "" && (notURL != nil || at.Host == "" || !strings.HasPrefix(at.Scheme, "http")):
		return fmt.Errorf("webhookUrl must be an absolute http or https URL")
	case !slices.Contains([]RefundMode{RefundsNormal, RefundsPending, RefundsRefused}, in.Refunds):
		return fmt.Errorf("refunds must be pending, refused or left out")
	case !slices.Contains([]ErrorMode{ErrorsNone, ErrorsBefore, ErrorsAfter}, in.Errors):
		return fmt.Errorf("errors must be before, after or left out")
	case in.Confirmations != AtOnce && in.Confirmations != Processing:
		return fmt.Errorf("confirmations must be processing or left out")
	case in.Captures != AtOnce && in.Captures != Processing:
		return fmt.Errorf("captures must be processing or left out")
	case in.Challenges != Redirect && in.Challenges != Modal:
		return fmt.Errorf("challenges must be modal or left out")
	case notAge != nil:
		return fmt.Errorf("captureBefore must be a duration such as 10m, none, or left out")
	case in.RateLimit < 0:
		return fmt.Errorf("rateLimit must be a number of requests in a second, or left out")
	case in.Secrets < 0 || in.Secrets > 2:
		return fmt.Errorf("secrets must be 1, 2 or left out")
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
	return s.store.settings(world)
}

// Configure replaces a demo world's settings; empty: those of the default world. It returns an error, and changes nothing, if
// the world's name or a member is invalid.
func (s *Server) Configure(name string, settings Settings) error {
	if name == "" {
		name = defaultWorld
	}
	if err := settings.Check(); err != nil {
		return err
	}
	if !isWorld(name) {
		return fmt.Errorf("the world must be demo, or demo- and letters, digits, dots, underscores and hyphens")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.store.worlds) > maxWorlds {
		for each, w := range s.store.worlds {
			if each != defaultWorld {
				w.settings = nil
			}
		}
		s.store.sweep()
	}
	s.store.world(name).settings = &settings
	return nil
}

// SetWebhooks sends the events of the default world, and of those without their own settings, to an address, in a mode. An empty
// address is an account without a webhook endpoint.
func (s *Server) SetWebhooks(mode WebhookMode, url string) {
	s.change(func(in *Settings) { in.Webhooks, in.WebhookURL = mode, url })
}

// SetRefundStatus is the status of new refunds in the same worlds: pending or succeeded, the default.
func (s *Server) SetRefundStatus(status string) {
	s.change(func(in *Settings) { in.Refunds = map[string]RefundMode{"pending": RefundsPending}[status] })
}

// change changes the settings of the default world.
func (s *Server) change(change func(*Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := s.store.settings(defaultWorld)
	change(&settings)
	s.store.world(defaultWorld).settings = &settings
}
