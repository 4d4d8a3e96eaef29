package club_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/club"
)

// cannedResponse answers every business request with one body, without a network, which would be too slow for
// thousands of runs a second.
type cannedResponse struct {
	status int
	body   []byte
}

func (c cannedResponse) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: c.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c.body))), Request: r}
	if strings.HasSuffix(r.URL.Path, "/token") {
		resp.StatusCode, resp.Body = 200, io.NopCloser(strings.NewReader(tokenJSON))
	}
	return resp, nil
}

// tasting returns a client that gets the same response to every request and never retries.
func tasting(status int, body []byte) *club.Client {
	cfg := configured("http://club.invalid")
	cfg.Transport, cfg.Limits.MaxAttempts = cannedResponse{status, body}, 1
	return club.New(cfg)
}

// TestNestedRecords: a record that is nested in others again and again takes no more time than another one of its length.
func TestNestedRecords(t *testing.T) {
	nested := func(levels int, begin, core, end string) string {
		return strings.Repeat(begin, levels) + core + strings.Repeat(end, levels)
	}
	for name, body := range map[string]string{
		"identifiers": `{"@id": "/demo/sales/1", "contactId": ` + nested(40, `{"@id": `, "7", "}") + "}",
		"products": `{"member": [` + nested(12, `{"@id": "/demo/offers/1", "product": {"@id": "/demo/products/1", "offers": [`,
			"7", `], "name": 7}, "name": 7}`) + "]}",
		"offers": `{"member": [` + nested(12, `{"@id": "/demo/products/1", "offers": [{"rhythmBilling": "P1M", "registrationFeeTI": 0,
			"totalPriceTI": 0, "isFirstMonthPayed": false, "articleBehaviors": [], "repaymentSchedule": {"occurrences": [], "recurrences": []},
			"product": `, "7", `, "name": 7}], "name": 7}`) + "]}",
	} {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for _, op := range operations {
				_ = op.call(context.Background(), tasting(http.StatusOK, []byte(body))) // some read it
			}
		}()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Errorf("%s: still being read after 20 seconds", name)
		}
	}
}

// TestDeepNodes: nodes that are nested again and again take no more memory than others of their length.
func TestDeepNodes(t *testing.T) {
	const levels = 2000
	nodes := `{"member": [` + strings.Repeat(`{"@id": "/demo/network_nodes/1", "children": [`, levels) +
		`"` + strings.Repeat("x", 1<<19) + `"` + strings.Repeat("]}", levels) + "]}"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := tasting(http.StatusOK, []byte(nodes)).NetworkNodes(t.Context(), demo)
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 100 || !errors.Is(err, club.ErrUnreadable) {
		t.Errorf("%d MiB; %v", used, err)
	}
}

// seeds are responses of every kind, intact and broken.
var seeds = []string{
	``,
	`null`,
	`0`,
	`"x"`,
	`[]`,
	`{}`,
	`[null]`,
	`[[]]`,
	`{"hydra:member": null}`,
	`{"hydra:member": [1, "a", null, {}]}`,
	`{"member": [{"@id": {"@id": 1}}]}`,
	everything,
	saleJSON,
	`{"@id": "/demo/sales/1", "totalTI": 1, "state": "building", "articles": [null, {"priceTI": 1, "parent": {"@id": "/demo/articles/1"}}]}`,
	`{"hydra:member": [{"@id": "/demo/products/1", "productBehaviors": [null, {"configuration": null}]}], "hydra:totalItems": 99}`,
	`{"hydra:member": [{"@id": "/demo/offers/1", "articleBehaviors": [{}, null], "product": "/demo/products/1",
		"repaymentSchedule": null}], "hydra:view": {}}`,
	`{"hydra:member": [{"@id": "/demo/network_nodes/1", "children": ["/demo/network_nodes/1",
		{"@id": "/demo/network_nodes/2", "children": ["/demo/network_nodes/1"]}, null]}]}`,
	`{"hydra:member": [{"@id": "/demo/network_nodes/1", "clubId": "/demo/clubs/1"}, {"@id": "/demo/network_nodes/1", "children": [[]]}]}`,
	`{"code": "api.error.sale", "violations": [{"propertyPath": 1}, null], "hydra:description": {}}`,
	`{"code": 7, "violations": {}, "message": "Resource /demo/contacts/1 does not exist"}`,
	strings.Repeat(`[`, 10000),
	strings.Repeat(`{"children":[`, 5000),
}

// FuzzAnswers feeds arbitrary responses to every operation: each returns a value, or an error that names the
// operation and quotes nothing.
func FuzzAnswers(f *testing.F) {
	for _, seed := range seeds {
		for _, status := range []int{200, 400, 403, 404, 500} {
			f.Add(status, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 {
			return
		}
		c := tasting(status, body)
		for _, op := range operations {
			if name, _, _ := strings.Cut(op.name, " "); slices.Contains(sentOnce, name) {
				continue
			}
			err := op.call(context.Background(), c)
			checkAnswer(t, op.name, status, err)
		}
	})
}

// sentOnce are the operations that settle a sale or end a subscription; they have their own transport.
var sentOnce = []string{"CreatePayment", "PostponeDue", "ValidateSale", "CancelSubscription"}

func checkAnswer(t *testing.T, op string, status int, err error) {
	var failure *club.Error
	if err == nil {
		if status > 299 && (op != "CheckSale" || status != 400 && status != 422) {
			t.Errorf("%s: status %d is not an error", op, status)
		}
		return
	}
	name, _, _ := strings.Cut(op, " ")
	if !errors.As(err, &failure) || failure.Operation != name || failure.Outcome == club.Accepted ||
		failure.Status != status && !errors.Is(err, club.ErrUnavailable) {
		t.Errorf("%s: status %d: %v", op, status, err)
	}
	if len(err.Error()) > 300 {
		t.Errorf("%s: an error of %d characters", op, len(err.Error()))
	}
}

// FuzzNetwork builds a network from arbitrary data: whatever the nodes say about each other, every path is
// finite, begins at a node without a parent, and ends at the club's own.
func FuzzNetwork(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Add([]byte(members(node(1, "group", 2), node(2, "group", 3), node(3, "club", 1))))
	f.Add([]byte(members(node(1, "group", node(2, "club", 1, 2), 2), node(2, "club", 1), node(4, "club", 4))))
	f.Fuzz(func(t *testing.T, body []byte) {
		network, err := tasting(200, body).NetworkNodes(context.Background(), demo)
		if err != nil {
			return
		}
		for _, own := range network.Clubs() {
			path := network.Path(own.Club)
			at, ok := network.NodeOf(own.Club)
			if len(path) == 0 || !ok || path[len(path)-1].IRI != at.IRI {
				t.Fatalf("path of %s: %v", own.Club, path)
			}
			if common, ok := network.CommonAncestor(own.Club, own.Club); !ok || common != at.IRI {
				t.Fatalf("common ancestor of %s and itself: %s", own.Club, common)
			}
		}
	})
}

// FuzzErrorCode: for any body of an error, the code is well-formed or empty.
func FuzzErrorCode(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Add([]byte(`{"code": "api.error.contact.email ada@example.org"}`))
	f.Add([]byte(`api.error.`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := tasting(400, body).GetContact(context.Background(), demo, "/demo/contacts/7")
		code := asError(t, err).Code
		outside := func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789._-", r) }
		if code != "" && (!strings.HasPrefix(code, "api.error.") || strings.ContainsFunc(code, outside)) {
			t.Errorf("code %q", code)
		}
	})
}
