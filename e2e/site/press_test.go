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
	g := newSiteVisitor(t, desktop)
	g.fillCart()
	due, registration := g.due(), g.Registration()
	catalogue := g.HoldResponses("*/products?*")
	g.Reload()
	x, y := g.WaitClickable(`[data-pay]`)
	catalogue.Await()
	mouse := input.DispatchMouseEventParams{
		Type:       input.DispatchMouseEventTypeMousePressed,
		X:          x,
		Y:          y,
		Button:     input.MouseButtonLeft,
		ClickCount: 1,
	}
	frontdesktest.Command(g.Browser, input.DispatchMouseEvent, mouse)
	catalogue.Release()
	g.Await(
		"the catalogue has arrived",
		`performance.getEntriesByType("resource").some(({name, responseEnd}) => name.includes("/products?") && responseEnd > 0)`,
	)
	g.Eval(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(""))))`)
	mouse.Type = input.DispatchMouseEventTypeMouseReleased
	frontdesktest.Command(g.Browser, input.DispatchMouseEvent, mouse)
	g.enterCard(frontdesktest.ApprovedCard)
	g.expectMember()
	g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
}

// TestTouchWhileThePageMoves checks the test kit: a touch that meets another element, because content has arrived and
// moved the page, does nothing and is made again.
func TestTouchWhileThePageMoves(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11")
	g.Eval(`(() => {
		document.body.insertAdjacentHTML("afterbegin", "<button id=meant>Meant</button><hr><button id=other>Other</button>");
		window.clicked = [];
		addEventListener("click", ({target}) => window.clicked.push(target.id));
		addEventListener("touchstart", () => document.body.prepend(document.querySelector("#other")), {once: true});
		return "";
	})()`)
	g.Click("#meant")
	if got := g.Eval(`window.clicked.join()`); got != "meant" {
		t.Errorf("clicked: %s", got)
	}
}
