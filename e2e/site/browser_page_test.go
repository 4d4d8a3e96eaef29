package site_test

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"

	"frontdesk/e2e/frontdesktest"
)

// browser is the kit's browser, with the site tests' own actions and checks.
type browser struct {
	*frontdesktest.Browser
	device
	t testing.TB
}

// newBrowser opens a browser on a device, in the world of a front end.
func newBrowser(t testing.TB, with device, c *frontdesktest.Client) browser {
	t.Helper()
	b := browser{frontdesktest.NewBrowser(t, with.width, with.height).UseWorld(c), with, t}
	b.observeLayoutShifts()
	return b
}

// inFrame returns the page's frame whose address contains a text, as a browser of its own.
func (b browser) inFrame(address string) browser {
	b.Browser = b.Frame(address)
	return b
}

// SetCookie sets a cookie that scripts cannot read.
func (b browser) SetCookie(url, name, value string) {
	b.t.Helper()
	httpOnly := true
	frontdesktest.Command(b.Browser, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: url, HTTPOnly: &httpOnly})
}

// Back presses the back button, and does not wait for the page.
func (b browser) Back() {
	b.t.Helper()
	history := frontdesktest.Command(b.Browser, page.GetNavigationHistory, cdp.Empty{})
	if history.CurrentIndex == 0 {
		b.t.Fatal("there is nothing to go back to")
	}
	frontdesktest.Command(
		b.Browser, page.NavigateToHistoryEntry,
		page.NavigateToHistoryEntryParams{EntryID: history.Entries[history.CurrentIndex-1].ID},
	)
}

// Attribute reads an attribute of the first element of a selector.
func (b browser) Attribute(selector, name string) string {
	b.t.Helper()
	return frontdesktest.Eval[string](
		b.Browser,
		`document.querySelector(`+frontdesktest.Quote(selector)+`)?.getAttribute(`+frontdesktest.Quote(name)+`) ?? ""`,
	)
}

// Text reads the text of the whole page.
func (b browser) Text() string {
	b.t.Helper()
	return frontdesktest.Eval[string](b.Browser, `document.body.innerText`)
}

// Value reads the value of a field.
func (b browser) Value(selector string) string {
	b.t.Helper()
	return frontdesktest.Eval[string](b.Browser, `document.querySelector(`+frontdesktest.Quote(selector)+`)?.value ?? ""`)
}

// URL returns the browser's address.
func (b browser) URL() string {
	b.t.Helper()
	return frontdesktest.Eval[string](b.Browser, `location.href`)
}

// Registration reads the id of the registration from the address.
func (b browser) Registration() string {
	b.t.Helper()
	id := frontdesktest.Eval[string](b.Browser, `new URLSearchParams(location.search).get("registration") ?? ""`)
	if id == "" {
		b.t.Fatalf("%s names no registration", b.URL())
	}
	return id
}

// Overflow returns by how many pixels the page is wider than the window.
func (b browser) Overflow() int {
	b.t.Helper()
	return frontdesktest.Eval[int](b.Browser, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
}

// layoutShiftObserver records, in every page, which of its parts jumped by how much without the
// visitor's input: the sum of https://web.dev/articles/cls, over the page's whole life.
const layoutShiftObserver = `(() => {
	const jumps = window.frontdesktestJumps = [];
	const part = (node) => node?.outerHTML?.slice(0, 80) ?? "a part that is gone";
	new PerformanceObserver((list) => {
		for (const {hadRecentInput, value, sources} of list.getEntries()) {
			if (hadRecentInput) continue;
			const parts = sources.map(({node, previousRect, currentRect}) =>
				part(node) + " by " + (currentRect.y - previousRect.y));
			jumps.push({value, parts});
		}
	}).observe({type: "layout-shift", buffered: true});
})()`

func (b browser) observeLayoutShifts() {
	b.t.Helper()
	frontdesktest.Command(
		b.Browser, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: layoutShiftObserver},
	)
}

// LayoutShift returns how far the parts of the page have jumped since it was loaded, in thousandths of
// its size, and which parts.
func (b browser) LayoutShift() (thousandths int, parts string) {
	b.t.Helper()
	thousandths = frontdesktest.Eval[int](b.Browser, `Math.round(1000 * frontdesktestJumps.reduce((sum, {value}) => sum + value, 0))`)
	return thousandths, frontdesktest.Eval[string](b.Browser, `frontdesktestJumps.flatMap(({parts}) => parts).join("\n")`)
}

// Fetch sends a request as the page, with its session, and returns the status of the response.
func (b browser) Fetch(method, path string, body any, headers ...[2]string) int {
	b.t.Helper()
	all := map[string]string{"Content-Type": "application/json"}
	for _, header := range headers {
		all[header[0]] = header[1]
	}
	return frontdesktest.Eval[int](
		b.Browser,
		`fetch(`+frontdesktest.Quote(
			path,
		)+`, {method: `+frontdesktest.Quote(
			method,
		)+`, headers: `+frontdesktest.Quote(
			all,
		)+`, body: `+frontdesktest.Quote(
			frontdesktest.Quote(body),
		)+`}).then((answer) => answer.status)`,
	)
}

// Eval evaluates an expression of the page's own scripts that returns a string, or a promise of one.
func (b browser) Eval(expression string) string {
	b.t.Helper()
	return frontdesktest.Eval[string](b.Browser, expression)
}
