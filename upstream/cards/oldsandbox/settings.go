package oldsandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// WebhookMode is how webhooks are delivered.
type WebhookMode string

// The webhook modes. All but the first are what a merchant must cope with.
const (
	WebhooksNormal    WebhookMode = "normal"    // at once, and again when refused
	WebhooksDrop      WebhookMode = "drop"      // never sent
	WebhooksDuplicate WebhookMode = "duplicate" // sent twice at the same time, with the same id
	WebhooksLate      WebhookMode = "late"      // sent after LateDelay
	WebhooksReorder   WebhookMode = "reorder"   // every second one overtakes the one before it
)

// RefundMode is what becomes of refunds.
type RefundMode string

// The refund modes. The large processors document all of them.
const (
	RefundsNormal  RefundMode = ""        // succeed at once
	RefundsPending RefundMode = "pending" // stay pending until POST /payments/{id}/settle-refund
	RefundsRefused RefundMode = "refused" // are refused, as with a balance that is too low
)

// ErrorMode is whether the merchant's writes fail.
type ErrorMode string

// The error modes. As at the large processors, the error is stored under the request's idempotency key
// and replayed for a day.
const (
	ErrorsNone   ErrorMode = ""       // writes are carried out
	ErrorsBefore ErrorMode = "before" // writes fail with 500 and have no effect
	ErrorsAfter  ErrorMode = "after"  // writes fail with 500 although their effect is done
)

// ConfirmationMode is what becomes of a buyer's confirmation.
type ConfirmationMode string

// The confirmation modes. While a confirmation is processed, the payment cannot be cancelled.
const (
	ConfirmationsNormal     ConfirmationMode = ""           // are decided at once
	ConfirmationsProcessing ConfirmationMode = "processing" // are processed until POST /payments/{id}/settle-confirmation
)

const (
	// LateDelay is long enough that the buyer is back before the event, and short enough to
	// wait for in a test.
	LateDelay = 5 * time.Second

	// ReorderHold is the longest that an event waits to be overtaken, so that the last one of
	// a test is not lost.
	ReorderHold = 10 * time.Second
)

// Settings are what a test or a developer can change while the sandbox runs.
type Settings struct {
	Webhooks WebhookMode `json:"webhooks"` // zero: normal
	// WebhookURL receives all events instead of the payments' own addresses; empty: those.
	WebhookURL    string           `json:"webhookUrl"`
	Refunds       RefundMode       `json:"refunds,omitempty"`       // zero: normal
	Errors        ErrorMode        `json:"errors,omitempty"`        // zero: none
	Confirmations ConfirmationMode `json:"confirmations,omitempty"` // zero: normal
}

func (s *Server) getSettings(w http.ResponseWriter, r *http.Request) {
	world, err := requestedWorld(r)
	respond(w, http.StatusOK, s.world().webhooks.settingsOf(cmp.Or(world, defaultWorld)), err)
}

// putSettings replaces the settings of the request's demo world, or else of the default world, which
// are also those of every world without its own. A member that is left out gets its default.
func (s *Server) putSettings(w http.ResponseWriter, r *http.Request) {
	var in Settings
	world, err := requestedWorld(r)
	if err == nil {
		err = readJSON(w, r, &in)
	}
	if err == nil {
		err = in.check()
	}
	if err == nil {
		s.world().webhooks.configure(cmp.Or(world, defaultWorld), in)
	}
	respond(w, http.StatusOK, in, err)
}

func (s *Server) reset(w http.ResponseWriter, _ *http.Request) {
	s.Reset()
	w.WriteHeader(http.StatusNoContent)
}

func (in *Settings) check() error {
	modes := []WebhookMode{WebhooksNormal, WebhooksDrop, WebhooksDuplicate, WebhooksLate, WebhooksReorder}
	in.Webhooks = cmp.Or(in.Webhooks, WebhooksNormal)
	if !slices.Contains(modes, in.Webhooks) {
		return errInvalid("invalid_settings", fmt.Sprintf("webhooks must be one of %s.", modes))
	}
	if !slices.Contains([]RefundMode{RefundsNormal, RefundsPending, RefundsRefused}, in.Refunds) {
		return errInvalid("invalid_settings", "refunds must be pending, refused or left out.")
	}
	if !slices.Contains([]ErrorMode{ErrorsNone, ErrorsBefore, ErrorsAfter}, in.Errors) {
		return errInvalid("invalid_settings", "errors must be before, after or left out.")
	}
	if !slices.Contains([]ConfirmationMode{ConfirmationsNormal, ConfirmationsProcessing}, in.Confirmations) {
		return errInvalid("invalid_settings", "confirmations must be processing or left out.")
	}
	return checkURL("webhookUrl", in.WebhookURL)
}
