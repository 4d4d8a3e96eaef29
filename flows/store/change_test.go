package store_test

import (
	"testing"

	"frontdesk/flows"
)

// TestSilentStateChange: a move that shows nothing new to the buyer is stored, and nobody is told.
func TestSilentStateChange(t *testing.T) {
	onEach(t, func(b *fixture) {
		_, quiet := b.started()
		loud, other := b.started()
		told := b.redis.Subscribe(b.Context(), "fd:changes")
		defer told.Close()
		if _, err := told.Receive(b.Context()); err != nil {
			b.Fatal(err)
		}
		unseen := to(quiet, flows.Intent)
		unseen.Silent = true
		if moved := b.commit(unseen); moved.Version != 2 {
			b.Errorf("an unseen move made version %d", moved.Version)
		}
		b.commit(to(other, flows.Intent))
		if first, err := told.ReceiveMessage(b.Context()); err != nil || first.Payload != registrationKey(loud) {
			b.Errorf("first heard of %v (%v), want %s", first, err, registrationKey(loud))
		}
	})
}
