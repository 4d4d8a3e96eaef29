package cards_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"frontdesk/upstream/cards"
)

// longList is a processor with pages of a hundred payments.
type longList struct {
	cards.Processor
	pages int
	fails int // the page that fails
	stuck int // the page whose next page is itself
}

func (l longList) List(_ context.Context, _ time.Time, before string) (page cards.Page, err error) {
	n, _ := strconv.Atoi(before)
	if n == l.fails {
		return page, errors.New("no answer")
	}
	for i := range 100 {
		page.Payments = append(page.Payments, cards.Payment{ID: fmt.Sprint(n, "-", i)})
	}
	if next := n + 1; n == l.stuck {
		page.Next = before
	} else if next < l.pages {
		page.Next = strconv.Itoa(next)
	}
	return page, nil
}

// TestAll: a list has no limit, and a list that breaks off is an error.
func TestAll(t *testing.T) {
	for name, test := range map[string]struct {
		list longList
		want int
		fine bool
	}{
		"longer than fifty thousand": {longList{pages: 1000, fails: -1, stuck: -1}, 100_000, true},
		"a page fails":               {longList{pages: 5, fails: 3, stuck: -1}, 300, false},
		"a page leads to itself":     {longList{pages: 5, fails: -1, stuck: 3}, 400, false},
	} {
		t.Run(name, func(t *testing.T) {
			seen, failed := map[string]bool{}, error(nil)
			for p, err := range cards.All(t.Context(), test.list, time.Time{}) {
				if err != nil {
					failed = err
					continue
				}
				seen[p.ID] = true
			}
			if len(seen) != test.want || (failed == nil) != test.fine {
				t.Errorf("%d payments, %v", len(seen), failed)
			}
		})
	}
}
