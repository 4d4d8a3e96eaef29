package payment_test

import (
	"maps"
	"testing"
)

// TestPaymentsOfAnotherOrganisation: gateways of another organisation share the processor's account, the seal keys and
// the environment. They leave our payments alone.
func TestPaymentsOfAnotherOrganisation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ours, theirs := w.Gateway(), w.Gateway(gatewayOptions{Organisation: "other"})
	p := w.Authorised(ours)
	ev, before := event(p), w.Held(p)
	w.Wipe()
	w.rebuild(theirs)
	for _, metadata := range []map[string]string{before.Metadata, nil} {
		ev.Metadata = metadata
		if err := theirs.HandleEvent(t.Context(), ev); err != nil {
			t.Error(err)
		}
	}
	if keys := append(w.records(), w.Woken()...); len(keys) != 0 {
		t.Errorf("Redis holds %v", keys)
	}
	if after := w.Held(p); after.State != before.State || !maps.Equal(after.Metadata, before.Metadata) {
		t.Errorf("the processor holds %+v", after)
	}
	w.rebuild(ours)
	w.ExpectSound(w.Settle(ours, p))
}
