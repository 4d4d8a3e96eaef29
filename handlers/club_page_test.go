package handlers_test

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestPagesOfClubs: pages of any size have all clubs, in the order of the whole list.
func TestPagesOfClubs(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	var all api.ClubList
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &all)
	if all.Next != nil || len(all.Items) < 3 {
		t.Fatalf("without parameters: %+v", all)
	}
	for limit := 1; limit <= len(all.Items)+1; limit++ {
		var found []api.Club
		for cursor := ""; ; {
			var page api.ClubList
			client.Do("GET", fmt.Sprintf("/v1/clubs?limit=%d&cursor=%s", limit, cursor), nil).Into(http.StatusOK, &page)
			if len(page.Items) == 0 || len(page.Items) > limit || page.Next != nil && len(page.Items) < limit {
				t.Fatalf("a page of %d has %+v", limit, page)
			}
			found = append(found, page.Items...)
			cursor = frontdesktest.Value(page.Next)
			if cursor == "" {
				break
			}
		}
		if !reflect.DeepEqual(found, all.Items) {
			t.Errorf("in pages of %d: %+v, want %+v", limit, found, all.Items)
		}
	}
	for _, query := range []string{"cursor=no-such-club", "cursor=%2F", "limit=0", "limit=1001", "limit=x", "page=2"} {
		client.Do("GET", "/v1/clubs?"+query, nil).Problem(api.InvalidRequest)
	}
}
