package mock_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/mock"
)

// TestUnwritableStateIsRefused: mock mode does not begin to keep worlds where it cannot write.
func TestUnwritableStateIsRefused(t *testing.T) {
	t.Parallel()
	server, _ := newServer(t, func(cfg *mock.Config) { cfg.State = "/proc/self" }) // root may write everywhere else
	if err := server.Load(); err == nil {
		t.Error("it loads")
	}
}

// TestStateHasOneProcess: two servers would overwrite each other's worlds, so the second one is refused until the first one has ended.
func TestStateHasOneProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	on := func() *mock.Server {
		server, _ := newServer(t, func(cfg *mock.Config) { cfg.State = folder })
		return server
	}
	first, second := on(), on()
	if err := first.Load(); err != nil {
		t.Fatal(err)
	}
	if err := second.Load(); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("the second server: %v", err)
	}
	second.Close()
	first.Close()
	if err := on().Load(); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}

// control sends a control request for a world, and returns the status and the body of its response.
func control(server *mock.Server, method, world, name, body string) (status int, got string) {
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, httptest.NewRequest(method, "/sim/"+world+"/_control/"+name, strings.NewReader(body)))
	return recorder.Code, recorder.Body.String()
}

// TestDamagedRecords: a snapshot with a record that Redis does not take is refused with the record's key and changes nothing, and a file
// of the folder that has it is named.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	server, _ := newServer(t, func(*mock.Config) {})
	clientOf(t, server, "demo-damaged").Set(t.Context(), "key", "value", 0)
	_, snapshot := control(server, "GET", "demo-damaged", "state", "")
	of := func(records string) string {
		return strings.Replace(snapshot, `"gateway":[{"key":"key","kind":"string","values":["dmFsdWU="]}]`, `"gateway":[`+records+`]`, 1)
	}
	for _, records := range []string{
		`{"key":"of-no-kind","kind":"none","values":["YQ=="]}`,
		`{"key":"without-value","kind":"string","values":[]}`,
		`{"key":"two-strings","kind":"string","values":["YQ==","YQ=="]}`,
		`{"key":"two-strings","kind":"string","values":["YQ==","Tlg="]}`, // NX is an option of SET
		`{"key":"field-alone","kind":"hash","values":["YQ=="]}`,
		`{"key":"no-score","kind":"zset","values":["YQ==","YQ=="]}`,
		`{"key":"score-alone","kind":"zset","values":["MQ=="]}`,
		`{"key":"with-option","kind":"zset","values":["Tlg=","MQ==","YQ=="]}`,
		`{"key":"without-entries","kind":"stream","values":["YQ==","YQ=="]}`,
		`{"key":"too-few","kind":"stream","values":["YQ==","YQ=="],"entries":[{"id":"1-1","fields":4}]}`,
		`{"key":"too-many","kind":"stream","values":["YQ==","YQ==","YQ==","YQ=="],"entries":[{"id":"1-1","fields":2}]}`,
		`{"key":"negative","kind":"stream","values":["YQ==","YQ=="],"entries":[{"id":"1-1","fields":-2},{"id":"1-2","fields":2}]}`,
		`{"key":"out-of-order","kind":"stream","values":["YQ==","YQ==","YQ==","YQ=="],` +
			`"entries":[{"id":"2-1","fields":2},{"id":"1-1","fields":2}]}`,
		`{"key":"twice","kind":"string","values":["YQ=="]},{"key":"twice","kind":"string","values":["YQ=="]}`,
		`{"key":"after-the-end","kind":"string","values":["YQ=="],"until":"99999-01-01T00:00:00Z"}`,
	} {
		key := strings.Split(records, `"`)[3]
		status, refusal := control(server, "PUT", "demo-damaged", "state", of(records))
		if status != http.StatusBadRequest || !strings.Contains(refusal, key) && key != "after-the-end" {
			t.Errorf("%s: %d %s", key, status, refusal)
		}
		if held := clientOf(t, server, "demo-damaged").Get(t.Context(), "key").Val(); held != "value" {
			t.Fatalf("%s: Redis holds %q", key, held)
		}
	}
	last := of(`{"key":"for-ages","kind":"string","values":["YQ=="],"until":"9999-12-31T23:59:59Z"}`)
	if status, refusal := control(server, "PUT", "demo-damaged", "state", last); status != http.StatusNoContent {
		t.Errorf("the last day: %d %s", status, refusal)
	}
	if status, kept := control(server, "GET", "demo-damaged", "state", ""); status != http.StatusOK || !strings.Contains(kept, "for-ages") {
		t.Errorf("a snapshot with the last day: %d", status)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "demo-damaged.json")
	frontdesktest.Must(t, os.WriteFile(path, []byte(of(`{"key":"no-score","kind":"zset","values":["YQ==","YQ=="]}`)), 0o600))
	started, _ := newServer(t, func(cfg *mock.Config) { cfg.State = folder })
	if err := started.Load(); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no-score") {
		t.Errorf("the file: %v", err)
	}
}

