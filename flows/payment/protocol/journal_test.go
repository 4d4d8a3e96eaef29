package protocol_test

import (
	"testing"
	"time"

	"frontdesk/flows/payment/protocol"
)

// TestJournal: a claim is open only if every earlier one was released by its holder, and nothing was accepted.
func TestJournal(t *testing.T) {
	t.Parallel()
	const a, b, refund = "1772476200000-4a2f1d3c-0b7e-4a57-9a37-6f1d9d1f0c11", "b", "refund-c"
	for name, test := range map[string]struct {
		metadata  map[string]string
		last      int
		attempt   string
		available int  // the claim that is open to a first attempt; 0: none of the first three
		begun     bool // a refund
	}{
		"nothing":                       {nil, 0, "", 1, false},
		"held":                          {map[string]string{"fd_post_1": a}, 1, a, 0, false},
		"released by its holder":        {map[string]string{"fd_post_1": a, "fd_release_1": a}, 1, a, 2, false},
		"released by another":           {map[string]string{"fd_post_1": a, "fd_release_1": b}, 1, a, 0, false},
		"released before anyone":        {map[string]string{"fd_release_1": b}, 1, b, 2, false},
		"the second held":               {map[string]string{"fd_post_1": a, "fd_release_1": a, "fd_post_2": b}, 2, b, 0, false},
		"accepted":                      {map[string]string{"fd_post_1": a, "fd_release_1": a, "fd_done_1": a}, 1, a, 0, false},
		"accepted under any number":     {map[string]string{"fd_done_99": a}, 0, "", 0, false},
		"emptied":                       {map[string]string{"fd_post_1": ""}, 0, "", 1, false},
		"other numbers":                 {map[string]string{"fd_post_0": a, "fd_post_01": a, "fd_post_x": a, "fd_op_1": a}, 0, "", 1, false},
		"a refund":                      {map[string]string{"fd_post_1": refund}, 1, refund, 0, true},
		"a refund over an open claim":   {map[string]string{"fd_post_1": a, "fd_post_2": refund}, 2, refund, 0, false},
		"a refund's number given up":    {map[string]string{"fd_post_1": refund, "fd_release_1": b}, 1, refund, 0, true},
		"a refund that was given up":    {map[string]string{"fd_post_1": refund, "fd_release_1": refund}, 1, refund, 2, true},
		"a refund of what was accepted": {map[string]string{"fd_post_1": refund, "fd_done_1": a}, 1, refund, 0, false},
	} {
		journal := protocol.ReadJournal(test.metadata)
		open := 0
		for n := 3; n > 0; n-- {
			if journal.Available(n, "") {
				open = n
			}
		}
		n, attempt := journal.Last()
		if n != test.last || attempt != test.attempt || open != test.available || journal.RefundBegun() != test.begun {
			t.Errorf("%s: claim %d of %q, open is %d, refund begun %t", name, n, attempt, open, journal.RefundBegun())
		}
	}
	if j := protocol.ReadJournal(map[string]string{"fd_post_1": a}); !j.Available(1, a) || j.Available(1, b) || j.ByOperator {
		t.Error("a held claim is not its holder's alone")
	}
	if j := protocol.ReadJournal(map[string]string{"fd_released_by": "operator"}); !j.ByOperator {
		t.Error("the operator's release is not seen")
	}
	if at, ok := protocol.AttemptStart(a); !ok || !at.Equal(time.UnixMilli(1772476200000)) {
		t.Errorf("an attempt began at %s", at)
	}
	for _, text := range []string{"", b, refund, "x-4a2f1d3c-0b7e-4a57-9a37-6f1d9d1f0c11"} {
		if _, ok := protocol.AttemptStart(text); ok {
			t.Errorf("%q has a time", text)
		}
	}
}
