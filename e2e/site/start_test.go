package site_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"frontdesk/e2e/frontdesktest"
)

// TestStartDates checks that the suggested start is today, and not yesterday, although a club whose time zone is not
// known still accepts that.
func TestStartDates(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t, `FRONTDESK_CLUBS={"defaults": {"currency": "EUR"}}`)
	g := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	const zone, hoursAhead = "Pacific/Kiritimati", 14 // where every day begins first
	frontdesktest.Command(g.Browser, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
	g.goTo("/?club=11")
	g.WaitVisible(`[data-about]`) // the club's details are read
	g.Click(`[data-offer="` + cardOffer + `"] [data-choose]`)
	g.WaitVisible(`dialog [data-field="startDate"]`)
	today := time.Now().In(time.FixedZone(zone, hoursAhead*60*60)).Format(time.DateOnly)
	earliest, suggested := g.Attribute(`dialog [data-field="startDate"]`, "min"), g.Value(`dialog [data-field="startDate"]`)
	if earliest >= today || suggested != today {
		t.Errorf("on %s, a start from %s on is accepted, and %s is suggested", today, earliest, suggested)
	}
}
