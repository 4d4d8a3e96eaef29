package frontdesktest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Browser is a visitor with a real Chromium. When the test ends its pages must
// have thrown nothing, logged no error and no warning, kept to their content
// security policy, and have asked no host but this machine; see Expect.
//
// Start reading at NewBrowser. What a visitor does is in browser_hand.go, what
// they see in browser_page.go, what happens to them in browser_condition.go, and
// what every page is held against in browser_audit.go.
type Browser struct {
	t           testing.TB
	ctx         context.Context
	screenshots string

	width, height int64
	touch         bool
	world         string
	language      string
	console       *consoleMonitor
}

// phoneWidth is the widest window, in CSS pixels, that is taken for a phone's:
// the widest phones have less, the narrowest tablets more.
const phoneWidth = 500

// NewBrowser opens a browser with a fresh profile and a window of a size, in
// which the visitor reads English. The window of a phone is touched.
func NewBrowser(t testing.TB, width, height int) *Browser {
	t.Helper()
	b := &Browser{
		t: t, screenshots: filepath.Join(Root(), "artefacts", strings.ReplaceAll(t.Name(), "/", "-")), console: &consoleMonitor{},
		width: int64(width), height: int64(height), touch: width <= phoneWidth, language: defaultLanguage,
	}
	t.Cleanup(func() { b.console.report(t) })
	b.open(chromium(t), chromedp.WithNewBrowserContext())
	return b
}

// UseWorld lets the visitor's pages work in the world of a front end, or in none.
func (b *Browser) UseWorld(c *Client) *Browser {
	b.t.Helper()
	b.world = c.World
	headers := network.Headers{}
	if c.World != "" {
		headers["X-Frontdesk-World"] = c.World
	}
	command(b, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers})
	return b
}

// SetCookie puts a cookie into the browser that only servers see, as the one of a session is.
func (b *Browser) SetCookie(url, name, value string) {
	b.t.Helper()
	httpOnly := true
	command(b, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: url, HTTPOnly: &httpOnly})
}

// NewTab opens another tab of the same browser, with the same session.
func (b *Browser) NewTab() *Browser {
	b.t.Helper()
	other := *b
	other.screenshots += "-tab"
	other.open(b.ctx)
	return &other
}

// open opens a window of the process, or a tab of a window.
func (b *Browser) open(parent context.Context, options ...chromedp.ContextOption) {
	b.t.Helper()
	ctx, stop := chromedp.NewContext(parent, options...)
	b.ctx = ctx
	b.t.Cleanup(func() {
		if b.t.Failed() {
			b.Screenshot("failed")
		}
		stop()
	})
	b.start()
	if err := chromedp.Listen(ctx, b.console.handle); err != nil {
		b.t.Fatal(err)
	}
	// A page in the background has no focus, and all but one of several are there.
	command(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	command(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: layoutShiftObserver})
	b.Resize(b.width, b.height)
	b.SetLanguage(b.language)
	b.UseWorld(&Client{World: b.world})
}

// start makes the tab. Its first command must not have a context that ends before the tab does.
func (b *Browser) start() {
	b.t.Helper()
	if err := chromedp.Do(b.ctx); err != nil {
		b.t.Fatal(err)
	}
}

// act runs one step in the page, which may take Patience.
func act[T any](b *Browser, step func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	return step(ctx)
}

func (b *Browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if _, err := act(b, func(ctx context.Context) (any, error) { return nil, chromedp.Do(ctx, steps...) }); err != nil {
		b.t.Fatal(err)
	}
}

// command sends a command of the DevTools protocol to the page.
func command[Params, Answer any](b *Browser, what cdp.Command[Params, Answer], params Params) Answer {
	b.t.Helper()
	answer, err := act(b, func(ctx context.Context) (Answer, error) { return chromedp.Call(ctx, what, params) })
	if err != nil {
		b.t.Fatalf("%s: %v", what.Method, err)
	}
	return answer
}

// eval evaluates an expression in the page, and waits for the promise if it is one.
func eval[T any](b *Browser, expression string) T {
	b.t.Helper()
	value, err := tryEval[T](b, expression)
	if err != nil {
		b.t.Fatalf("%.200s: %v", expression, err)
	}
	return value
}

// tryEval is eval for a page that may be on its way to another, which is an error.
func tryEval[T any](b *Browser, expression string) (T, error) {
	return act(b, func(ctx context.Context) (T, error) {
		return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	})
}

// await waits for an expression of the page to be true, also while one page follows another.
func (b *Browser) await(what, expression string) {
	b.t.Helper()
	held := false
	defer func() {
		if !held {
			text, err := tryEval[string](b, `document.body.innerText`)
			b.t.Logf("the page says (%v):\n%s", err, text)
		}
	}()
	Eventually(b.t, what, func() bool {
		var err error
		held, err = tryEval[bool](b, expression)
		return err == nil && held
	})
}

// Open goes to an address.
func (b *Browser) Open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// Reload loads the page again.
func (b *Browser) Reload() {
	b.t.Helper()
	b.do(chromedp.Reload())
}

// Back presses the back button, and does not wait for what it leads to.
func (b *Browser) Back() {
	b.t.Helper()
	history := command(b, page.GetNavigationHistory, cdp.Empty{})
	if history.CurrentIndex == 0 {
		b.t.Fatal("there is nothing to go back to")
	}
	command(b, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: history.Entries[history.CurrentIndex-1].ID})
}

// WaitVisible waits until the first element of a CSS selector is visible.
func (b *Browser) WaitVisible(selector string) {
	b.t.Helper()
	visible := `(() => {
		const element = document.querySelector(` + quote(selector) + `);
		return !!element && element.getClientRects().length > 0 && element.checkVisibility({visibilityProperty: true});
	})()`
	b.await(selector+" is visible", visible)
}

// Screenshot keeps a picture of the page under artefacts/, for people to look at.
func (b *Browser) Screenshot(name string) {
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		if err = os.MkdirAll(b.screenshots, 0o755); err == nil {
			err = os.WriteFile(filepath.Join(b.screenshots, name+".png"), picture, 0o644)
		}
	}
	if err != nil {
		b.t.Logf("no picture of %s: %v", name, err)
	}
}
