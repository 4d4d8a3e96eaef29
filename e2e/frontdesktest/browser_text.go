package frontdesktest

import "github.com/chromedp/chromedp"

// TextOf reads the text of the first element of a selector; empty when there is none.
func (b *Browser) TextOf(selector string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.querySelector(`+quote(selector)+`)?.innerText ?? ""`))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

// Type enters text key by key, for pages that take no notice of anything less.
func (b *Browser) Type(selector, text string) {
	b.t.Helper()
	b.WaitVisible(selector)
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}
