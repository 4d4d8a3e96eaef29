package site_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"frontdesk/e2e/frontdesktest"
)

// TestStartDates checks that the suggested start is today, and not yesterday, although a club whose time zone is not
// known still accepts that. For an offer with limits of its own, the dialogs name these.
func TestStartDates(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(
		t, `FRONTDESK_CLUBS={"defaults": {"offers": {"901": {"earliestStart": "2031-06-01", "latestStart": "2031-08-31"}}}}`,
	)
	visitor := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	const zone, hoursAhead = "Pacific/Kiritimati", 14 // where every day begins first
	frontdesktest.Command(visitor.Browser, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
	visitor.goTo("/?club=11")
	visitor.WaitVisible(`[data-about]`) // the club's details are read
	visitor.Click(`[data-offer="` + cardOffer + `"] [data-choose]`)
	visitor.WaitVisible(`dialog [data-field="startDate"]`)
	today := time.Now().In(time.FixedZone(zone, hoursAhead*60*60)).Format(time.DateOnly)
	earliest, suggested := visitor.Attribute(`dialog [data-field="startDate"]`, "min"), visitor.Value(`dialog [data-field="startDate"]`)
	if earliest >= today || suggested != today {
		t.Errorf("on %s, a start from %s on is accepted, and %s is suggested", today, earliest, suggested)
	}
	visitor.Click(`dialog .dialog-actions button`)

	const limits = "Starts between 1 June 2031 and 31 August 2031"
	visitor.Click(`[data-offer="901"] [data-choose]`)
	visitor.WaitVisible(`dialog [data-debit-days="3"]`)
	if hint := visitor.TextOf(`#start-hint`); hint != limits {
		t.Errorf("the hint is %q", hint)
	}
	visitor.Fill(`dialog [data-field="startDate"]`, "2031-09-01")
	if said := visitor.TextOf(`#start-error`); said != limits {
		t.Errorf("of a start that is too late, the dialog says %q", said)
	}
	visitor.Click(`dialog .dialog-actions button`)
	visitor.Click(`[data-offer="901"] [data-show-plan]`)
	visitor.Fill(`dialog [data-field="startDate"]`, "2031-09-01")
	if said := visitor.TextOf(`#plan-error`); said != limits {
		t.Errorf("of a start that is too late, the plan says %q", said)
	}
}
