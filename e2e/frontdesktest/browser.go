package frontdesktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is a visitor with a real Chromium. The test fails when a page throws, logs an error or a
// warning, violates its content security policy, or requests another host; see ExpectConsole.
//
// Start reading at NewBrowser. What visitors do is in browser_input.go.
type Browser struct {
	t           TB
	ctx         context.Context
	screenshots string

	width, height int64
	world         string
	language      string
	frame         string // see Frame; empty: the page itself
	console       *consoleMonitor
}

const defaultLanguage = "en-GB" // the browser's until SetLanguage

// phoneWidth is the widest window, in CSS pixels, that counts as a phone's: the widest phones have
// less, the narrowest tablets more.
const phoneWidth = 500

// NewBrowser opens an English browser with a fresh profile and a window of the given size. A phone's
// window is a touch screen.
func NewBrowser(t TB, width, height int) *Browser {
	t.Helper()
	browser := &Browser{
		t:           t,
		screenshots: filepath.Join(Root(), "artefacts", strings.ReplaceAll(t.Name(), "/", "-")),
		console:     &consoleMonitor{},
		width:       int64(width),
		height:      int64(height),
		language:    defaultLanguage,
	}
	t.Cleanup(func() { browser.console.report(t) })
	browser.open(chromium(t), chromedp.WithNewBrowserContext())
	return browser
}

// UseWorld sends the world of a front end with every request; none if it is empty.
func (b *Browser) UseWorld(c *Client) *Browser {
	b.t.Helper()
	b.world = c.World
	headers := network.Headers{}
	if c.World != "" {
		headers["X-Frontdesk-World"] = c.World
	}
	Command(b, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers})
	return b
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
	Must(b.t, chromedp.Do(ctx)) // makes the tab, whose first command must not have a context that ends before it
	Must(b.t, chromedp.Listen(ctx, b.console.handle))
	// A page in the background has no focus, and only one of several pages is in front.
	Command(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	b.Resize(b.width, b.height)
	b.SetLanguage(b.language)
	b.UseWorld(&Client{World: b.world})
}

// SetLanguage sets the language, such as "fr-FR", that pages opened from now on see in requests, in
// navigator, and in the format of numbers and dates.
func (b *Browser) SetLanguage(language string) *Browser {
	b.t.Helper()
	b.language = language
	Command(
		b, emulation.SetUserAgentOverride,
		emulation.SetUserAgentOverrideParams{UserAgent: Eval[string](b, `navigator.userAgent`), AcceptLanguage: language},
	)
	return b
}

// Resize resizes the window. A narrow one is emulated as a phone.
func (b *Browser) Resize(width, height int64) {
	b.t.Helper()
	viewport := []chromedp.EmulateViewportOption{chromedp.EmulateLandscape}
	if width <= phoneWidth {
		viewport = []chromedp.EmulateViewportOption{chromedp.EmulatePortrait, chromedp.EmulateMobile, chromedp.EmulateTouch}
	}
	b.Do(chromedp.EmulateViewport(width, height, viewport...))
}

// Context returns the tab's context, for listeners.
func (b *Browser) Context() context.Context { return b.ctx }

// act runs one step in the page, within Patience.
func act[T any](browser *Browser, step func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(browser.ctx, Patience)
	defer cancel()
	return step(ctx)
}

// Do runs actions in the page.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	_, err := act(b, func(ctx context.Context) (any, error) { return nil, chromedp.Do(ctx, steps...) })
	Must(b.t, err)
}

// Command sends a command of the DevTools protocol to the page.
func Command[Params, Answer any](browser *Browser, what cdp.Command[Params, Answer], params Params) Answer {
	browser.t.Helper()
	response, err := act(browser, func(ctx context.Context) (Answer, error) { return chromedp.Call(ctx, what, params) })
	if err != nil {
		browser.t.Fatalf("%s: %v", what.Method, err)
	}
	return response
}

// Eval evaluates an expression in the page, and waits for the promise if it is one.
func Eval[T any](browser *Browser, expression string) T {
	browser.t.Helper()
	value, err := tryEval[T](browser, expression)
	if err != nil {
		browser.t.Fatalf("%.200s: %v", expression, err)
	}
	return value
}

// tryEval is Eval for a page that may be navigating, which is an error.
func tryEval[T any](browser *Browser, expression string) (T, error) {
	return act(browser, func(ctx context.Context) (T, error) {
		var where runtime.ExecutionContextID
		if browser.frame != "" {
			var err error
			if where, err = browser.frameContext(ctx); err != nil {
				var none T
				return none, err
			}
		}
		inFrame := func(p *runtime.EvaluateParams) { p.ContextID = where }
		return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise, inFrame))
	})
}

