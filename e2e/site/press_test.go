package site_test

import (
	"testing"

	"github.com/chromedp/cdproto/input"

	"frontdesk/e2e/frontdesktest"
)

// TestPressWhileThePageChanges: data that arrives while the mouse button is down does not replace the button
// under it, because the browser would then report no click.
func TestPressWhileThePageChanges(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.fillCart()
	due, registration := visitor.due(), visitor.Registration()
	catalogue := visitor.HoldResponses("*/products?*")
	visitor.Reload()
	visitor.agree(`[data-pay]`)
	x, y := visitor.WaitClickable(`[data-pay]`)
	catalogue.Await()
	mouse := input.DispatchMouseEventParams{
		Type:       input.DispatchMouseEventTypeMousePressed,
		X:          x,
		Y:          y,
		Button:     input.MouseButtonLeft,
		ClickCount: 1,
	}
	frontdesktest.Command(visitor.Browser, input.DispatchMouseEvent, mouse)
	catalogue.Release()
	visitor.Await(
		"the catalogue has arrived",
		`performance.getEntriesByType("resource").some(({name, responseEnd}) => name.includes("/products?") && responseEnd > 0)`,
	)
	visitor.Eval(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(""))))`)
	mouse.Type = input.DispatchMouseEventTypeMouseReleased
	frontdesktest.Command(visitor.Browser, input.DispatchMouseEvent, mouse)
	visitor.enterCard(frontdesktest.ApprovedCard)
	visitor.expectMember()
	visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
}

// TestTouchWhileThePageMoves checks the test kit: a touch that meets another element, because content has arrived and
// moved the page, does nothing and is made again.
func TestTouchWhileThePageMoves(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11")
	visitor.Eval(`(() => {
		document.body.insertAdjacentHTML("afterbegin", "<button id=meant>Meant</button><hr><button id=other>Other</button>");
		window.clicked = [];
		addEventListener("click", ({target}) => window.clicked.push(target.id));
		addEventListener("touchstart", () => document.body.prepend(document.querySelector("#other")), {once: true});
		return "";
	})()`)
	visitor.Click("#meant")
	if got := visitor.Eval(`window.clicked.join()`); got != "meant" {
		t.Errorf("clicked: %s", got)
	}
}
