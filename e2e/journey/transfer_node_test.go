package journey_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestTransferActsFromTheRightNode: installations differ in where a move must act from. A refusal sends no code, so the gateway finds
// the right node, and remembers it. A contact that has a new identifier afterwards is followed.
func TestTransferActsFromTheRightNode(t *testing.T) {
	t.Parallel()
	for node, tries := range map[string]int{"above": 1, "destination": 2, "source": 3} {
		for _, renewed := range []bool{false, true} {
			t.Run(node, func(t *testing.T) {
				t.Parallel()
				env := frontdesktest.NewEnv(t)
				_, client := env.Gateway(t)
				client.Control(http.MethodPut, "settings", map[string]any{"migrationNode": node, "migrationNewId": renewed}).
					Into(http.StatusOK, nil)
				moveBy := func(persona string) (statuses []int) {
					before := len(client.Calls())
					member := client.As(persona)
					var transfer api.Transfer
					member.Do(http.MethodPost, "/v1/me/transfer", api.NewTransfer{ClubId: "11"}, frontdesktest.Key("")).
						Into(http.StatusCreated, &transfer)
					member.Do(http.MethodPost, "/v1/me/transfer/signature", api.Signature{Code: client.LatestCode()}, frontdesktest.Key("")).
						Into(http.StatusCreated, &transfer)
					member.Do(http.MethodGet, "/v1/me/transfer", nil).Into(http.StatusOK, &transfer)
					if transfer.State != api.SignatureSigned {
						t.Errorf("the move of %s is %s", persona, transfer.State)
					}
					for _, call := range client.Calls()[before:] {
						if call.Operation == "createContactMigrationRequest" {
							statuses = append(statuses, call.Status)
						}
					}
					return statuses
				}
				want := append(slices.Repeat([]int{http.StatusBadRequest}, tries-1), http.StatusCreated)
				if got := moveBy("former"); !slices.Equal(got, want) {
					t.Errorf("the first move ends as %v, want %v", got, want)
				}
				if got := moveBy("prospect"); !slices.Equal(got, []int{http.StatusCreated}) {
					t.Errorf("the second move ends as %v", got)
				}
				if sent := client.SMS(); len(sent) != 2 {
					t.Errorf("%d codes were sent", len(sent))
				}
				for _, persona := range []string{"former", "prospect"} {
					number := client.Persona(persona).ContactID
					stays := slices.ContainsFunc(env.Upstreams.Sim.Contacts(), func(contact clubsim.Contact) bool {
						return contact.ID == number && !contact.Deleted && strings.HasSuffix(contact.ClubID, "/11")
					})
					if stays == renewed {
						t.Errorf("%s is in the new club under the same number: %t", persona, stays)
					}
				}
			})
		}
	}
}
