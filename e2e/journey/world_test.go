package journey_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// newWorldClient returns a front end in a world of its own of mock mode.
func newWorldClient(t *testing.T, mock *frontdesktest.Process, world string) *frontdesktest.Client {
	t.Helper()
	client := frontdesktest.NewClient(t, mock.URL)
	client.World = world
	return client
}

const card = "4242424242424242"

// TestSnapshotIsWhole: after a restore the registration, the card processor and the club system's ledger agree, and the sale can be paid
// once. Another world takes the club system alone.
func TestSnapshotIsWhole(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := newWorldClient(t, mock, "demo-snapshot")
	registration := client.Register()
	snapshot := client.Control("GET", "state", nil)
	for range 2 {
		payment := client.Pay(registration.Id)
		client.Confirm(payment, card)
		client.Await(registration.Id, api.Completed)
		client.Records().ExpectOnePayment(t, payment.Total.Amount)
		client.Control("PUT", "state", string(snapshot.Body)).Into(http.StatusNoContent, nil)
		if state := client.Registration(registration.Id).State; state != api.Open || len(client.Records().Ledger) != 0 {
			t.Errorf("after the restore the registration is %s, and the ledger has %v", state, client.Records().Ledger)
		}
	}
	var taken map[string]any
	snapshot.Into(http.StatusOK, &taken)
	taken["version"] = 4
	old, _ := json.Marshal(taken)
	if refused := client.Control("PUT", "state", string(old)); refused.Status != http.StatusBadRequest ||
		!strings.Contains(string(refused.Body), "version 4") {
		t.Errorf("an old snapshot: %d %s", refused.Status, refused.Body)
	}
	if state := client.Registration(registration.Id).State; state != api.Open {
		t.Errorf("a refused snapshot has made the registration %s", state)
	}
	other := newWorldClient(t, mock, "demo-other")
	other.Token = client.Token
	other.Control("PUT", "state", string(snapshot.Body)).Into(http.StatusNoContent, nil)
	other.Do("GET", "/v1/registrations/"+registration.Id, nil).Problem(api.RegistrationNotFound)
}

// TestResetForgetsRegistrations: what was open before a reset is unknown at once, in that world alone. A deleted world is as new.
func TestResetForgetsRegistrations(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client, neighbour := newWorldClient(t, mock, "demo-reset"), newWorldClient(t, mock, "demo-neighbour")
	theirs := neighbour.Register()
	for method, path := range map[string]string{"POST": "reset", "DELETE": ""} {
		mine := client.Register()
		client.Pay(mine.Id)
		client.Control("PUT", "settings", `{"pageSize":9}`).Into(http.StatusOK, nil)
		client.Control(method, path, nil).Into(http.StatusNoContent, nil)
		client.Do("GET", "/v1/registrations/"+mine.Id, nil).Problem(api.RegistrationNotFound)
		var settings struct{ PageSize int }
		client.Control("GET", "settings", nil).Into(http.StatusOK, &settings)
		if settings.PageSize == 9 {
			t.Errorf("%s %s leaves the settings", method, path)
		}
	}
	if state := neighbour.Registration(theirs.Id).State; state != api.Open {
		t.Errorf("the neighbour's registration is %s", state)
	}
}

// TestClockMovesTheWholeWorld: start dates and the expiry of a registration follow the clock of its world, and those of others do not. A
// payment under way is not repeated.
func TestClockMovesTheWholeWorld(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client, neighbour := newWorldClient(t, mock, "demo-clock"), newWorldClient(t, mock, "demo-neighbour")
	earliest := func(of *frontdesktest.Client) string {
		var config api.Config
		of.Do("GET", "/v1/config", nil).Into(http.StatusOK, &config)
		return string(config.StartDates.Earliest)
	}
	paid, open := client.Register(), newWorldClient(t, mock, "demo-clock")
	expiring, theirs := open.Register(), neighbour.Register()
	payment := client.Pay(paid.Id)
	client.Confirm(payment, card)
	client.Control("PUT", "clock", `{"advance":"P1D"}`).Into(http.StatusOK, nil)
	client.Await(paid.Id, api.Completed)
	client.Records().ExpectOnePayment(t, payment.Total.Amount)
	if state := open.Registration(expiring.Id).State; state != api.Expired {
		t.Errorf("after a day the registration is %s", state)
	}
	if state := neighbour.Registration(theirs.Id).State; state != api.Open {
		t.Errorf("the neighbour's registration is %s", state)
	}
	if mine, others := earliest(client), earliest(neighbour); mine <= others {
		t.Errorf("the earliest start is %s, and %s where the clock was not moved", mine, others)
	}
	if persona := client.As("customer"); persona.Do("GET", "/v1/me", nil).Status != http.StatusOK {
		t.Error("the club's login has another clock")
	}
	registration := client.Register()
	later := client.Pay(registration.Id)
	client.Confirm(later, card)
	client.Await(registration.Id, api.Completed)
}

