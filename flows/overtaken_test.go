package flows_test

import (
	"testing"

	"frontdesk/flows"
)

// TestNewerDeclineStays: a gateway has read that the buyer tries again, or an earlier decline, and another one stores the decline that
// followed. The buyer is shown that one, and it counts once.
func TestNewerDeclineStays(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"the buyer tries again": true, "an earlier decline": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			late, g := w.gateway(), w.gateway()
			p := w.started(g)
			w.confirm(p, declinedCard)
			if again {
				p = w.advance(g, p)
				w.confirm(p, bankAsks)
			}
			w.injectFault(getCall, nil, func() { // while the first gateway waits for what it has read
				if again {
					w.answerChallenge(p, false)
				} else {
					w.confirm(p, declinedCard)
				}
				w.advance(g, p)
			})
			w.advance(late, p)
			p = w.advance(g, p)
			if p.State != flows.Intent || !p.Declined() || p.Declines != 2 {
				t.Errorf("%s (%s), declined: %t, %d counted", p.State, p.Reason, p.Declined(), p.Declines)
			}
		})
	}
}
