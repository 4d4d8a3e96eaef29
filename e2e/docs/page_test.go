package docs_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// TestPageExamplesRun runs every sh block with a curl command of the README and of the guides,
// each page's in its order, as one session. Operators' commands are in blocks without a language:
// they name payments and people that exist only where something went wrong.
func TestPageExamplesRun(t *testing.T) {
	t.Parallel()
	guides := []string{filepath.Join(frontdesktest.Root(), "README.md")}
	for _, pattern := range []string{"*.md", "*/*.md"} {
		found, err := filepath.Glob(filepath.Join(frontdesktest.Root(), "docs", pattern))
		if err != nil || len(found) < 2 {
			t.Fatalf("there are the guides %v, %v", found, err)
		}
		guides = append(guides, found...)
	}
	ran := 0
	for _, page := range guides {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		session := sessionOf(string(text))
		ran += len(session)
		if len(session) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			printed, made := paste(t, localhost(frontdesktest.NewMock(t).URL), strings.Join(session, "\n"))
			if len(made) < len(session) || len(printed) == 0 {
				t.Errorf("%d blocks made %d requests, and printed:\n%s", len(session), len(made), printed)
			}
			expectSuccess(t, made)
		})
	}
	if ran < 10 {
		t.Errorf("only %d blocks were found", ran)
	}
}

// sessionOf returns the sh blocks with a curl command of a page.
func sessionOf(markdown string) (session []string) {
	for _, b := range parseBlocks(markdown) {
		if b.Language == "sh" && strings.Contains(b.Text, "curl ") && !strings.Contains(b.Text, "npx ") { // TestTypedClient runs those
			session = append(session, b.Text)
		}
	}
	return session
}

func expectSuccess(t *testing.T, made []exchange) {
	t.Helper()
	for _, e := range made {
		if e.Status == 0 || e.Status >= http.StatusBadRequest {
			t.Errorf("%+v", e)
		}
	}
}

// TestJourneysInLiveMode runs the journeys of the README and of the guides as they are, against a gateway in live mode. The
// processor's and the simulator's doubles are at the addresses of mock mode; only the app's link is replaced, as the guide asks.
func TestJourneysInLiveMode(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"README.md", "docs/how-to/build-an-app.md", "docs/tutorials/first-signup.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			live := frontdesktest.NewLive(t)
			live.Env["FRONTDESK_ALLOWED_ORIGINS"] = appLink
			gateway, _ := live.Start(t)
			live.Processor.SetWebhooks(sandbox.Normal, gateway.URL+"/v1/webhooks/card")
			var paths http.ServeMux
			for path, to := range map[string]string{"/": gateway.URL, "/sim/": live.Upstreams.URL} {
				at, err := url.Parse(to)
				frontdesktest.Must(t, err)
				paths.Handle(path, httputil.NewSingleHostReverseProxy(at))
			}
			paths.Handle("/sandbox/", http.StripPrefix("/sandbox", live.Processor))
			front := httptest.NewServer(&paths)
			t.Cleanup(front.Close)

			session := strings.ReplaceAll(strings.Join(sessionOf(read(t, page)), "\n"), "https://signup.club.example", appLink)
			printed, made := paste(t, front.URL, session)
			expectSuccess(t, made)
			if !strings.Contains(printed, `"state": "completed"`) {
				t.Errorf("the journey ends with:\n%s", printed)
			}
		})
	}
}

