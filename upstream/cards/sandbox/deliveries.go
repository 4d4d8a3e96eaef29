package sandbox

import (
	"net/http"
	"slices"
	"time"
)

// maxDeliveryLog is how many attempts are kept for a developer who misses an event.
const maxDeliveryLog = 10_000

// Outcome is how one attempt to deliver an event ended.
type Outcome string

// The outcomes of an attempt.
const (
	Delivered Outcome = "delivered" // the receiver responded 2xx
	Failed    Outcome = "failed"    // another status, or no response
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
	Status    int         `json:"status"`          // 0: no response
	Error     string      `json:"error,omitempty"` // why there was no response, or why it was not sent
	Outcome   Outcome     `json:"outcome"`
	At        time.Time   `json:"at"`
}

// listDeliveries responds with the attempts to deliver events, newest first.
func (s *Server) listDeliveries(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"items": s.Deliveries()})
}

// drop logs an event that is never sent; c.mu is held.
func (c *webhookSender) drop(out *outgoingEvent, why string) {
	entry := out.delivery
	entry.Outcome, entry.Error = Dropped, why
	c.record(entry)
}

// record adds to the log; c.mu is held.
func (c *webhookSender) record(entry Delivery) {
	entry.At = c.cfg.Now().UTC()
	if len(c.deliveryLog) >= maxDeliveryLog {
		c.deliveryLog = c.deliveryLog[1:]
	}
	c.deliveryLog = append(c.deliveryLog, entry)
	c.cfg.Logger.Debug("sandbox webhook", "event", entry.EventID, "type", entry.Type, "payment", entry.PaymentID,
		"attempt", entry.Attempt, "status", entry.Status, "outcome", entry.Outcome)
}

// deliveries returns a copy of the log, newest first.
func (c *webhookSender) deliveries() []Delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := append([]Delivery{}, c.deliveryLog...)
	slices.Reverse(items)
	return items
}
