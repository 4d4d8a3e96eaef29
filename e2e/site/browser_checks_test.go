package site_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// recorder is a test that records its failures.
type recorder struct {
	testing.TB
	failures []string
	ends     []func()
}

func (r *recorder) Failed() bool       { return len(r.failures) > 0 }
func (r *recorder) Cleanup(end func()) { r.ends = append(r.ends, end) }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// TestBrowserChecksFail checks that every built-in check of browser tests fails for a page that is
// wrong in just that way, and for no other reason.
func TestBrowserChecksFail(t *testing.T) {
	t.Parallel()
	const good = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Page</title>
<link rel="icon" href="data:,"><main><h1>Page</h1>%s</main>`
	for name, test := range map[string]struct{ content, policy, expect, want string }{
		"nothing":           {content: `<p>Fine</p>`},
		"throws":            {content: `<script>throw new Error("oops")</script>`, want: "uncaught: Uncaught Error: oops"},
		"warns":             {content: `<script>console.warn("look", 7)</script>`, want: `console.warning: "look" 7`},
		"logs an error":     {content: `<script>console.error("bad")</script>`, want: `console.error: "bad"`},
		"breaks its policy": {content: `<script>1</script>`, policy: "script-src 'none'", want: "Content Security Policy"},
		"asks for nothing":  {content: `<img src="/none" alt="None">`, want: "status of 404"},
		"asks elsewhere": {
			content: `<img src="http://elsewhere.localhost:1/x" alt="None">`, expect: "ERR_",
			want: "asked elsewhere.localhost:1",
		},
		"was expected":    {content: `<script>console.warn("look")</script>`, expect: "look"},
		"never came":      {content: `<p>Fine</p>`, expect: "look", want: `never came to "look"`},
		"keeps blind out": {content: `<img src="data:,">`, want: "image-alt"},
		"keeps dim out": {
			content: `<style>:root{color-scheme:light dark;background:light-dark(white,black)}
				p{color:light-dark(black,#333)}</style><p>Fine</p>`,
			want: "in the dark: color-contrast",
		},
		"is too wide": {content: `<div style="width:330px">Wide</div>`, want: "18 too wide"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Content-Security-Policy", test.policy)
				fmt.Fprintf(w, good, test.content)
			}))
			defer server.Close()
			r := &recorder{TB: t}
			b := newBrowser(r, desktop, &frontdesktest.Client{})
			if test.expect != "" {
				b.ExpectConsole(test.expect)
			}
			b.Open(server.URL)
			b.Inspect("page")
			for _, end := range slices.Backward(r.ends) {
				end()
			}
			got := strings.Join(r.failures, "\n")
			if !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("it fails with %q, want %q", got, test.want)
			}
		})
	}
}
