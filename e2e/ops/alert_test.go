package ops_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"go.yaml.in/yaml/v4"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

// alert is an alerting rule, as Prometheus reads it.
type alert struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

// alerts reads the file that operators load; an unknown member is an error.
func alerts(t *testing.T) (all []alert) {
	t.Helper()
	file, err := os.Open(filepath.Join(frontdesktest.Root(), "docs", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rules struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	for _, group := range rules.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) < 10 {
		t.Fatalf("only %d alerts were found", len(all))
	}
	return all
}

// selector is a metric in an expression, with its matchers. It covers only what the rules use, because
// the language's own parser brings a hundred modules along. Any other name must be one of words.
var (
	selector = regexp.MustCompile(`(frontdesk_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`^([a-z_]+)(=~|!~|!=|=)"([^"]*)"$`)
	grouped  = regexp.MustCompile(`\bby \(([a-z_, ]+)\)`)
	word     = regexp.MustCompile(`[a-z_]+`)
	words    = map[string]bool{
		"max":                true,
		"min":                true,
		"sum":                true,
		"rate":               true,
		"increase":           true,
		"time":               true,
		"absent":             true,
		"and":                true,
		"or":                 true,
		"by":                 true,
		"histogram_quantile": true,
		"m":                  true,
	}
)

// TestAlertRulesMatchMetrics compares the rules, the dashboard, the metrics of a running gateway and
// the runbook.
func TestAlertRulesMatchMetrics(t *testing.T) {
	t.Parallel()
	outside := frontdesktest.NewUpstreams(t)
	crm := frontdesktest.Start(
		t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+outside.URL+"/sim", "FRONTDESK_SANDBOX_URL="+outside.URL+"/sandbox",
		"FRONTDESK_REDIS_URL="+frontdesktest.NewRedis(t), "FRONTDESK_RATE_LIMITS=on",
		`FRONTDESK_SUBSCRIBERS=[{"name":"crm","url":"http://127.0.0.1:1/hooks","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]`,
	)
	c := frontdesktest.NewClient(t, crm.URL)
	c.UpstreamsURL = outside.URL
	registration := c.Register()
	c.Confirm(c.Pay(registration.Id), "4242424242424242")
	c.AwaitPayment(registration.Id, api.Recorded)
	var exposed map[string]*dto.MetricFamily
	frontdesktest.Eventually(t, "the background work has swept, and its queue is seen", func() bool {
		exposed = scrape(t, crm)
		_, swept := sum(exposed, "frontdesk_worker_sweep_timestamp_seconds")
		_, queued := sum(exposed, "frontdesk_queue_latency_seconds")
		return swept && queued
	})
	runbook, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs", "runbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	for title, expressions := range dashboard(t) {
		t.Run(title, func(t *testing.T) {
			for _, expr := range expressions {
				checkExpression(t, expr, exposed)
			}
		})
	}
	for _, alert := range alerts(t) {
		t.Run(alert.Alert, func(t *testing.T) {
			checkExpression(t, alert.Expr, exposed)
			_, section, found := strings.Cut(string(runbook), "\n## "+alert.Alert+"\n")
			section, _, _ = strings.Cut(section, "\n## ")
			if !found {
				t.Errorf("the runbook has no section")
			}
			expectAll(t, section, "**Visitors:**", "**Look:**", "**Do:**", "**Never:**")
			if alert.Annotations["runbook"] != "docs/runbook.md#"+strings.ToLower(alert.Alert) || alert.Annotations["summary"] == "" {
				t.Errorf("it says %v", alert.Annotations)
			}
			if severity := alert.Labels["severity"]; severity != "page" && severity != "ticket" {
				t.Errorf("its severity is %q", severity)
			}
		})
	}
}

// dashboard reads the titles and expressions of the Grafana dashboard's panels.
func dashboard(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs", "grafana", "frontdesk.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	panels := map[string][]string{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			panels[p.Title] = append(panels[p.Title], target.Expr)
		}
	}
	if len(panels) < 10 || len(panels) != len(board.Panels) {
		t.Fatalf("%d panels have a title of their own and expressions, of %d", len(panels), len(board.Panels))
	}
	return panels
}

