package site_test

import (
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// statementPages are pages of the site from which both functions are reached.
var statementPages = []string{"/", "/?club=11", "/?club=11&offer=101", "/?me", "/?registration=00000000-0000-4000-8000-000000000000",
	"/?statement=cancellation"}

// TestStatementsFromEveryPage checks that every page has a link to the withdrawal and to the cancellation, with the labels that the law
// gives, in sight on a phone and large enough to be tapped.
func TestStatementsFromEveryPage(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.AllowConsole("status of 40")
	var config api.Config
	visitor.c.Do("GET", "/v1/config", nil).Into(200, &config)
	labels := map[string]string{}
	for _, label := range frontdesktest.Value(config.Statements) {
		labels[label.Language+" "+string(label.Kind)] = label.Start
	}
	for _, page := range statementPages {
		visitor.goTo(page)
		visitor.WaitVisible(`main[data-step] h1`)
		for _, kind := range []string{"withdrawal", "cancellation"} {
			link := `[data-statement-link="` + kind + `"]`
			visitor.WaitVisible(link)
			if said := visitor.TextOf(link); said != labels["en "+kind] {
				t.Errorf("%s says %q, not %q", page, said, labels["en "+kind])
			}
			place := frontdesktest.Eval[[]float64](visitor.Browser, `(() => {
				const { top, bottom, height } = document.querySelector('`+link+`').getBoundingClientRect();
				return [top, bottom, height, innerHeight];
			})()`)
			if place[0] < 0 || place[1] > place[3] || place[2] < 44 {
				t.Errorf("%s: the link to the %s is at %v", page, kind, place)
			}
		}
		if wide := visitor.Overflow(); wide > 0 {
			t.Errorf("%s is %d pixels wider than the screen", page, wide)
		}
	}
	visitor.Click(`[data-language="fr"]`)
	visitor.WaitVisible(`html[lang="fr"]`)
	if said := visitor.TextOf(`[data-statement-link="cancellation"]`); said != labels["fr cancellation"] {
		t.Errorf("in French it says %q", said)
	}
}

// TestWithdrawOnThePhone withdraws without an account: the form, the page that repeats it above the labelled button, the acknowledgement,
// which can be printed and is what the gateway says.
func TestWithdrawOnThePhone(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11")
	visitor.WaitVisible(`main[data-step="offer"]`)
	visitor.Click(`[data-statement-link="withdrawal"]`)
	visitor.WaitVisible(`form[data-form="statement"]`)
	visitor.Click(`[data-continue]`)
	visitor.WaitVisible(`[data-field="name"][aria-invalid="true"]`)
	visitor.WaitVisible(`[data-field="email"][aria-invalid="true"]`)
	if visitor.Count(`[data-field="reason"]`) != 0 {
		t.Error("it asks for a reason")
	}
	visitor.Fill(`[data-field="name"]`, "Ada Martin")
	visitor.Fill(`[data-field="email"]`, "ada@example.com")
	visitor.Fill(`[data-field="contract"]`, "11-001007")
	visitor.Screenshot("withdrawal-form")
	visitor.Click(`[data-continue]`)
	visitor.WaitVisible(`[data-repeated="withdrawal"]`)
	expectParts(t, visitor.TextOf(`main`), "Ada Martin", "ada@example.com", "11-001007")
	if label := visitor.TextOf(`[data-confirm-statement]`); !strings.Contains(label, "Confirm withdrawal") {
		t.Errorf("the button says %q", label)
	}
	visitor.Click(`[data-correct-statement]`)
	visitor.WaitVisible(`form[data-form="statement"]`)
	if name := visitor.Value(`[data-field="name"]`); name != "Ada Martin" {
		t.Errorf("after a correction, the name is %q", name)
	}
	visitor.Fill(`[data-field="contract"]`, "11-001008")
	visitor.Click(`[data-continue]`)
	visitor.WaitVisible(`[data-repeated="withdrawal"]`)
	visitor.Screenshot("withdrawal-repeated")
	visitor.Click(`[data-confirm-statement]`)
	visitor.WaitVisible(`[data-received="withdrawal"]`)
	expectParts(t, visitor.TextOf(`[data-acknowledgement]`), "We received it on", "Ada Martin", "11-001008", "14 days")
	visitor.WaitVisible(`[data-print]`)
	visitor.Await("the heading has the focus", `document.activeElement.matches("[data-heading]")`)
	visitor.Screenshot("withdrawal-received")
	if wide := visitor.Overflow(); wide > 0 {
		t.Errorf("the acknowledgement is %d pixels wider than the screen", wide)
	}
}

// TestCancelInFrench cancels for good cause, in French and by keyboard alone.
func TestCancelInFrench(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.SetLanguage("fr-FR")
	visitor.goTo("/?statement=cancellation")
	visitor.WaitVisible(`form[data-form="statement"]`)
	visitor.Fill(`[data-field="name"]`, "Ada Martin")
	visitor.Fill(`[data-field="email"]`, "ada@example.com")
	visitor.Click(`label:has([data-type="extraordinary"])`)
	visitor.Click(`[data-continue]`)
	visitor.WaitVisible(`[data-field="reason"][aria-invalid="true"]`)
	visitor.Fill(`[data-field="reason"]`, "Je déménage.")
	visitor.expectFrench("the form")
	visitor.Click(`[data-continue]`)
	visitor.WaitVisible(`[data-repeated="cancellation"]`)
	if label := visitor.TextOf(`[data-confirm-statement]`); !strings.Contains(label, "Notification de la résiliation") {
		t.Errorf("the button says %q", label)
	}
	visitor.expectFrench("the page that repeats it")
	visitor.Click(`[data-confirm-statement]`)
	visitor.WaitVisible(`[data-received="cancellation"]`)
	expectParts(t, visitor.TextOf(`[data-acknowledgement]`), "Je déménage.", "proofs@lumen.example", "prennent fin")
	visitor.expectFrench("the acknowledgement")
}

// TestMemberWithdraws checks that a visitor who is logged in need not say who they are.
func TestMemberWithdraws(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.logIn("/?me", "customer")
	visitor.WaitVisible(`[data-me]`)
	visitor.Click(`[data-statement-link="withdrawal"]`)
	visitor.WaitVisible(`[data-known]`)
	visitor.Click(`[data-continue]`)
	visitor.WaitVisible(`[data-repeated="withdrawal"]`)
	expectParts(t, visitor.TextOf(`main`), "11-001001")
	visitor.Click(`[data-confirm-statement]`)
	visitor.WaitVisible(`[data-received="withdrawal"]`)
}

func expectParts(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}
