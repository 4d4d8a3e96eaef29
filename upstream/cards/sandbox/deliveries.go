package sandbox

import (
	"net/http"
	"slices"
	"time"
)

// maxJournal is how many attempts are remembered for whoever looks for an event
// that did not come.
const maxJournal = 10_000

// Outcome is how one attempt to deliver an event ended.
type Outcome string

// The outcomes of an attempt.
const (
	Delivered Outcome = "delivered" // answered with 2xx
	Failed    Outcome = "failed"    // answered with another status, or not at all
	Dropped   Outcome = "dropped"   // never sent
)

// Delivery is one attempt to deliver an event.
type Delivery struct {
	EventID   string      `json:"eventId"`
	Type      string      `json:"type"` // such as EventCaptured
	PaymentID string      `json:"paymentId"`
	URL       string      `json:"url"`
	Webhooks  WebhookMode `json:"webhooks"`        // the mode when the event was made
	Attempt   int         `json:"attempt"`         // from 1; 0 when dropped
	Status    int         `json:"status"`          // 0 when nothing was answered
	Error     string      `json:"error,omitempty"` // why nothing was answered or sent
	Outcome   Outcome     `json:"outcome"`
	At        time.Time   `json:"at"`
}

// listDeliveries answers the attempts to deliver events, newest first: where to
// look for a webhook that did not come.
func (s *Server) listDeliveries(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"items": s.Deliveries()})
}

// drop journals an event that is never sent; c.mu is held.
func (c *webhookSender) drop(out *outgoingEvent, why string) {
	entry := out.delivery
	entry.Outcome, entry.Error = Dropped, why
	c.record(entry)
}

// record adds to the journal; c.mu is held.
func (c *webhookSender) record(entry Delivery) {
	entry.At = c.now().UTC()
	if len(c.deliveryLog) >= maxJournal {
		c.deliveryLog = c.deliveryLog[1:]
	}
	c.deliveryLog = append(c.deliveryLog, entry)
	c.log.Debug("sandbox webhook", "event", entry.EventID, "type", entry.Type, "payment", entry.PaymentID,
		"attempt", entry.Attempt, "status", entry.Status, "outcome", entry.Outcome)
}

func (c *webhookSender) deliveries() []Delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := append([]Delivery{}, c.deliveryLog...)
	slices.Reverse(items)
	return items
}
