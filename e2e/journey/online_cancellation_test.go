package journey_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestMemberCancels: a logged-in member sees the last day before confirming, and the club system then ends the membership, once.
func TestMemberCancels(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	client.Control("PUT", "settings", map[string]any{"onlineCancellation": true}).Into(http.StatusOK, nil)
	membership := memberships(client, "flexible", "en")[0]
	member := client.As("flexible")
	member.Do("POST", "/v1/cancellations", map[string]string{"membership": "99999"}, frontdesktest.Key("")).Problem(api.InvalidRequest)
	statement, path := stated(t, member, "cancellation", map[string]string{"membership": membership.Id})
	if statement.EndDate == nil || *statement.EndDate != *membership.EarliestEnd || *statement.Membership != membership.Name {
		t.Fatalf("the statement is %+v, of %+v", statement, membership)
	}
	done := func() (list struct{ Items []clubsim.Cancellation }) {
		client.Control("GET", "cancellations", nil).Into(http.StatusOK, &list)
		return list
	}
	if n := len(done().Items); n != 0 {
		t.Fatalf("%d memberships have ended before the confirmation", n)
	}
	_, elsewhere := stated(t, member, "cancellation", map[string]string{"membership": membership.Id}) // on another device
	acknowledgement := confirmed(t, client, path)
	if other := confirmed(t, client, elsewhere); other.EndDate != nil {
		t.Errorf("the same membership was cancelled again: %+v", other)
	}
	if acknowledgement.EndDate == nil || *acknowledgement.EndDate != *statement.EndDate || strings.Contains(acknowledgement.Text, "follows") {
		t.Errorf("it is acknowledged as %+v", acknowledgement)
	}
	if ended := done().Items; len(ended) != 1 || ended[0].Date != *statement.EndDate || ended[0].Repeated != 0 {
		t.Errorf("the club system has %+v", ended)
	}
	shown := memberships(client, "flexible", "en")[0]
	if shown.Cancellation != "statement" || shown.EndDate == nil || *shown.EndDate != *statement.EndDate {
		t.Errorf("afterwards, the membership is %+v", shown)
	}
	if again, _ := stated(t, member, "cancellation", map[string]string{"membership": membership.Id}); again.EndDate != nil {
		t.Errorf("a cancelled membership is cancelled again: %+v", again)
	}
}