var (
	linked      = regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]+))?\)`) // links within this repository; other addresses have a colon
	heading     = regexp.MustCompile("(?m)^#+ (.+)$")
	anchorOmits = regexp.MustCompile(`[^\p{L}\p{N} _-]`) // what an anchor leaves out of its heading
)

// TestLinks follows every link from one page of the repository to another, down
// to the heading.
func TestLinks(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "upstream/*.md"} {
		found, err := fs.Glob(os.DirFS(frontdesktest.Root()), pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	followed := 0
	for _, page := range pages {
		for _, link := range linked.FindAllStringSubmatch(read(t, page), -1) {
			followed++
			target := page
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			if _, err := os.Stat(filepath.Join(frontdesktest.Root(), target)); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if link[2] != "" && !slices.Contains(pageAnchors(read(t, target)), link[2]) {
				t.Errorf("%s: %s has no heading for #%s", page, target, link[2])
			}
		}
	}
	if followed < 50 {
		t.Errorf("only %d links were found", followed)
	}
}

// pageAnchors returns the anchors that GitHub makes of a page's headings.
func pageAnchors(markdown string) (anchors []string) {
	for _, found := range heading.FindAllStringSubmatch(markdown, -1) {
		anchors = append(anchors, strings.ReplaceAll(anchorOmits.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-"))
	}
	return anchors
}

// TestTryItOut presses Execute for every operation on the contract's page, with the unchanged example,
// in a real browser. The page may log no error, and send no other request.
func TestTryItOut(t *testing.T) {
	t.Parallel()
	gateway := localhost(frontdesktest.NewMock(t).URL)
	browser := frontdesktest.NewBrowser(t, 1280, 900)
	browser.Open(gateway + "/docs/api")
	browser.WaitVisible(".opblock")
	operations := operationsOf(t)
	if shown := browser.Count(".opblock"); shown != len(operations) {
		t.Errorf("the page shows %d operations of %d", shown, len(operations))
	}
	for _, op := range operations {
		if op.OperationID == "getCardPage" { // its address is made up
			continue
		}
		place := fmt.Sprintf("#operations-%s-%s", op.Tags[0], op.OperationID)
		browser.Click(place + " .opblock-summary-control")
		browser.Click(place + " .execute")
		browser.WaitVisible(place + " .live-responses-table .response-col_status")
		if op.OperationID == "getTransfer" {
			op.Status = http.StatusNoContent // the persona of the page has requested no move
		}
		shown := browser.TextOf(place + " .live-responses-table .response .response-col_status")
		if !strings.HasPrefix(shown, fmt.Sprint(op.Status)) {
			t.Errorf("%s: the page shows %q instead of %d: %s", op.OperationID, shown, op.Status, browser.TextOf(place+" .live-responses-table"))
		}
		curl := browser.TextOf(place + " .curl")
		if !strings.Contains(curl, gateway) || strings.Contains(curl, "3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11") {
			t.Errorf("%s: what was sent is shown as %s", op.OperationID, curl)
		}
		browser.Click(place + " .opblock-summary-control")
	}
}

// TestReferenceFromTheIndex follows the index to the API reference on a phone, and sends a request
// from an operation's own address. The browser fails the test if a page asks another origin.
func TestReferenceFromTheIndex(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	browser := frontdesktest.NewBrowser(t, 390, 844)
	browser.Open(localhost(client.URL) + "/docs")
	browser.Screenshot("docs-index")
	browser.Click(`.docs-page a[href="/docs/api"]`)
	browser.WaitVisible(".opblock")
	browser.Screenshot("docs-api")
	browser.Open(localhost(client.URL) + "/docs/api#/registrations/startRegistration")
	browser.Reload() // an address that differs only behind its # does not load a page
	const place = "#operations-registrations-startRegistration"
	browser.Click(place + " .execute")
	browser.WaitVisible(place + " .live-responses-table .response-col_status")
	shown := browser.TextOf(place + " .live-responses-table")
	if !strings.HasPrefix(browser.TextOf(place+" .live-responses-table .response .response-col_status"), "201") ||
		!strings.Contains(shown, `"token"`) {
		t.Errorf("the page shows %s", shown)
	}
}

// TestTryItOutCurl pastes the command that the page shows after Execute: it must be the request that
// was sent.
func TestTryItOutCurl(t *testing.T) {
	t.Parallel()
	gateway := localhost(frontdesktest.NewMock(t).URL)
	browser := frontdesktest.NewBrowser(t, 1280, 900)
	browser.Open(gateway + "/docs/api")
	const place = "#operations-payment-startPayment"
	browser.Click(place + " .opblock-summary-control")
	browser.Click(place + " .execute")
	browser.WaitVisible(place + " .live-responses-table .response-col_status")
	_, made := paste(t, gateway, browser.TextOf(place+" .curl"))
	if len(made) != 1 || made[0].Method != http.MethodPost || made[0].Status != http.StatusCreated {
		t.Errorf("pasted, the command of the page made %+v", made)
	}
}

// TestAuthorize checks that the page sends the developer's credentials instead of its own.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	browser := frontdesktest.NewBrowser(t, 1280, 900)
	browser.Open(localhost(client.URL) + "/docs/api")
	browser.ExpectConsole("status of 401") // the staff key is invalid
	browser.Click(".auth-wrapper .authorize")
	browser.WaitVisible(".auth-container form")
	// The dialog asks for each scheme of the contract, in its order: token, staffKey, identity, session.
	// the key is not the club's
	for place, credentials := range map[int]string{2: "demo-staff-key-2", 3: client.Persona("debtor").IdentityToken} {
		scheme := fmt.Sprintf(".auth-container:nth-child(%d) ", place)
		browser.Type(scheme+"input", credentials)
		browser.Click(scheme + `[aria-label="Apply credentials"]`)
	}
	browser.Screenshot("authorize")
	browser.Click(".auth-container .btn-done")
	for place, want := range map[string][2]string{
		"#operations-me-getMe":             {"200", client.Persona("debtor").ContactID[len("/demo/contacts/"):]},
		"#operations-payment-startPayment": {"401", "staff_key_unknown"},
	} {
		browser.Click(place + " .opblock-summary-control")
		browser.Click(place + " .execute")
		browser.WaitVisible(place + " .live-responses-table .response-col_status")
		if shown := browser.TextOf(place + " .live-responses-table"); !strings.Contains(shown, want[0]) || !strings.Contains(shown, want[1]) {
			t.Errorf("%s: the page shows %s", place, shown)
		}
	}
}