// checkExpression checks that each metric, label and value of an expression is exposed.
func checkExpression(t *testing.T, expr string, exposed map[string]*dto.MetricFamily) {
	t.Helper()
	if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") {
		t.Error("brackets are left open")
	}
	found := selector.FindAllStringSubmatch(expr, -1)
	if len(found) == 0 {
		t.Error("it asks for nothing")
	}
	labels := map[string]bool{}
	for _, s := range found {
		name := strings.TrimSuffix(s[1], "_bucket")
		if exposed[name] == nil {
			t.Errorf("%s is not exposed", name)
			continue
		}
		values := valuesOf(exposed[name])
		for label := range values {
			labels[label] = true
		}
		labels["le"] = labels["le"] || name != s[1]
		for _, m := range strings.FieldsFunc(s[2], func(r rune) bool { return r == ',' }) {
			checkMatcher(t, name, m, values)
		}
	}
	for _, group := range grouped.FindAllStringSubmatch(expr, -1) {
		for _, label := range strings.Split(group[1], ", ") {
			if !labels[label] {
				t.Errorf("it groups by %s, which no metric in it has", label)
			}
		}
	}
	for _, w := range word.FindAllString(grouped.ReplaceAllString(selector.ReplaceAllString(expr, ""), ""), -1) {
		if !words[w] {
			t.Errorf("%q is not a key of a rule", w)
		}
	}
}

// valuesOf lists a metric's labels, and the values that they have.
func valuesOf(family *dto.MetricFamily) map[string][]string {
	values := map[string][]string{}
	for _, metric := range family.GetMetric() {
		for _, label := range metric.GetLabel() {
			values[label.GetName()] = append(values[label.GetName()], label.GetValue())
		}
	}
	return values
}

// rareValues are values that a gateway shows only when something is wrong.
var rareValues = map[string]bool{"5..": true, "overloaded": true}

// checkMatcher compares a matcher with existing values: one that matches nothing never alerts.
func checkMatcher(t *testing.T, name, text string, values map[string][]string) {
	t.Helper()
	match := matcher.FindStringSubmatch(text)
	if match == nil || values[match[1]] == nil {
		t.Errorf("%s has no label as in %s", name, text)
		return
	}
	for _, wanted := range strings.Split(match[3], "|") {
		pattern, err := regexp.Compile("^(?:" + wanted + ")$")
		matches := false
		for _, value := range values[match[1]] {
			matches = matches || err == nil && pattern.MatchString(value)
		}
		if !matches && !rareValues[wanted] {
			t.Errorf("%s never has %s=%q", name, match[1], wanted)
		}
	}
}

// TestMetricsCoverEveryState checks that the metrics include every state, including one that is added later, and that an
// alert watches each, and each finding: its age, or that there is a payment in it at all.
func TestMetricsCoverEveryState(t *testing.T) {
	t.Parallel()
	seen := scrape(t, frontdesktest.NewMock(t))
	for _, state := range flows.PaymentStates {
		if _, found := sum(seen, "frontdesk_payments", "state", string(state)); found == state.Final() {
			t.Errorf("%s: counted %t", state, found)
		}
	}
	alone := regexp.MustCompile(`max\(frontdesk_payment(?:s|_oldest_age_seconds)\{state=~?"([a-z_|]+)"\}\) > [0-9]+`)
	watched := map[string]bool{}
	for _, a := range alerts(t) {
		if strings.Contains(a.Expr, " and ") { // it waits for something else as well
			continue
		}
		for _, found := range alone.FindAllStringSubmatch(a.Expr, -1) {
			for _, state := range strings.Split(found[1], "|") {
				watched[state] = true
			}
		}
	}
	for _, state := range valuesOf(seen["frontdesk_payments"])["state"] {
		if !watched[state] {
			t.Errorf("no alert watches payments that are %s", state)
		}
	}
}
