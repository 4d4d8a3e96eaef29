package club_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"frontdesk/upstream/club"
)

// pager serves a number of products in pages. Pagers differ in how they mark the end of the list.
type pager struct {
	total   int
	size    int
	render  func(p pager, members string, page int) string
	ignores bool // ignores the page number and always sends the first page
}

func (p pager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	page = max(1, page)
	if p.ignores {
		page = 1
	}
	var members []string
	for i := (page - 1) * p.size; i < min(page*p.size, p.total); i++ {
		members = append(members, fmt.Sprintf(`{"@id": "/demo/products/%d"}`, i+1))
	}
	io.WriteString(w, p.render(p, "["+strings.Join(members, ",")+"]", page))
}

func (p pager) last() int { return (p.total + p.size - 1) / p.size }

func withView(p pager, members string, page int) string {
	next := ""
	if page < p.last() {
		next = `, "hydra:next": "/demo/products?page=9"`
	}
	return `{"hydra:member": ` + members + `, "hydra:view": {"@id": "x"` + next + `}}`
}

func withPlainView(p pager, members string, page int) string {
	next := ""
	if page < p.last() {
		next = `"next": "/demo/products?page=9"`
	}
	return `{"member": ` + members + `, "totalItems": 1, "view": {` + next + `}}`
}

func withTotal(p pager, members string, _ int) string {
	return `{"hydra:member": ` + members + `, "hydra:totalItems": ` + strconv.Itoa(p.total) + `}`
}

func withPlainTotal(p pager, members string, _ int) string {
	return `{"member": ` + members + `, "totalItems": ` + strconv.Itoa(p.total) + `}`
}

func withNothing(_ pager, members string, _ int) string { return `{"hydra:member": ` + members + `}` }

func bare(_ pager, members string, _ int) string { return members }

func TestPages(t *testing.T) {
	tests := map[string]struct {
		pager
		requests int
	}{
		"view":               {pager{65, 30, withView, false}, 3},
		"view, full last":    {pager{60, 30, withView, false}, 2},
		"view, small pages":  {pager{65, 10, withView, false}, 7},
		"plain view":         {pager{65, 30, withPlainView, false}, 3},
		"total":              {pager{65, 30, withTotal, false}, 3},
		"total, small pages": {pager{65, 10, withTotal, false}, 7},
		"plain total":        {pager{60, 30, withPlainTotal, false}, 2},
		"nothing":            {pager{65, 30, withNothing, false}, 3},
		"nothing, full last": {pager{60, 30, withNothing, false}, 3},
		"bare":               {pager{12, 30, bare, false}, 1},
		"empty":              {pager{0, 30, withView, false}, 1},
		"one page":           {pager{30, 30, withTotal, false}, 1},
		"always the first":   {pager{30, 30, withNothing, true}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			upstream := serve(t, tt.ServeHTTP)
			got := must[[]club.Product](t)(club.New(configured(upstream.URL)).ListProducts(t.Context(), demo,
				club.ProductQuery{Channel: club.ChannelWeb}))
			if len(got) != tt.total || len(upstream.seen()) != tt.requests {
				t.Errorf("%d products in %d requests, want %d in %d", len(got), len(upstream.seen()), tt.total, tt.requests)
			}
			for i, product := range got {
				if want := club.IRI(fmt.Sprintf("/demo/products/%d", i+1)); product.IRI != want {
					t.Fatalf("product %d is %s, want %s", i, product.IRI, want)
				}
			}
			asked := map[string]bool{}
			for i, r := range upstream.seen() {
				q := r.URL.Query()
				asked[q.Get("page")] = true
				if i == 0 && q.Has("page") || q.Get("context[channel]") != "web" {
					t.Errorf("request %d: %s", i+1, r.URL.RawQuery)
				}
			}
			for page := 2; page <= tt.requests; page++ {
				if !asked[strconv.Itoa(page)] {
					t.Errorf("page %d was not asked for", page)
				}
			}
		})
	}
}

