package frontdesktest

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is a visitor with a real Chromium. When the test ends it must have
// logged no error and have asked no host but this machine.
type Browser struct {
	t    testing.TB
	ctx  context.Context
	shot string

	mu       sync.Mutex
	troubles []string
	expected []string
}

// chromiumNames are where the systems keep it.
var chromiumNames = []string{"chromium", "chromium-browser", "google-chrome"}

// Chromium gives the path of the browser, for tests that run it in their own way.
func Chromium(t testing.TB) string {
	t.Helper()
	for _, name := range chromiumNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("these tests need chromium: apt-get install chromium, or the like")
	return ""
}

// NewBrowser opens a browser with a fresh profile and a window of a size.
func NewBrowser(t testing.TB, width, height int) *Browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(Chromium(t)), chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(width, height), chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en-GB"))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	ctx, cancel := context.WithTimeout(ctx, 4*patience)
	b := &Browser{t: t, ctx: ctx, shot: filepath.Join(Root(), "artefacts", strings.ReplaceAll(t.Name(), "/", "-"))}
	t.Cleanup(func() {
		if t.Failed() {
			b.Shot("failed")
		}
		cancel()
		stop()
		stopAllocator()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, trouble := range b.troubles {
			if !slices.ContainsFunc(b.expected, func(part string) bool { return strings.Contains(trouble, part) }) {
				t.Error(trouble)
			}
		}
	})
	b.do(chromedp.EmulateViewport(int64(width), int64(height)))
	if err := chromedp.Listen(ctx, b.watch); err != nil {
		t.Fatal(err)
	}
	return b
}

// watch notes what a page must not do.
func (b *Browser) watch(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.note("uncaught in the page: " + e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			b.note("the page logged an error")
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" {
			b.note("the page asked " + u.Host)
		}
	}
}

// Expect says that a trouble with this part is meant.
func (b *Browser) Expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

func (b *Browser) note(trouble string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.troubles = append(b.troubles, trouble)
}

func (b *Browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Open goes to an address.
func (b *Browser) Open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// See waits until the first element of a CSS selector is visible.
func (b *Browser) See(selector string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience) // the page that is there instead is to be kept
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(selector))); err != nil {
		b.t.Fatalf("%s is not to be seen: %v; the page says:\n%s", selector, err, b.Text())
	}
}

// Click waits for an element that stands still, and clicks it. The click is the
// element's own, since one at coordinates misses what a page that is slow to
// scroll has not brought there yet.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.See(selector)
	b.settle(selector)
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`(() => { const e = document.querySelector(`+quote(selector)+`); e.focus(); e.click(); return true })()`)); err != nil {
		b.t.Fatalf("%s cannot be clicked: %v", selector, err)
	}
}

// settle waits until an element has stayed where it is for a moment: what loads
// late may move it away under the pointer.
func (b *Browser) settle(selector string) {
	b.t.Helper()
	last := ""
	Eventually(b.t, selector+" stands still", func() bool {
		before := last
		var err error
		last, err = chromedp.Run(b.ctx, chromedp.Evaluate[string](`JSON.stringify(document.querySelector(`+quote(selector)+`)?.getBoundingClientRect() ?? null)`))
		return err == nil && last != "null" && last == before
	})
}

// DoubleClick clicks twice, as impatient people do.
func (b *Browser) DoubleClick(selector string) {
	b.t.Helper()
	b.See(selector)
	b.settle(selector)
	b.do(chromedp.DoubleClick(chromedp.CSS(selector)))
}

// Fill types into a field of a form, or sets what cannot be typed.
func (b *Browser) Fill(selector, value string) {
	b.t.Helper()
	b.See(selector)
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](
		`(() => { const f = document.querySelector(`+quote(selector)+`); f.focus(); f.value = `+quote(value)+`;
		f.dispatchEvent(new Event("input", {bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true})); return true })()`))
	if err != nil {
		b.t.Fatalf("%s: %v", selector, err)
	}
}

// Attribute reads an attribute of the first element of a selector.
func (b *Browser) Attribute(selector, name string) string {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.querySelector(`+quote(selector)+`)?.getAttribute(`+quote(name)+`) ?? ""`))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// Count tells how many elements a selector finds.
func (b *Browser) Count(selector string) int {
	b.t.Helper()
	n, err := chromedp.Run(b.ctx, chromedp.Evaluate[int](`document.querySelectorAll(`+quote(selector)+`).length`))
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// Reload loads the page again.
func (b *Browser) Reload() {
	b.t.Helper()
	b.do(chromedp.Reload())
}

// Text reads the text of the whole page.
func (b *Browser) Text() string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

// Shot keeps a picture of the page under artefacts/, for people to look at.
func (b *Browser) Shot(name string) {
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		if err = os.MkdirAll(b.shot, 0o755); err == nil {
			err = os.WriteFile(filepath.Join(b.shot, name+".png"), picture, 0o644)
		}
	}
	if err != nil {
		b.t.Logf("no picture of %s: %v", name, err)
	}
}

// quote makes a JavaScript string, of which JSON's are a subset.
func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always is JSON
	}
	return string(text)
}
