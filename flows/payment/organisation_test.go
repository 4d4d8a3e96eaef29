package payment_test

import (
	"maps"
	"testing"
)

// TestPaymentsOfAnotherOrganisation: gateways of another organisation share the processor's account, the seal keys and
// the environment. They leave our payments alone.
func TestPaymentsOfAnotherOrganisation(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	ours, theirs := world.Gateway(), world.Gateway(gatewayOptions{Organisation: "other"})
	payment := world.Authorised(ours)
	ev, before := event(payment), world.Held(payment)
	world.Wipe()
	world.rebuild(theirs)
	for _, metadata := range []map[string]string{before.Metadata, nil} {
		ev.Metadata = metadata
		if err := theirs.HandleEvent(t.Context(), ev); err != nil {
			t.Error(err)
		}
	}
	if keys := append(world.records(), world.Woken()...); len(keys) != 0 {
		t.Errorf("Redis holds %v", keys)
	}
	if after := world.Held(payment); after.State != before.State || !maps.Equal(after.Metadata, before.Metadata) {
		t.Errorf("the processor holds %+v", after)
	}
	world.rebuild(ours)
	world.ExpectSound(world.Settle(ours, payment))
}
