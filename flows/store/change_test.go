package store_test

import (
	"testing"

	"frontdesk/flows"
)

// TestSilentStateChange stores a change that shows the buyer nothing new, and expects no notification.
func TestSilentStateChange(t *testing.T) {
	onEach(t, func(redis *fixture) {
		silentRegistration, silent := redis.started()
		loudRegistration, loud := redis.started()
		changes := redis.redis.Subscribe(redis.Context(), "fd:changes")
		defer changes.Close()
		if _, err := changes.Receive(redis.Context()); err != nil {
			redis.Fatal(err)
		}
		change := to(silent, flows.Intent)
		change.Silent = true
		if stored := redis.commit(change); stored.Version <= silent.Version {
			redis.Errorf("a silent change made version %d", stored.Version)
		}
		redis.commit(to(loud, flows.Intent))
		for { // other tests notify on the same channel
			message, err := changes.ReceiveMessage(redis.Context())
			if err != nil || message.Payload == registrationKey(silentRegistration) {
				redis.Fatalf("received %v (%v)", message, err)
			}
			if message.Payload == registrationKey(loudRegistration) {
				return
			}
		}
	})
}