// TestClockMovesBack: connections and cookies have the real clock, so a world that is back in time answers.
func TestClockMovesBack(t *testing.T) {
	t.Parallel()
	client := newWorldClient(t, frontdesktest.NewMock(t), "demo-back")
	client.Control("PUT", "clock", map[string]any{"now": time.Now().Add(-time.Hour)}).Into(http.StatusOK, nil)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	client.Confirm(payment, card)
	client.Await(registration.Id, api.Completed)
	started := client.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: client.Club()}, frontdesktest.Key(""),
		[2]string{"X-Frontdesk-Session", "cookie"})
	started.Into(http.StatusCreated, nil)
	cookie, err := http.ParseSetCookie(started.Header.Get("Set-Cookie"))
	if err != nil || cookie.MaxAge < 43*60*60 || !cookie.Expires.IsZero() {
		t.Errorf("the browser gets the cookie %v, %v", cookie, err)
	}
}

// TestOperatorsChooseTheWorld: a command of operators reaches the gateway of the world that it names.
func TestOperatorsChooseTheWorld(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := newWorldClient(t, mock, "demo-operators")
	registration := client.Register()
	client.Confirm(client.Pay(registration.Id), card)
	client.Await(registration.Id, api.Completed)
	for world, known := range map[string]bool{"demo-operators": true, "demo": false} {
		list := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "payments", "list", "--all", "--json", "--world", world)
		list.Env = []string{"FRONTDESK_OPS_ADDR=" + mock.OpsAddress()}
		if out, err := list.CombinedOutput(); err != nil || strings.Contains(string(out), registration.Id) != known {
			t.Errorf("%s: %v, %s", world, err, out)
		}
	}
}

// TestStateOutlivesTheProcess kills mock mode while a payment waits to be recorded. The next process, on the same folder, records it
// once, and the page's token is still valid.
func TestStateOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	start := func() (*frontdesktest.Process, *frontdesktest.Client) {
		mock := frontdesktest.Start(t, "FRONTDESK_STATE="+folder)
		return mock, newWorldClient(t, mock, "demo-kept")
	}
	mock, client := start()
	registration := client.Register()
	payment := client.Pay(registration.Id)
	unread := `[{"match":{"method":"GET","path":"/sales/*"},"kind":"error_before","status":503}]`
	client.Control("PUT", "faults", unread).Into(http.StatusOK, nil)
	client.Confirm(payment, card)
	path := filepath.Join(folder, "demo-kept.json")
	frontdesktest.Eventually(t, "the file has the authorised payment", func() bool {
		kept, _ := os.ReadFile(path)
		return strings.Contains(string(kept), `"requires_capture"`)
	})
	mock.Kill()
	token := client.Token
	mock, client = start()
	client.Token = token
	client.Await(registration.Id, api.Completed)
	client.Records().ExpectOnePayment(t, payment.Total.Amount)
	if err := mock.Stop(); err != nil {
		t.Fatal(err)
	}
	mock, client = start()
	client.Token = token
	if state := client.Registration(registration.Id).State; state != api.Completed {
		t.Errorf("after a stop the registration is %s", state)
	}
	client.Control("DELETE", "", nil).Into(http.StatusNoContent, nil)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file of a deleted world: %v", err)
	}
	if err := mock.Stop(); err != nil {
		t.Fatal(err)
	}
}

// TestStateHasOneProcess: a second mock mode on a folder does not start, and commands that do not serve need no folder.
func TestStateHasOneProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	state := "FRONTDESK_STATE=" + folder
	frontdesktest.Start(t, state)
	second := frontdesktest.TryStart(t, state)
	if err := second.Wait(); err == nil || !strings.Contains(second.Log(), "another mock mode has the folder "+folder) {
		t.Errorf("the second mock mode: %v %s", err, second.Log())
	}
	doctor := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "doctor")
	doctor.Env = []string{state, "FRONTDESK_ADDR=127.0.0.1:0"}
	if said, err := doctor.CombinedOutput(); err != nil {
		t.Errorf("doctor: %v %s", err, said)
	}
}

// TestDamagedStateIsRefused: mock mode names a file that it cannot read, and leaves it.
func TestDamagedStateIsRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "demo-damaged.json")
	frontdesktest.Must(t, os.WriteFile(path, []byte(`{"version":99`), 0o600))
	mock := frontdesktest.TryStart(t, "FRONTDESK_STATE="+folder)
	if err := mock.Wait(); err == nil || mock.URL != "" || !strings.Contains(mock.Log(), path) {
		t.Errorf("mock mode starts with a damaged file: %v %s", err, mock.Log())
	}
	if content, err := os.ReadFile(path); string(content) != `{"version":99` {
		t.Errorf("the file is now %q, %v", content, err)
	}
	elsewhere := frontdesktest.TryStart(t, "FRONTDESK_MODE=test", "FRONTDESK_STATE="+folder)
	if elsewhere.URL != "" || !strings.Contains(elsewhere.Log(), "FRONTDESK_STATE is for mock mode") {
		t.Errorf("test mode with a folder: %s", elsewhere.Log())
	}
}

// TestRestartIsNoticedAtOnce: without a folder, every page that was open learns from the first response that its registration is gone.
func TestRestartIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	client.Token = "token-of-before"
	began := time.Now()
	for _, id := range []string{"1", "2", "3", "1"} {
		client.Do("GET", "/v1/registrations/00000000-0000-4000-8000-00000000000"+id, nil).Problem(api.RegistrationNotFound)
	}
	if took := time.Since(began); took > frontdesktest.Patience {
		t.Errorf("it took %s", took)
	}
}
