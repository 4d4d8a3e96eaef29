package simulation

import (
	"context"

	"frontdesk/flows"
)

// scheduleStranger has a stranger with the registration's address request it repeatedly.
func (f *journey) scheduleStranger() {
	if !f.plan.stranger {
		return
	}
	for range 1 + f.rng.IntN(5) {
		f.spawn(f.between(0, f.plan.faultWindow), f.anyGateway(), "stranger", f.askAsStranger)
	}
}

// askAsStranger sends requests for what only the holder may have, with a token that was never issued.
func (f *journey) askAsStranger(ctx context.Context, t *task) {
	forged := "x" + f.token[1:]
	if forged == f.token {
		forged = "y" + f.token[1:]
	}
	what := oneOf(f, "pay", "abandon", "look")
	f.fault(strangerAsked)
	var err error
	switch what {
	case "pay":
		_, err = t.gateway.registrations.Pay(ctx, f.registration, forged, flows.StartPayment{Method: flows.ByCard})
	case "abandon":
		_, err = t.gateway.registrations.Abandon(ctx, f.registration, forged)
	default:
		_, err = t.gateway.registrations.Get(ctx, f.registration, forged)
	}
	f.tracef("%s: a stranger: %s: %v", t.gateway.name, what, err)
	if err == nil {
		f.served = append(f.served, what)
	}
}
