package flows_test

import (
	"maps"
	"testing"
)

// TestPaymentsOfAnotherOrganisation: gateways of another organisation share the processor's account, the seal keys and
// the environment. They leave our payments alone.
func TestPaymentsOfAnotherOrganisation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ours, theirs := w.gateway(), w.gateway(gatewayOptions{organisation: "other"})
	p := w.authorised(ours)
	ev, before := event(p), w.held(p)
	w.wipe()
	w.rebuild(theirs)
	for _, metadata := range []map[string]string{before.Metadata, nil} {
		ev.Metadata = metadata
		if err := theirs.HandleEvent(t.Context(), ev); err != nil {
			t.Error(err)
		}
	}
	if keys := append(w.records(), w.woken()...); len(keys) != 0 {
		t.Errorf("Redis holds %v", keys)
	}
	if after := w.held(p); after.State != before.State || !maps.Equal(after.Metadata, before.Metadata) {
		t.Errorf("the processor holds %+v", after)
	}
	w.rebuild(ours)
	w.expectSound(w.settle(ours, p))
}
