package oldsandbox

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
)

const (
	// worldHeader names a demo world of the simulator, as in requests to the gateway.
	worldHeader = "X-Frontdesk-World"
	// worldCookie is for browsers, which cannot add the header to a link.
	worldCookie = "frontdesk-world"
	// defaultWorld has the payments that name no other.
	defaultWorld = "demo"
	// maxWorlds is how many worlds can have settings; then all of them lose theirs.
	maxWorlds = 10_000
)

// worldPattern is the simulator's.
var worldPattern = regexp.MustCompile(`^demo(-[A-Za-z0-9._-]+)?$`)

func isWorld(name string) bool { return len(name) <= 128 && worldPattern.MatchString(name) }

// worldOf returns the demo world that a payment is of: the organisation of the sale that the gateway
// names in the metadata.
func worldOf(p Payment) string {
	organisation, _, _ := strings.Cut(strings.TrimPrefix(p.Metadata["fd_sale"], "/"), "/")
	if !isWorld(organisation) {
		return defaultWorld
	}
	return organisation
}

// requestedWorld returns the demo world that a request names, by header, parameter or cookie; empty for
// none.
func requestedWorld(r *http.Request) (string, error) {
	name := cmp.Or(r.Header.Get(worldHeader), r.URL.Query().Get("world"))
	if name == "" {
		if cookie, err := r.Cookie(worldCookie); err == nil {
			name = cookie.Value
		}
	}
	if name != "" && !isWorld(name) {
		return "", errInvalid("invalid_world", "The world must be demo, or demo- and letters, digits, dots, underscores and hyphens.")
	}
	return name, nil
}
