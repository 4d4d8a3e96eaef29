package journey_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// agent is a coding agent that has started frontdesk mcp.
type agent struct {
	*mcp.ClientSession
	t *testing.T
}

func newAgent(t *testing.T, version string, flags ...string) agent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), frontdesktest.Patience)
	defer cancel()
	command := exec.Command(frontdesktest.Binary(t), append([]string{"mcp"}, flags...)...)
	command.Stderr = os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: command}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	frontdesktest.Must(t, err)
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("frontdesk mcp ended with %v", err)
		}
	})
	return agent{session, t}
}

// use calls a tool, and returns what the agent reads and whether it is an error.
func (a agent) use(tool string, arguments any) (text string, failed bool) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), frontdesktest.Patience)
	defer cancel()
	result, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	frontdesktest.Must(a.t, err)
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

// read uses a tool that must succeed, and decodes what it returns; nil: anything.
func (a agent) read(tool string, arguments, into any) {
	a.t.Helper()
	text, failed := a.use(tool, arguments)
	if failed {
		a.t.Fatalf("%s: %s", tool, text)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			a.t.Fatalf("%s returns %s: %v", tool, text, err)
		}
	}
}

// refused uses a tool that must fail, with a reason.
func (a agent) refused(tool string, arguments any, reasons ...string) {
	a.t.Helper()
	text, failed := a.use(tool, arguments)
	if !failed || slices.ContainsFunc(reasons, func(reason string) bool { return !strings.Contains(text, reason) }) {
		a.t.Errorf("%s: %v, %s; want %q", tool, failed, text, reasons)
	}
}

type members = map[string]any

// TestAgentControlsMock: a client of the protocol's own SDK does what the outside world does during signups, in a world of its own.
func TestAgentControlsMock(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, gateway.URL)
	client.World = "demo-agent"
	agent := newAgent(t, "", "--url", gateway.URL+"/", "--world", "demo-agent", "--snapshots", filepath.Join(t.TempDir(), "snapshots"))

	if about := agent.InitializeResult(); !strings.Contains(about.Instructions, gateway.URL+"/openapi.yaml") {
		t.Errorf("the agent reads %+v", about)
	}
	agent.signsByCode(client)
	agent.paysAfterChallenge(client)
	agent.losesRecording(client)
	agent.movesTime()
	agent.is(client)

	agent.read("reset_world", nil, nil)
	if records := client.Records(); len(records.Ledger) != 0 {
		t.Errorf("after the reset, the ledger holds %+v", records.Ledger)
	}
	if demo, _ := agent.use("read_ledger", members{"world": "demo"}); demo != `{"items":[]}` {
		t.Errorf("another world's ledger is %s", demo)
	}
}

// signsByCode reads the code of a mandate.
func (a agent) signsByCode(client *frontdesktest.Client) {
	a.t.Helper()
	a.read("set_settings", members{"settings": members{"smsCode": members{"fixed": "246810"}}}, nil)
	client.Token = ""
	registration := client.RegisterWith("11", frontdesktest.Person(), frontdesktest.DebitItem("2031-03-01"))
	client.Do("POST", "/v1/registrations/"+registration.Id+"/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN},
		frontdesktest.Key("")).Into(http.StatusCreated, nil)
	var sent clubsim.Items[clubsim.SMS]
	a.read("list_sms", nil, &sent)
	if len(sent.Items) != 1 || sent.Items[0].Code != "246810" {
		a.t.Fatalf("the SMS are %+v", sent.Items)
	}
	client.Do("POST", "/v1/registrations/"+registration.Id+"/mandate/signature", members{"code": sent.Items[0].Code},
		frontdesktest.Key("")).Into(http.StatusCreated, nil)
}

// paysAfterChallenge pays as a buyer whose bank asks, and restores what was before.
func (a agent) paysAfterChallenge(client *frontdesktest.Client) {
	a.t.Helper()
	registration := client.Register()
	payment := client.Pay(registration.Id)
	a.read("save_snapshot", members{"name": "unpaid"}, nil)
	a.read("confirm_payment", members{"payment": *payment.Card.ClientSecret, "card": "4000002500003155"}, nil)
	var payments clubsim.Items[struct{ ID, State string }]
	a.read("list_payments", nil, &payments)
	if len(payments.Items) != 1 || payments.Items[0].State != "requires_action" {
		a.t.Fatalf("the payments are %+v", payments.Items)
	}
	a.read("answer_challenge", members{"payment": payments.Items[0].ID, "approve": true}, nil)
	client.Await(registration.Id, api.Completed)
	client.Records().ExpectOnePayment(a.t, payment.Total.Amount)
	a.read("restore_snapshot", members{"name": "unpaid"}, nil)
	if records := client.Records(); len(records.Ledger) != 0 {
		a.t.Errorf("the restored world's ledger holds %+v", records.Ledger)
	}
	a.read("delete_world", nil, nil)
	client.Do("GET", "/v1/registrations/"+registration.Id, nil).Problem(api.RegistrationNotFound)
	a.refused("restore_snapshot", members{"name": "other"}, "no such snapshot")
	a.refused("save_snapshot", members{"name": "../unpaid"}, "name: letters")
}

