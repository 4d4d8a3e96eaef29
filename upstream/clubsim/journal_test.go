package clubsim_test

import (
	"net/http"
	"testing"
)

const someTrace = "4bf92f3577b34da6a3ce929d0e0e4736"

// TestJournalKnowsTraces finds the calls of one caller's request among others.
func TestJournalKnowsTraces(t *testing.T) {
	client := newTestClient(t, "demo-traces")
	client.get("clubs/11").want(200)
	for _, header := range []string{"00-" + someTrace + "-00f067aa0ba902b7-01", "00-" + someTrace + "-nonsense-01"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", client.url+"/"+client.token+"/clubs/12", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("traceparent", header)
		client.send(r)
	}
	found := client.control("GET", "requests?traceId="+someTrace, nil).want(200).items()
	if len(found) != 1 || found[0]["path"] != "/clubs/12" || found[0]["traceId"] != someTrace {
		t.Errorf("of the trace: %v", found)
	}
	all := client.control("GET", "requests", nil).want(200).items()
	if len(all) != 4 || all[1]["traceId"] != "" || all[3]["traceId"] != "" {
		t.Errorf("the journal holds %v", all)
	}
}

// TestJournalIsReadOn reads the entries after those that were already read, even across a reset.
func TestJournalIsReadOn(t *testing.T) {
	client := newTestClient(t, "demo-journal")
	client.get("clubs/11").want(200)
	client.control("POST", "reset", nil).want(204)
	client.get("clubs/12").want(200)
	client.get("clubs/13").want(200)
	for after, want := range map[string]int{"0": 2, "2": 2, "3": 1, "4": 0, "99": 2, "": 2} {
		if got := client.control("GET", "requests?after="+after, nil).want(200).items(); len(got) != want {
			t.Errorf("after %q: %v", after, got)
		}
	}
	for _, wrong := range []string{"-1", "soon", "1.5"} {
		client.control("GET", "requests?after="+wrong, nil).want(400).wantText("after")
	}
}
