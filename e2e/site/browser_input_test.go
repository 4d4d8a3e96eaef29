package site_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"frontdesk/e2e/frontdesktest"
)

// The keys of keyboard navigation.
const (
	tabKey   = kb.Tab
	enterKey = kb.Enter
	spaceKey = " "
	leftKey  = kb.ArrowLeft
	rightKey = kb.ArrowRight
	endKey   = kb.End
)

// Press presses keys, one after the other, at the current focus. Chromium can lose a key in a window that
// another test's window covers.
func (b browser) Press(keys string) {
	b.t.Helper()
	frontdesktest.Command(b.Browser, page.BringToFront, cdp.Empty{})
	b.Do(chromedp.KeyEvent(keys))
}

// PressEnter presses Enter as a keyboard does: if the page prevents the key, no character follows. Press sends the
// character in an event of its own.
func (b browser) PressEnter() {
	b.t.Helper()
	frontdesktest.Command(b.Browser, page.BringToFront, cdp.Empty{})
	frontdesktest.Command(b.Browser, input.DispatchKeyEvent, input.DispatchKeyEventParams{
		Type:                  input.DispatchKeyEventTypeKeyDown,
		Key:                   "Enter",
		Code:                  "Enter",
		Text:                  enterKey,
		UnmodifiedText:        enterKey,
		WindowsVirtualKeyCode: '\r',
		NativeVirtualKeyCode:  '\r',
	})
}

// maxTabs is more than the focusable elements of any page.
const maxTabs = 150

// TabTo presses Tab until the focus is on an element, and fails the test if the focus is invisible on
// the way.
func (b browser) TabTo(selector string) {
	b.t.Helper()
	b.WaitVisible(selector)
	for range maxTabs {
		if frontdesktest.Eval[bool](b.Browser, `!!document.activeElement?.matches(`+frontdesktest.Quote(selector)+`)`) {
			return
		}
		b.Press(tabKey)
		if lost := frontdesktest.Eval[string](b.Browser, invisibleFocus); lost != "" {
			b.t.Errorf("the focus is not to be seen on %s", lost)
		}
	}
	b.t.Fatalf("no Tab leads to %s", selector)
}

// invisibleFocus returns the focused element if neither it nor its substitute shows the
// focus. Within a date, Chromium marks the part that is being typed, and within a frame, an element of the frame has the focus.
const invisibleFocus = `(() => {
	let element = document.activeElement;
	while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
	if (!element || element === document.body || element.type === "date" || element.localName === "iframe") return "";
	const shown = (e) => e && getComputedStyle(e).outlineStyle !== "none" && parseFloat(getComputedStyle(e).outlineWidth) > 0;
	const marked = shown(element) || shown(element.nextElementSibling) || shown(element.closest("label"));
	return marked ? "" : element.outerHTML.slice(0, 200);
})()`

// Focused reports whether the focus is on an element.
func (b browser) Focused(selector string) bool {
	b.t.Helper()
	return frontdesktest.Eval[bool](b.Browser, `!!document.activeElement?.matches(`+frontdesktest.Quote(strings.TrimSpace(selector))+`)`)
}

// secondTouch is how long DoubleClick waits for the second touch, which may have no effect.
const secondTouch = 5 * time.Second

// DoubleClick clicks or taps twice, as impatient people do.
func (b browser) DoubleClick(selector string) {
	b.t.Helper()
	x, y := b.WaitClickable(selector)
	if b.device == phone {
		b.Do(chromedp.TapXY(x, y))
		// A second touch has no response when the first one has opened another page.
		soon, cancel := context.WithTimeout(b.Context(), secondTouch)
		defer cancel()
		if err := chromedp.Do(soon, chromedp.TapXY(x, y)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			b.t.Fatal(err)
		}
		return
	}
	b.Do(chromedp.MouseClickXY(x, y), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
}
