package journey_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// transcript is what a visitor's front end sees: each request with its response, without what is new in every journey.
type transcript struct {
	t      *testing.T
	client *frontdesktest.Client
	seen   []string
}

// changing matches ids, tokens, secrets, instants and versions.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|` +
	`[A-Za-z0-9_-]{22,}|"(sequence|version)":[^,}]+`)

func (t *transcript) do(method, path string, body any) []byte {
	t.t.Helper()
	response := t.client.Do(method, path, body, frontdesktest.Key(""))
	var headers []string
	for name := range response.Header {
		headers = append(headers, name)
	}
	slices.Sort(headers)
	t.seen = append(t.seen, changing.ReplaceAllString(
		fmt.Sprintf("%s %s: %d %v\n%s", method, path, response.Status, headers, response.Body), "…"))
	return response.Body
}

// signUp registers a person with an e-mail address, who makes mistakes, corrects them and pays.
func signUp(t *testing.T, email string, settings func(*clubsim.Settings)) ([]string, frontdesktest.Env) {
	t.Helper()
	env := frontdesktest.NewEnv(t)
	if err := env.Upstreams.Sim.Configure(settings); err != nil {
		t.Fatal(err)
	}
	_, client := env.Gateway(t)
	visitor := &transcript{t: t, client: client}
	person := frontdesktest.Person()
	person.Email = email
	offer := client.CardOffer(client.Club()).Id
	start := api.StartRegistration{ClubId: client.Club(), Person: person,
		Items: &[]api.NewItem{{OfferId: offer, StartDate: new(frontdesktest.Day(1))}}}
	var registration api.Registration
	if err := json.Unmarshal(visitor.do("POST", "/v1/registrations", start), &registration); err != nil || registration.Token == nil {
		t.Fatalf("not registered: %v\n%s", err, visitor.seen)
	}
	client.Token = *registration.Token
	path := "/v1/registrations/" + registration.Id
	visitor.do("GET", path, nil)
	visitor.do("PUT", path+"/person", person)
	visitor.do("PATCH", path+"/person", `{"mobile":"0612"}`)
	visitor.do("PATCH", path+"/person", `{"givenName":"Grace"}`)
	visitor.do("PATCH", path+"/person", fmt.Sprintf(`{"email":%q}`, email))
	visitor.do("GET", path+"/consents", nil)
	visitor.do("POST", path+"/check", nil)
	visitor.do("GET", path, nil)
	payment := client.Pay(registration.Id)
	client.Confirm(payment, frontdesktest.ApprovedCard)
	client.Await(registration.Id, api.Completed)
	visitor.do("GET", path, nil)
	visitor.do("POST", "/v1/registrations", start) // again, as another visitor
	env.ExpectOnePayment(t, registration.Cart.DueNow.Amount)
	return visitor.seen, env
}

// TestKnownPerson: no response shows whether the club system knows an e-mail address, and none refuses the visitor because it does.
// What the API says, and in which order, is the same for a stranger, a member, a prospect of another club, a former member and
// a banned person.
func TestKnownPerson(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"all", "exceptTemp"} {
		settings := func(settings *clubsim.Settings) { settings.UniqueEmail = setting }
		stranger, _ := signUp(t, "p-stranger@example.com", settings)
		for _, persona := range []string{"customer", "prospect", "former", "banned"} {
			t.Run(setting+" "+persona, func(t *testing.T) {
				t.Parallel()
				known, env := signUp(t, persona+"@example.com", settings)
				for i := range stranger {
					said := strings.ReplaceAll(stranger[i], "p•••@", persona[:1]+"•••@")
					if known[i] != said {
						t.Errorf("a stranger gets\n%s\nand a %s\n%s", said, persona, known[i])
					}
				}
				if buyer := latestCustomer(t, env); (buyer.Email == "") != (setting == "all") || buyer.GivenName != "Grace" {
					t.Errorf("the buyer is %+v", buyer)
				}
			})
		}
	}
}

// latestCustomer returns the contact that became a member last.
func latestCustomer(t *testing.T, env frontdesktest.Env) (latest storedContact) {
	t.Helper()
	var snapshot struct {
		State struct {
			Contacts struct {
				Rows []struct {
					storedContact
					Status string
				}
			}
		}
	}
	if err := json.Unmarshal(env.Upstreams.Sim.Snapshot(), &snapshot); err != nil {
		t.Fatal(err)
	}
	for _, contact := range snapshot.State.Contacts.Rows {
		if contact.Status == "customer" {
			latest = contact.storedContact
		}
	}
	return latest
}
