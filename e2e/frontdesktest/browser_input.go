package frontdesktest

import (
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Click waits until an element is still and uncovered, then clicks it, or taps it on a phone. The click
// is the element's own, because a slowly scrolling page would miss coordinates. So is a tap in a frame.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	if b.width <= phoneWidth && b.frame == "" {
		b.tap(selector)
		return
	}
	b.WaitClickable(selector)
	Eval[bool](b, `(() => { const e = document.querySelector(`+Quote(selector)+`); e.focus(); e.click(); return true })()`)
}

// tap touches an element, and again if the touch was lost because the element was replaced or moved away. A touch that
// meets another element, which has moved there, has no effect. If Chromium delivers no touch to one of several windows,
// tap clicks the element itself.
func (b *Browser) tap(selector string) {
	b.t.Helper()
	x, y := b.WaitClickable(selector)
	Eval[bool](b, `(() => {
		window.frontdeskTap?.abort();
		const tap = window.frontdeskTap = new AbortController();
		addEventListener("click", (event) => {
			if (event.target.closest(`+Quote(selector)+`)) return tap.abort();
			event.preventDefault();
			event.stopImmediatePropagation();
		}, {capture: true, signal: tap.signal});
		return true })()`)
	const usual = time.Second // the time in which a touch becomes a click
	const maxTaps = 2         // because an element may be replaced
	noticed := func() bool {
		is, err := tryEval[bool](b, `window.frontdeskTap?.signal.aborted !== false`) // another page does not have it
		return err != nil || is
	}
	for range maxTaps {
		Command(b, page.BringToFront, cdp.Empty{})
		b.Do(chromedp.TapXY(x, y))
		if Within(b.ctx, "a click", usual, noticed) == nil {
			return
		}
		if place, err := tryEval[string](b, placeOf(selector)); err == nil {
			_, _ = fmt.Sscan(place, &x, &y) // where the element is now, if it still is
		}
	}
	Eval[bool](b, `(() => { window.frontdeskTap?.abort(); document.querySelector(`+Quote(selector)+`)?.click(); return true })()`)
}

// WaitClickable waits until an element has stayed in place for a moment and a pointer reaches it there,
// because content that loads late may move it away. It returns the place.
func (b *Browser) WaitClickable(selector string) (x, y float64) {
	b.t.Helper()
	b.WaitVisible(selector)
	last := ""
	Eventually(b.t, selector+" can be clicked", func() bool {
		before := last
		var err error
		last, err = tryEval[string](b, placeOf(selector))
		n, _ := fmt.Sscan(last, &x, &y)
		return err == nil && n == 2 && last == before
	})
	return x, y
}

// placeOf scrolls an element into view, and says where a pointer reaches it, or why none does.
func placeOf(selector string) string {
	return `(() => {
		const element = document.querySelector(` + Quote(selector) + `);
		if (!element) return "nowhere";
		let found, x, y;
		for (const block of ["center", "start"]) { // what lies over the lower half of a small window is scrolled out from under
			element.scrollIntoView({block, behavior: "instant"});
			const {left, top, width, height} = element.getClientRects()[0] ?? {};
			[x, y] = [left + width / 2, top + height / 2];
			found = document.elementFromPoint(x, y);
			if (element.contains(found)) return x + " " + y;
		}
		return "behind " + found?.outerHTML.slice(0, 200);
	})()`
}

// Fill types into a field of a form, or sets the value where typing is not possible.
func (b *Browser) Fill(selector, value string) {
	b.t.Helper()
	b.WaitVisible(selector)
	Eval[bool](b, `(() => { const f = document.querySelector(`+Quote(selector)+`); f.focus(); f.value = `+Quote(value)+`;
		f.dispatchEvent(new Event("input", {bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
}

// CardFields is the address of the frame in which the processor's double shows its card fields.
const CardFields = "/v3/element"

// FillCard types a card's number into the processor's card fields, with an expiry date in the future.
func (b *Browser) FillCard(number string) {
	b.t.Helper()
	fields := b.Frame(CardFields)
	fields.Fill(`#number`, number)
	fields.Fill(`#expiry`, time.Now().AddDate(2, 0, 0).Format("01/06"))
	fields.Fill(`#cvc`, "123")
}

// Type enters text key by key, for pages that react to nothing less.
func (b *Browser) Type(selector, text string) {
	b.t.Helper()
	b.WaitVisible(selector)
	if b.frame == "" {
		b.Do(chromedp.SendKeys(chromedp.CSS(selector), text))
		return
	}
	Eval[bool](b, `(() => { document.querySelector(`+Quote(selector)+`).focus(); return true })()`)
	Command(b, page.BringToFront, cdp.Empty{}) // Chromium can lose a key in a window that another one covers
	b.Do(chromedp.KeyEvent(text))
}