// TestFilesOfWorlds: worlds whose names differ in case alone, or have dots where Windows allows none, are kept in files that every file
// system tells apart. What a crash has left of a file that was being written goes.
func TestFilesOfWorlds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	worlds := []string{"demo", "demo-a", "demo-A", "demo-con.", "demo-1.JSON", "demo-_A.a-", "demo-" + strings.Repeat("A", 123)}
	left := filepath.Join(folder, ".new-123")
	frontdesktest.Must(t, os.WriteFile(left, []byte(`{"ver`), 0o600))
	start := func() *mock.Server {
		server, _ := newServer(t, func(cfg *mock.Config) { cfg.State = folder })
		frontdesktest.Must(t, server.Load())
		return server
	}
	first := start()
	for i, world := range worlds {
		control(first, "PUT", world, "settings", fmt.Sprintf(`{"pageSize":%d}`, i+1))
	}
	first.Close()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		names[strings.ToLower(file.Name())] = true
		if strings.HasSuffix(file.Name(), ".") || strings.HasPrefix(file.Name(), ".new-") {
			t.Errorf("the folder has the file %s", file.Name())
		}
	}
	if want := len(worlds) + len([]string{".lock"}); len(names) != want {
		t.Errorf("%d names of files, want %d: %v", len(names), want, names)
	}
	second := start()
	for i, world := range worlds {
		if _, settings := control(second, "GET", world, "settings", ""); !strings.Contains(settings, fmt.Sprintf(`"pageSize":%d,`, i+1)) {
			t.Errorf("%s: %s", world, settings)
		}
	}
}

// TestSandboxCallKeepsItsWorld: a call of the sandbox writes the file of the world that it was about, and other worlds are not compared
// with their files: what their Redis got without a request is not there.
func TestSandboxCallKeepsItsWorld(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	ticks := make(chan time.Time)
	var later atomic.Int64
	server, _ := newServer(t, func(cfg *mock.Config) {
		cfg.State, cfg.After = folder, func(time.Duration) <-chan time.Time { return ticks }
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	frontdesktest.Must(t, server.Load())
	go server.Run(t.Context()) //nolint:errcheck // the test's end ends it
	pass := func() {
		t.Helper()
		later.Add(int64(time.Minute))
		for range 2 { // the first tick is over when the second is received
			select {
			case ticks <- time.Time{}:
			case <-time.After(frontdesktest.Patience):
				t.Fatal("nobody waits for the tick")
			}
		}
	}
	worlds := map[string]bool{"demo-called": true, "demo-idle": false}
	for world := range worlds {
		control(server, "PUT", world, "settings", `{"pageSize":9}`)
	}
	pass()
	for world := range worlds {
		clientOf(t, server, world).Set(t.Context(), "unnoticed", "value", 0)
	}
	request := httptest.NewRequest("POST", "/sandbox/v1/payment_intents",
		strings.NewReader("amount=4990&currency=eur&metadata[fd_sale]=/demo-called/sales/1"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "Bearer "+sandbox.DemoSecretKey)
	recorder := httptest.NewRecorder()
	if server.ServeHTTP(recorder, request); recorder.Code != http.StatusOK {
		t.Fatal(recorder.Body)
	}
	pass()
	for world, compared := range worlds {
		file, err := os.ReadFile(filepath.Join(folder, world+".json"))
		if err != nil || strings.Contains(string(file), "unnoticed") != compared {
			t.Errorf("%s: %v %s", world, err, file)
		}
	}
}
