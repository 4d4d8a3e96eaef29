package flows_test

import (
	"testing"

	"frontdesk/flows"
)

// TestMailbox: all spellings of an address that lead to one mailbox count as one, so that no stranger has ten mails a day for each.
func TestMailbox(t *testing.T) {
	t.Parallel()
	for _, spelled := range []string{"victim@example.com", " Victim@EXAMPLE.com", "victim+1@example.com", "v.i.c.tim+2@example.com"} {
		if box := flows.Mailbox(spelled); box != "victim@example.com" {
			t.Errorf("%s is counted as %s", spelled, box)
		}
	}
	if a, b := flows.Mailbox("vic.tim@googlemail.com"), flows.Mailbox("victim@gmail.com"); a != b {
		t.Errorf("the mailbox of Google counts as %s and as %s", a, b)
	}
	if a, b := flows.Mailbox("victim@example.com"), flows.Mailbox("victim@ex.ample.com"); a == b {
		t.Errorf("another domain is counted as %s", b)
	}
}
