package cards_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/cards"
)

// listed reads a whole list.
func listed(ctx context.Context, p *cards.Client, since time.Time) (all []cards.Payment, err error) {
	for each, err := range p.All(ctx, since) {
		if err != nil {
			return all, err
		}
		all = append(all, each)
	}
	return all, nil
}

func TestList(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	const payments = 230 // three pages
	for i := range payments {
		pair.created(fmt.Sprint("c", i))
		pair.clock.advance(time.Second)
	}
	start := pair.clock.Now().Add(-payments * time.Second)
	refunded := pair.captured("refunded")
	if _, err := pair.Refund(t.Context(), "r", refunded.ID, 4990); err != nil {
		t.Fatal(err)
	}
	for since, want := range map[time.Time]int{
		{}: payments + 1, start: payments + 1, start.Add(100*time.Second + time.Millisecond): payments + 1 - 100,
	} {
		before := len(pair.double.Requests())
		all, err := listed(t.Context(), pair.Client, since)
		if err != nil || len(all) != want {
			t.Errorf("since %s: %d payments, %v, want %d", since, len(all), err, want)
			continue
		}
		for i := 1; i < len(all); i++ {
			if all[i].CreatedAt.After(all[i-1].CreatedAt) {
				t.Fatalf("payment %d is newer than the one before it", i)
			}
		}
		if all[0].ID != refunded.ID || all[0].State != cards.Refunded {
			t.Errorf("the newest is %+v, want the refunded one", all[0])
		}
		if pages := len(pair.double.Requests()) - before; pages != (want+99)/100 {
			t.Errorf("%d payments took %d pages", want, pages)
		}
	}
}

// TestListWithUndecodableRecords: fields of other programs' payments are not of their type. The list continues behind
// them, also across pages, and has of each what can be read.
func TestListWithUndecodableRecords(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	first := pair.created("first")
	for i := range 250 { // whole pages of them
		pair.clock.advance(time.Second)
		pair.double.Distort(pair.created(fmt.Sprint("c", i)).ID, "amount", "many")
	}
	pair.clock.advance(time.Second)
	nameless := pair.created("nameless")
	pair.double.Distort(nameless.ID, "id", 7)
	pair.double.Distort(pair.created("metadata").ID, "metadata", map[string]any{"fd_registration": "r2", "order": 12})
	last := pair.created("last")
	all, err := listed(t.Context(), pair.Client, time.Time{})
	if err != nil || len(all) != 254 {
		t.Fatalf("%d payments, %v", len(all), err)
	}
	if all[0].ID != last.ID || all[0].Unreadable != nil || all[253].ID != first.ID || all[253].Unreadable != nil {
		t.Errorf("the readable ones: %+v, %+v", all[0], all[253])
	}
	for i, each := range all[1:253] {
		want := map[int]string{0: "r2", 1: "r1"}[min(i, 1)]
		if each.Unreadable == nil || each.Metadata["fd_registration"] != want || each.CreatedAt.IsZero() ||
			(each.ID == "") != (i == 1) || each.State != "" {
			t.Errorf("%d: %+v", i, each)
		}
		if text := each.Unreadable.Error(); strings.Contains(text, "many") || strings.Contains(text, "12") {
			t.Errorf("the error has content: %s", text)
		}
	}
}

// TestListsThatAreNone: a list that ends without the processor's word for it is an error, never empty.
func TestListsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no id to continue from": `{"object":"list","has_more":true,"data":[{"id":7},null,"",[]]}`,
		"no record and more":     `{"object":"list","has_more":true,"data":[]}`,
		"another object":         `{"status":"ok","data":[]}`,
		"no data":                `{"object":"list"}`,
		"null":                   `null`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if all, err := listed(t.Context(), canned(t, http.StatusOK, body), time.Time{}); err == nil {
				t.Errorf("got %+v", all)
			}
		})
	}
}

// TestLongLists: a list has no limit, and one that breaks off, or continues with itself, is an error.
func TestLongLists(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pages, fails, stuck int // how many there are; the page that fails; the page that comes again and again
		want                int
		fine                bool
	}{
		"longer than fifty thousand": {pages: 501, fails: -1, stuck: -1, want: 50_100, fine: true},
		"a page fails":               {pages: 5, fails: 3, stuck: -1, want: 300},
		"a page leads to itself":     {pages: 5, fails: -1, stuck: 3, want: 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				last, err := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("starting_after"), "pi_"))
				n := (last + 1) / 100
				if err != nil {
					n = 0
				}
				if n == test.fails {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				if test.stuck >= 0 {
					n = min(n, test.stuck)
				}
				var page []string
				for i := range 100 {
					page = append(page, fmt.Sprintf(`{"id":"pi_%d","status":"canceled"}`, n*100+i))
				}
				fmt.Fprintf(w, `{"object":"list","has_more":%t,"data":[%s]}`, n+1 < test.pages, strings.Join(page, ","))
			}))
			t.Cleanup(server.Close)
			all, err := listed(t.Context(), newClient(t, cards.Config{URL: server.URL}), time.Time{})
			if len(all) != test.want || (err == nil) != test.fine {
				t.Errorf("%d payments, %v", len(all), err)
			}
		})
	}
}
