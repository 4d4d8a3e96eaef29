package journey_test

import (
	"encoding/json"
	"fmt"
	"net/http"
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
		stranger, strangers := signUp(t, "p-stranger@example.com", settings)
		frontdesktest.Eventually(t, "the stranger's contact has the address", func() bool {
			return latestCustomer(t, strangers).Email == "p-stranger@example.com"
		})
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
	for _, contact := range contactsOf(t, env) {
		if contact.Status == "customer" {
			latest = contact
		}
	}
	return latest
}

// withEmail returns the contacts with an e-mail address.
func withEmail(t *testing.T, env frontdesktest.Env, email string) []storedContact {
	t.Helper()
	return slices.DeleteFunc(contactsOf(t, env), func(c storedContact) bool { return c.Email != email || c.Deleted })
}

// TestCallsForKnownPerson: once the club system has refused an e-mail address, each route makes the same calls for a member as for a
// stranger before its response.
func TestCallsForKnownPerson(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	uniqueEmail(t, env, "all")
	_, client := env.Gateway(t)
	visits := 0
	visit := func(email string) (calls []string) {
		visits++
		visitor := *client
		visitor.Token = ""
		call := func(method, path string, body any) *frontdesktest.Response {
			before := len(env.Upstreams.Sim.Requests())
			response := visitor.Do(method, path, body, frontdesktest.Key(""))
			made := []string{}
			for _, request := range env.Upstreams.Sim.Requests()[before:] {
				made = append(made, fmt.Sprint(request.Method, " ", identifier.ReplaceAllString(request.Path, "/*"), " ", request.Status))
			}
			slices.Sort(made) // some are concurrent
			path = changing.ReplaceAllString(path, "…")
			calls = append(calls, fmt.Sprintf("%s %s: %d %s", method, path, response.Status, strings.Join(made, ", ")))
			return response
		}
		person := frontdesktest.Person()
		person.Email, person.Mobile = email, fmt.Sprint("+336987654", 10+visits) // a phone gets few codes
		start := api.StartRegistration{ClubId: "11", Person: person, Items: &[]api.NewItem{{OfferId: cardOnlyOffer}}}
		var registration api.Registration
		call("POST", "/v1/registrations", start).Into(http.StatusCreated, &registration)
		visitor.Token = *registration.Token
		path := "/v1/registrations/" + registration.Id
		call("PUT", path+"/person", person)
		call("PATCH", path+"/person", `{"givenName":"Grace"}`)
		call("PATCH", path+"/person", fmt.Sprintf(`{"email":%q}`, email))
		call("PATCH", path+"/person", `{"email":"p-another@example.com"}`)
		call("PATCH", path+"/person", fmt.Sprintf(`{"email":%q}`, email))
		call("GET", path+"/consents", nil)
		call("POST", path+"/prospect", api.Prospect{AccessToken: "another's"})
		call("POST", path+"/items", api.NewItem{OfferId: frontdesktest.DirectDebit, StartDate: new(frontdesktest.Day(1))})
		call("POST", path+"/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN})
		call("DELETE", path+"/mandate/signature", nil)
		call("DELETE", path+"/items", nil)
		call("POST", path+"/items", api.NewItem{OfferId: cardOnlyOffer})
		call("POST", path+"/check", nil)
		call("POST", path+"/resume-link", nil)
		call("GET", path+"/schedule", nil)
		call("GET", path, nil)
		call("DELETE", path, nil)
		call("POST", "/v1/registrations", start)
		return calls
	}
	visit("customer@example.com") // whose address is refused
	stranger := visit("p-stranger@example.com")
	for _, persona := range []string{"customer", "prospect", "former", "banned"} {
		if known := visit(persona + "@example.com"); !slices.Equal(known, stranger) {
			t.Errorf("a stranger's requests make the calls\n%s\nand those of a %s\n%s",
				strings.Join(stranger, "\n"), persona, strings.Join(known, "\n"))
		}
	}
}

// identifier matches one in a path of the club system.
var identifier = regexp.MustCompile(`/[0-9]+`)

func uniqueEmail(t *testing.T, env frontdesktest.Env, setting string) {
	t.Helper()
	if err := env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.UniqueEmail = setting }); err != nil {
		t.Fatal(err)
	}
}

// TestKnownProspectMigrates: a prospect of another club signs up with their own e-mail address, brings their account along and pays. In
// the end the account that is left has the address, and staff need not compare anything.
func TestKnownProspectMigrates(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"all", "exceptTemp"} {
		for _, keeps := range []string{"source", "target"} {
			t.Run(setting+" "+keeps, func(t *testing.T) {
				t.Parallel()
				env := frontdesktest.NewEnv(t)
				uniqueEmail(t, env, setting)
				if err := env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.MigrationKeeps = keeps }); err != nil {
					t.Fatal(err)
				}
				_, client := env.Gateway(t)
				person := frontdesktest.Person()
				person.Email = "prospect@example.com"
				registration := client.RegisterWith("11", person, api.NewItem{OfferId: cardOnlyOffer})
				path := "/v1/registrations/" + registration.Id
				client.Do("PATCH", path+"/person", `{"givenName":"Grace"}`, frontdesktest.Key("")).Into(http.StatusOK, nil)
				token := api.Prospect{AccessToken: client.Persona("prospect").AccessToken}
				client.Do("POST", path+"/prospect", token, frontdesktest.Key("")).Into(http.StatusCreated, nil)
				client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
				client.Await(registration.Id, api.Completed)
				env.ExpectOnePayment(t, registration.Cart.DueNow.Amount)
				contacts := withEmail(t, env, person.Email)
				contacts = slices.DeleteFunc(contacts, func(c storedContact) bool { return c.Status == "temp" }) // of the detail before
				if len(contacts) != 1 || contacts[0].ClubID != 11 || contacts[0].GivenName == "Ada" {
					t.Errorf("the address is that of %+v", contacts)
				}
			})
		}
	}
}

// TestEmailRequired: where a contact needs an e-mail address that no other one has, a person whose address is known is sent to the desk,
// and does not learn why.
func TestEmailRequired(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	uniqueEmail(t, env, "all")
	if err := env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.RequireEmail = true }); err != nil {
		t.Fatal(err)
	}
	_, client := env.Gateway(t)
	start := func(email string) *frontdesktest.Response {
		person := frontdesktest.Person()
		person.Email = email
		return client.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Person: person}, frontdesktest.Key(""))
	}
	for _, persona := range []string{"customer", "prospect"} {
		problem := start(persona + "@example.com").Problem(api.InvalidRequest)
		text := frontdesktest.Value(problem.Detail)
		if !strings.Contains(text, "desk") || strings.Contains(text, "mail") || problem.Errors != nil {
			t.Errorf("the visitor reads %q, %+v", text, problem.Errors)
		}
	}
	start("p-stranger@example.com").Into(http.StatusCreated, nil)
	if found := withEmail(t, env, "p-stranger@example.com"); len(found) != 1 {
		t.Errorf("the stranger's contacts are %+v", found)
	}
}
