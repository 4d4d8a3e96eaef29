package store_test

import (
	"testing"

	"frontdesk/flows"
)

// TestSilentStateChange stores a change that shows the buyer nothing new, and expects no notification.
func TestSilentStateChange(t *testing.T) {
	onEach(t, func(b *fixture) {
		silentRegistration, silent := b.started()
		loudRegistration, loud := b.started()
		changes := b.redis.Subscribe(b.Context(), "fd:changes")
		defer changes.Close()
		if _, err := changes.Receive(b.Context()); err != nil {
			b.Fatal(err)
		}
		change := to(silent, flows.Intent)
		change.Silent = true
		if stored := b.commit(change); stored.Version != 2 {
			b.Errorf("a silent change made version %d", stored.Version)
		}
		b.commit(to(loud, flows.Intent))
		for { // other tests notify on the same channel
			message, err := changes.ReceiveMessage(b.Context())
			if err != nil || message.Payload == registrationKey(silentRegistration) {
				b.Fatalf("received %v (%v)", message, err)
			}
			if message.Payload == registrationKey(loudRegistration) {
				return
			}
		}
	})
}