// Frame returns the page's frame whose address contains a text, such as "/v3/element", as a browser of its own: what it
// reads, fills and clicks is in the frame, even if that is of another origin. Pictures and keys are still the whole page's.
func (b *Browser) Frame(address string) *Browser {
	inside := *b
	inside.frame = address
	return &inside
}

// frameContext returns where scripts run that see a frame's content and none of its variables.
func (b *Browser) frameContext(ctx context.Context) (runtime.ExecutionContextID, error) {
	tree, err := chromedp.Call(ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return 0, err
	}
	wanted := func(child *page.FrameTree) bool { return strings.Contains(child.Frame.URL, b.frame) }
	at := slices.IndexFunc(tree.FrameTree.ChildFrames, wanted)
	if at < 0 {
		return 0, fmt.Errorf("the page has no frame %s", b.frame)
	}
	isolated := page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.ChildFrames[at].Frame.ID, WorldName: "frontdesktest"}
	made, err := chromedp.Call(ctx, page.CreateIsolatedWorld, isolated)
	return made.ExecutionContextID, err
}

// Await waits for an expression of the page to be true, even across a navigation.
func (b *Browser) Await(what, expression string) {
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
	b.Do(chromedp.Navigate(address))
}

// Reload loads the page again.
func (b *Browser) Reload() {
	b.t.Helper()
	b.Do(chromedp.Reload())
}

// WaitVisible waits until the first element of a CSS selector is visible.
func (b *Browser) WaitVisible(selector string) {
	b.t.Helper()
	visible := `(() => {
		const element = document.querySelector(` + Quote(selector) + `);
		return !!element && element.getClientRects().length > 0 && element.checkVisibility({visibilityProperty: true});
	})()`
	b.Await(selector+" is visible", visible)
}

// Screenshot saves a picture of the page under artefacts/, for people to look at: of a test that has failed, and of every
// test if FRONTDESK_SCREENSHOTS is set.
func (b *Browser) Screenshot(name string) {
	if !b.t.Failed() && os.Getenv("FRONTDESK_SCREENSHOTS") == "" { //nolint:forbidigo // a picture of a long page takes a second
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = errors.Join(os.MkdirAll(b.screenshots, 0o755), os.WriteFile(filepath.Join(b.screenshots, name+".png"), picture, 0o644))
	}
	if err != nil {
		b.t.Logf("no picture of %s: %v", name, err)
	}
}

// Count returns how many elements a selector finds.
func (b *Browser) Count(selector string) int {
	b.t.Helper()
	return Eval[int](b, `document.querySelectorAll(`+Quote(selector)+`).length`)
}

// TextOf reads the text of the first element of a selector; empty without one.
func (b *Browser) TextOf(selector string) string {
	b.t.Helper()
	return Eval[string](b, `document.querySelector(`+Quote(selector)+`)?.innerText ?? ""`)
}

// Quote writes a string or another value in JavaScript, of which JSON is a subset.
func Quote(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // a mistake in the test
	}
	return string(text)
}

// OtherHost is a name of this machine that only the browsers know: to them, its pages are no secure context, unlike those of localhost.
const OtherHost = "frontdesk.test"

// chromium is the one process of all browsers of a package's tests: each has its own profile in it.
var chromium = shared(startChromium)

// Chromium returns the path of the browser of the tests: Chromium's headless shell, where it is installed. It is the same
// engine without windows, and takes half the time. With FULL_CHROMIUM, it is Chromium.
func Chromium(t TB) string {
	t.Helper()
	// The names differ between systems.
	names := []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}
	if os.Getenv("FULL_CHROMIUM") != "" { //nolint:forbidigo // the Makefile sets it for the main journeys
		names = names[1:]
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("these tests need chromium: apt-get install chromium, or the like")
	return ""
}

func startChromium(t TB) context.Context {
	// They are chromedp's own, and the popups of the address bar: pages that each window opens and draws all the time,
	// which takes more of the processor than the tested page does. The last three, with a flag below, are processes for the
	// frames of other origins, such as the card fields: without them, the page's console and requests include the frames'.
	const unusedFeatures = "Translate,BlinkGenPropertyTrees,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup," +
		"SitePerProcess,IsolateOrigins,IsolateSandboxedIframes"
	path := Chromium(t)
	options := append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.WSURLReadTimeout(Patience),
		chromedp.Flag("no-sandbox", true),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag(
			"disable-component-update", true,
		),
		chromedp.Flag("lang", defaultLanguage),
		chromedp.Flag("disable-features", unusedFeatures),
		chromedp.Flag("disable-site-isolation-trials", true),
		chromedp.Flag("host-resolver-rules", "MAP "+OtherHost+" 127.0.0.1"),
	)
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		stop()
		stopAllocator()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	return ctx
}
