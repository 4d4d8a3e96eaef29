package ops_test

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestComposeFile compares compose.yaml with what it starts: every variable and command exists in the
// binary, every file exists, ports and addresses agree, and no container has more rights than it needs.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	file := compose(t)
	proxy := fixedAddress(t, file.Services["proxy"])
	for name, container := range file.Services {
		if !container.ReadOnly || !slices.Equal(container.CapDrop, []string{"ALL"}) ||
			!slices.Equal(container.SecurityOpt, []string{"no-new-privileges:true"}) ||
			container.Restart == "" {
			t.Errorf("%s may do more than it needs to: %+v", name, container)
		}
		if container.Image != "frontdesk" && container.User == "" {
			t.Errorf("%s runs as root", name)
		}
		for _, volume := range container.Volumes {
			if from, _, _ := strings.Cut(volume, ":"); strings.HasPrefix(from, ".") {
				if _, err := os.Stat(filepath.Join(frontdesktest.Root(), from)); err != nil || !strings.HasSuffix(volume, ":ro") {
					t.Errorf("%s: volume %s (%v)", name, volume, err)
				}
			}
		}
		expectKnown(t, name, container)
	}
	for _, name := range []string{gatewayA, gatewayB} {
		container := file.Services[name]
		if container.Environment["FRONTDESK_TRUSTED_PROXIES"] != proxy || proxy == "" {
			t.Errorf("%s trusts %s, and the proxy is %s", name, container.Environment["FRONTDESK_TRUSTED_PROXIES"], proxy)
		}
		if container.Environment["FRONTDESK_ADDR"] != ":8080" || fixedAddress(t, container) == "" {
			t.Errorf("nginx looks for %s at port 8080 of a fixed address: %+v", name, container)
		}
		drain, err := time.ParseDuration(container.Environment["FRONTDESK_DRAIN_DELAY"])
		if longest := drain + 45*time.Second; err != nil || container.StopGrace <= longest {
			t.Errorf("%s may take %s to stop, and is killed after %s", name, longest, container.StopGrace)
		}
	}
	if published := file.Services["proxy"].Ports; !slices.Equal(published, []string{"127.0.0.1:8080:8080"}) {
		t.Errorf("the proxy is reached at %v, and its address is http://localhost:8080", published)
	}
}

// expectKnown compares a container's command and variables with the binary's help.
func expectKnown(t *testing.T, name string, service container) {
	t.Helper()
	if service.Image != "frontdesk" {
		return
	}
	command := append(slices.Clone(service.Command), "--help")
	if len(service.Command) == 0 {
		command = []string{"serve", "--help"}
	}
	help, err := exec.CommandContext(t.Context(), frontdesktest.Binary(t), command...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, help)
	}
	known := regexp.MustCompile(`FRONTDESK_[A-Z_]+`).FindAllString(string(help), -1)
	for variable := range service.Environment {
		if !slices.Contains(known, variable) {
			t.Errorf("%s: %s is unknown to frontdesk %v", name, variable, command)
		}
	}
}

// fixedAddress returns a container's fixed address in the network; empty: any.
func fixedAddress(t *testing.T, service container) string {
	t.Helper()
	var networks map[string]struct {
		Address string `yaml:"ipv4_address"`
	}
	if err := service.Networks.Decode(&networks); err != nil {
		t.Errorf("%v in %+v", err, service)
	}
	return networks["frontdesk"].Address
}

// TestRedisUserMayRunScripts: the Redis user of compose may call every command of every script. Redis refuses one that it
// lacks when the script comes to it, such as after a rotation.
func TestRedisUserMayRunScripts(t *testing.T) {
	t.Parallel()
	acl, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs/compose/users.acl"))
	if err != nil {
		t.Fatal(err)
	}
	allowed, calls := strings.Fields(string(acl)), regexp.MustCompile(`redis\.p?call\('([A-Z]+)'`)
	files, err := filepath.Glob(filepath.Join(frontdesktest.Root(), "flows", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls.FindAllSubmatch(text, -1) {
			seen++
			if command := strings.ToLower(string(call[1])); !slices.Contains(allowed, "+"+command) {
				t.Errorf("%s: a script calls %s, which docs/compose/users.acl does not allow", filepath.Base(file), command)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d calls found", seen)
	}
}

// TestComposeJourneys runs everything that visitors do, through the proxy of compose.yaml. The gateways
// work with the rights of their Redis user and behind a proxy: events arrive at once, and no response
// is the proxy's own.
func TestComposeJourneys(t *testing.T) {
	t.Parallel()
	replicas := newReplicas(t)
	registration := replicas.Register()
	events := replicas.follow(registration.Id)
	if first := frontdesktest.Receive(t, events, "the first event"); !strings.Contains(first, `"state":"open"`) {
		t.Errorf("the first event is %s", first)
	}
	payment := replicas.Pay(registration.Id)
	replicas.Confirm(payment, "4242424242424242")
	frontdesktest.Eventually(t, "an event of the completed registration", func() bool {
		return strings.Contains(frontdesktest.Receive(t, events, "another event"), `"state":"completed"`)
	})
	expectRecorded(t, replicas.Client, append(runJourneys(t, replicas.Client, replicas.gateways[gatewayA]), payment.Total.Amount))
	for _, command := range [][]string{{"queue"}, {"payments", "list"}, {"webhooks", "list"}} { // operators' commands read from Redis, too
		look := exec.CommandContext(t.Context(), frontdesktest.Binary(t), command...)
		look.Env = []string{"FRONTDESK_OPS_ADDR=" + replicas.gateways[gatewayB].OpsAddress()}
		if said, err := look.CombinedOutput(); err != nil {
			t.Errorf("frontdesk %v: %v: %s", command, err, said)
		}
	}
	refused, err := replicas.administrator().ACLLog(t.Context(), 20).Result()
	for _, one := range refused {
		t.Errorf("Redis refused the gateways something (%s): %s", one.Reason, one.Object)
	}
	if err != nil {
		t.Error(err)
	}
	for _, gateway := range replicas.gateways {
		if strings.Contains(gateway.Log(), "NOPERM") {
			t.Errorf("Redis refuses something:\n%s", gateway.Log())
		}
		gateway.Kill()
	}
	away := replicas.Do("GET", "/v1/clubs", nil)
	away.Problem(api.StorageUnavailable)
	if away.Header.Get("Retry-After") == "" || away.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("without gateways: %v %s", away.Header, away.Body)
	}
}

// follow reads a registration's events.
func (r *replicas) follow(registration string) <-chan string {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.URL+"/v1/registrations/"+registration+"/events", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+r.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		r.t.Fatalf("%v %+v", err, response)
	}
	events := make(chan string, 100)
	go func() {
		defer close(events)
		defer response.Body.Close()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data:") {
				events <- lines.Text()
			}
		}
	}()
	return events
}
