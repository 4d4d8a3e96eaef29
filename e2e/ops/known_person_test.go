package ops_test

import (
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestStaffLearnOfKnownPerson: a buyer with the e-mail address of another contact pays like any other. Subscribers and
// operators learn that there are two contacts, and no address.
func TestStaffLearnOfKnownPerson(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	if err := env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.UniqueEmail = "all" }); err != nil {
		t.Fatal(err)
	}
	crm := newSubscriber(t, "crm", 204)
	process, client := env.Gateway(t, subscribe(t, crm.config(flows.EmailInUse)))
	client.Register() // a stranger
	person := frontdesktest.Person()
	person.Email = "Customer@example.com"
	known := client.RegisterWith(client.Club(), person,
		api.NewItem{OfferId: client.CardOffer(client.Club()).Id, StartDate: new(frontdesktest.Day(1))})
	client.Confirm(client.Pay(known.Id), frontdesktest.ApprovedCard)
	client.Await(known.Id, api.Completed)

	contacts := env.Upstreams.Sim.Contacts()
	id := club.IRI(contacts[len(contacts)-1].ID).ID()
	crm.await("one event", func(got []delivered) bool {
		return len(got) == 1 && got[0].Type == flows.EmailInUse && len(got[0].Data) == 2 && got[0].Data["contactId"] == id &&
			got[0].Data["clubId"] == known.ClubId
	})
	at := process.OpsAddress()
	expectAll(t, mustRunCLI(t, at, "list", "--all"), known.Id+"-1", "another contact has the buyer's e-mail address")
	expectAll(t, mustRunCLI(t, at, "show", known.Id+"-1"), "lacks the e-mail address", "join them")
}