// TestPagesIgnored: an installation that ignores page numbers sends the same records again, which ends a list also if they have no
// identifiers: a club may collect on every day of the month.
func TestPagesIgnored(t *testing.T) {
	var days []string
	for day := 1; day <= 31; day++ {
		days = append(days, fmt.Sprintf(`{"debitDay": %d, "date": "2026-12-%02d"}`, day, day))
	}
	upstream := serve(t, answering(http.StatusOK, "["+strings.Join(days, ",")+"]"))
	got := must[[]club.DebitDay](t)(club.New(configured(upstream.URL)).ListAllowedDebitDays(t.Context(), demo, "2026-12-01"))
	if len(got) != 31 || len(upstream.seen()) > 2 {
		t.Errorf("%d days after %d requests", len(got), len(upstream.seen()))
	}
}

// TestWrongTotal: a total below what a page has does not end a list.
func TestWrongTotal(t *testing.T) {
	for _, total := range []int{-1, 0, 7} {
		wrong := pager{65, 30, func(_ pager, members string, _ int) string {
			return fmt.Sprintf(`{"hydra:member": %s, "hydra:totalItems": %d}`, members, total)
		}, false}
		upstream := serve(t, wrong.ServeHTTP)
		got := must[[]club.Product](t)(club.New(configured(upstream.URL)).ListProducts(t.Context(), demo, club.ProductQuery{}))
		if len(got) != 65 || len(upstream.seen()) != 3 {
			t.Errorf("total %d: %d products in %d requests", total, len(got), len(upstream.seen()))
		}
	}
}

// TestPagesSideBySide: once the first page shows how long the list is, the other pages are read in parallel.
func TestPagesSideBySide(t *testing.T) {
	var together sync.WaitGroup
	together.Add(4)
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") != "" {
			together.Done()
			together.Wait() // sequential requests would wait here for ever
		}
		pager{145, 30, withTotal, false}.ServeHTTP(w, r)
	})
	var handed atomic.Int32
	got, err := club.New(configured(upstream.URL)).
		ListProductsConcurrently(t.Context(), demo, club.ProductQuery{}, func(page []club.Product) { handed.Add(int32(len(page))) })
	if err != nil || len(got) != 145 || handed.Load() != 145 || got[144].IRI != "/demo/products/145" {
		t.Errorf("%d products, %d handed over: %v", len(got), handed.Load(), err)
	}
}

// TestShiftingList: a record that moves to the next page while the list is read appears once in the result.
func TestShiftingList(t *testing.T) {
	pages := map[string]string{
		"":  `[{"@id": "/demo/products/1"}, {"@id": "/demo/products/2"}]`,
		"2": `[{"@id": "/demo/products/2"}, {"@id": "/demo/products/3"}]`,
	}
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		next := map[string]string{"": `"hydra:next": "x"`}[r.URL.Query().Get("page")]
		io.WriteString(w, `{"hydra:member": `+pages[r.URL.Query().Get("page")]+`, "hydra:view": {`+next+`}}`)
	})
	got := must[[]club.Product](t)(club.New(configured(u.URL)).ListProducts(t.Context(), demo, club.ProductQuery{}))
	if len(got) != 3 || got[1].IRI != "/demo/products/2" || got[2].IRI != "/demo/products/3" {
		t.Errorf("products %v", got)
	}
}

// TestEndlessList: an endless list is an error, not a partial result.
func TestEndlessList(t *testing.T) {
	u := serve(t, pager{1 << 30, 1, withView, false}.ServeHTTP)
	got, err := club.New(configured(u.URL)).ListProducts(t.Context(), demo, club.ProductQuery{})
	wantOutcome(t, err, club.Unknown)
	if len(got) != 0 || len(u.seen()) != 200 {
		t.Errorf("%d products after %d requests", len(got), len(u.seen()))
	}
}

// TestListFailsAsAWhole: if a page cannot be read, no part of the list is returned.
func TestListFailsAsAWhole(t *testing.T) {
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "2" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		pager{65, 30, withView, false}.ServeHTTP(w, r)
	})
	got, err := club.New(configured(upstream.URL)).ListProducts(t.Context(), demo, club.ProductQuery{})
	if asError(t, err).Operation != "ListProducts" || len(got) != 0 {
		t.Errorf("%d products, %v", len(got), err)
	}
}