// losesRecording sets a fault that hits once.
func (a agent) losesRecording(client *frontdesktest.Client) {
	a.t.Helper()
	a.read("reset_world", nil, nil)
	a.read("set_faults", members{"faults": []any{members{"match": frontdesktest.RecordPayment, "kind": "drop_after", "times": 1}}}, nil)
	client.Token = ""
	registration := client.Register()
	payment := client.Pay(registration.Id)
	a.read("confirm_payment", members{"payment": *payment.Card.ClientSecret, "card": frontdesktest.ApprovedCard}, nil)
	client.AwaitPayment(registration.Id, api.InDoubt)
	var faults clubsim.Items[clubsim.Fault]
	a.read("get_faults", nil, &faults)
	if len(faults.Items) != 1 || faults.Items[0].Hits != 1 {
		a.t.Errorf("the faults are %+v", faults.Items)
	}
	client.Records().ExpectOnePayment(a.t, payment.Total.Amount)
	a.refused("set_faults", members{"faults": []any{members{"kind": "storm"}}}, "400", `storm`, "drop_after")
}

func (a agent) movesTime() {
	a.t.Helper()
	var clock struct{ Now string }
	a.read("set_clock", members{"now": "2031-05-06T07:08:09Z"}, nil)
	a.read("set_clock", members{"advance": "P1M", "now": nil}, nil)
	a.read("get_clock", nil, &clock)
	if !strings.HasPrefix(clock.Now, "2031-06-06T07:08:") {
		a.t.Errorf("the clock shows %s", clock.Now)
	}
	a.refused("set_clock", nil, `either \"now\" or \"advance\" is needed`)
	a.refused("set_clock", members{"to": "2031-05-06T07:08:09Z"}, "has no argument to", "world, now, advance")
	a.refused("confirm_payment", members{"payment": "pi_1"}, "the argument card is missing")
}

// is logs in as a person whom a club knows.
func (a agent) is(client *frontdesktest.Client) {
	a.t.Helper()
	var personas clubsim.Items[clubsim.Persona]
	a.read("list_personas", nil, &personas)
	at := slices.IndexFunc(personas.Items, func(p clubsim.Persona) bool { return p.Key == "customer" })
	client.Token = personas.Items[at].IdentityToken
	var me api.Me
	client.Do("GET", "/v1/me", nil).Into(http.StatusOK, &me)
	if me.Status != "customer" {
		a.t.Errorf("the persona is %+v", me)
	}
	var calls clubsim.Items[clubsim.Request]
	a.read("list_requests", members{"after": client.Calls()[0].Number}, &calls)
	if len(calls.Items) == 0 || calls.Items[0].Number <= client.Calls()[0].Number {
		a.t.Errorf("the calls are %+v", calls.Items)
	}
}

// TestEveryToolOfAgents uses each tool that needs no argument, in each version of the protocol, and checks what an agent knows of it.
func TestEveryToolOfAgents(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs", "how-to", "let-an-agent-drive-the-mock.md"))
	frontdesktest.Must(t, err)
	gateway := frontdesktest.NewMock(t)
	for _, version := range []string{"2026-07-28", "2025-11-25", "2024-11-05"} {
		agent := newAgent(t, version, "--url", gateway.URL)
		if got := agent.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("%s is spoken as %s", version, got)
		}
		used := 0
		for tool, err := range agent.Tools(t.Context(), nil) {
			frontdesktest.Must(t, err)
			schema := tool.InputSchema.(members)
			if tool.Description == "" || tool.Annotations == nil || schema["type"] != "object" {
				t.Errorf("an agent knows of %s: %+v", tool.Name, tool)
			}
			if !strings.Contains(string(guide), "`"+tool.Name+"`") {
				t.Errorf("the guide lacks %s", tool.Name)
			}
			if len(schema["required"].([]any)) == 0 && tool.Name != "set_clock" {
				agent.read(tool.Name, nil, nil)
				used++
			}
		}
		if used < 12 {
			t.Errorf("%d tools were used", used)
		}
	}
}

// TestAgentWithoutMock: the agent reads what is missing.
func TestAgentWithoutMock(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, "", "--url", "http://127.0.0.1:1")
	agent.refused("list_sms", nil, "no response from http://127.0.0.1:1", "Is a mock running there?")
	out, err := exec.Command(frontdesktest.Binary(t), "mcp", "--url", "localhost:8080").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "must be an address such as http://localhost:8080") {
		t.Errorf("%v, %s", err, out)
	}
}
