package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
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
	expectParts(t, visitor.TextOf(`[data-mailed]`), "a•••@example.com")
	visitor.WaitVisible(`[data-print]`)
	visitor.Await("the heading has the focus", `document.activeElement.matches("[data-heading]")`)
	visitor.Screenshot("withdrawal-received")
	if wide := visitor.Overflow(); wide > 0 {
		t.Errorf("the acknowledgement is %d pixels wider than the screen", wide)
	}
}

// TestWithdrawFromTheLastPage: directly below the heading of the last page are the confirmation, where it was mailed and until when one can
// withdraw, in sight on a phone. The link to withdraw takes along what the page knows, and keeps it out of the address.
func TestWithdrawFromTheLastPage(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	visitor.pay()
	visitor.enterCard(frontdesktest.ApprovedCard)
	visitor.WaitVisible(`main[data-state="completed"] [data-member]`)
	visitor.Screenshot("last-page")
	const isInSight = `document.querySelector("[data-confirmation]").getBoundingClientRect().bottom <= innerHeight`
	if !frontdesktest.Eval[bool](visitor.Browser, isInSight) {
		t.Error("the confirmation is not in sight")
	}
	expectParts(t, visitor.TextOf(`[data-contract]`), "Your confirmation, to print or save", "•••@example.com",
		"You can withdraw from the contract until", "Withdraw from contract here")
	number, registration := visitor.Attribute(`[data-member]`, "data-member"), visitor.Registration()
	visitor.Click(`[data-withdraw]`)
	visitor.WaitVisible(`form[data-form="statement"]`)
	if got := visitor.Value(`[data-field="contract"]`); got != number+", "+registration { // the details are lost with the way to the card page
		t.Errorf("the contract of the form is %q", got)
	}
	if address := visitor.URL(); !strings.HasSuffix(address, "/?club=11&statement=withdrawal") {
		t.Errorf("the form is at %s", address)
	}
}

// TestStatementNamesTheClub: a visitor whose address names no club can choose one, or say that they do not know it. The acknowledgement
// then names the club and who sells.
func TestStatementNamesTheClub(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	for club, says := range map[string]string{"11": "Club: Lumen Bastille", "": "Ada Martin"} {
		visitor.goTo("/?statement=withdrawal")
		visitor.WaitVisible(`[data-field="clubId"]`)
		if unknown := visitor.Eval(`document.querySelector('[data-field="clubId"]').selectedOptions[0].textContent`); unknown != "I do not know" {
			t.Errorf("without a choice, the club is %q", unknown)
		}
		visitor.Fill(`[data-field="name"]`, "Ada Martin")
		visitor.Fill(`[data-field="email"]`, "ada@example.com")
		visitor.Fill(`[data-field="clubId"]`, club)
		visitor.Click(`[data-continue]`)
		visitor.WaitVisible(`[data-repeated="withdrawal"]`)
		if named := strings.Contains(visitor.TextOf(`main`), "Lumen Bastille"); named != (club != "") {
			t.Errorf("with the choice %q, the club is named: %t", club, named)
		}
		visitor.Click(`[data-confirm-statement]`)
		visitor.WaitVisible(`[data-received="withdrawal"]`)
		expectParts(t, visitor.TextOf(`[data-acknowledgement]`), says)
		if sells := strings.Contains(visitor.TextOf(`[data-acknowledgement]`), "Seller: Lumen Fitness"); sells != (club != "") {
			t.Errorf("with the choice %q, the seller is named: %t", club, sells)
		}
	}
	visitor.goTo("/?statement=withdrawal&club=11")
	visitor.WaitVisible(`form[data-form="statement"] [data-continue]`)
	if visitor.Count(`[data-field="clubId"]`) != 0 {
		t.Error("it asks for the club that the address names")
	}
}

// TestCancelInFrench cancels for good cause, in French.
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

// TestStatementsByKeyboard withdraws in English and cancels in French from every page: in two steps, without an account, by keyboard alone.
// The page names the club that the visitor came from. Each screen is accessible, and the acknowledgement can be printed.
func TestStatementsByKeyboard(t *testing.T) {
	t.Parallel()
	for kind, language := range map[string]string{"withdrawal": "en-GB", "cancellation": "fr-FR"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, phone)
			visitor.SetLanguage(language)
			visitor.AllowConsole("status of 40") // the registration that does not exist
			inspect := visitor.Inspect
			for i, page := range statementPages {
				visitor.goTo(page)
				visitor.WaitVisible(`main[data-step] h1`)
				visitor.press(`[data-statement-link="`+kind+`"]`, enterKey)
				visitor.WaitVisible(`form[data-form="statement"] [data-continue]`)
				visitor.press(`[data-field="name"]`, "Ada Martin")
				visitor.press(`[data-field="email"]`, fmt.Sprintf("%s%d@example.com", kind, i)) // an address gets few mails a day
				inspect(kind + "-form")
				visitor.Press(enterKey)
				visitor.WaitVisible(`[data-repeated="` + kind + `"]`)
				if named := strings.Contains(visitor.TextOf(`main`), "Lumen Bastille"); named != strings.Contains(page, "club=11") {
					t.Errorf("from %s, the club is named: %t, in\n%s", page, named, visitor.TextOf(`main`))
				}
				inspect(kind + "-repeated")
				visitor.press(`[data-confirm-statement]`, enterKey)
				visitor.WaitVisible(`[data-received="` + kind + `"]`)
				inspect(kind + "-received")
				inspect = func(string) {} // the screens are the same from every page
			}
			visitor.expectPrintable(`[data-acknowledgement]`)
			if received := len(visitor.acknowledgements()); received != len(statementPages) {
				t.Errorf("%d acknowledgements were mailed", received)
			}
		})
	}
}

// acknowledgements waits for the mails about statements, and returns those that there are then.
func (g *siteVisitor) acknowledgements() (sent []clubsim.Mail) {
	g.t.Helper()
	frontdesktest.Eventually(g.t, "all are mailed", func() bool {
		var mails clubsim.Items[clubsim.Mail]
		g.c.Control("GET", "mail", nil).Into(http.StatusOK, &mails)
		sent = mails.Items
		return len(sent) >= len(statementPages)
	})
	return sent
}

// expectPrintable prints the page: the paper has a part of it, and no buttons and links.
func (g *siteVisitor) expectPrintable(part string) {
	g.t.Helper()
	g.Eval(`(window.print = () => (document.body.dataset.printed = "true"), "")`)
	g.press(`[data-print]`, enterKey)
	g.WaitVisible(`body[data-printed]`)
	paper := func(media string) {
		frontdesktest.Command(g.Browser, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media})
	}
	paper("print")
	for _, control := range []string{`[data-print]`, `[data-statement-link]`, `[data-language]`} {
		if g.Eval(`String(document.querySelector('`+control+`')?.checkVisibility())`) != "false" {
			g.t.Errorf("%s is printed", control)
		}
	}
	g.WaitVisible(part)
	paper("")
}

// TestReloadKeepsStatement checks that a reload loses nothing of a statement, even of one that was stated, and that nothing of it is kept
// in the browser once it was received.
func TestReloadKeepsStatement(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?statement=cancellation&club=11")
	visitor.Fill(`[data-field="name"]`, "Ada Martin")
	visitor.Fill(`[data-field="email"]`, "ada@example.com")
	visitor.Click(`label:has([data-type="extraordinary"])`)
	visitor.Fill(`[data-field="reason"]`, "I move away.")
	for _, isStated := range []bool{false, true} {
		visitor.Reload()
		visitor.WaitVisible(`form[data-form="statement"] [data-continue]`)
		for field, want := range map[string]string{"name": "Ada Martin", "email": "ada@example.com", "reason": "I move away."} {
			if typed := visitor.Value(`[data-field="` + field + `"]`); typed != want {
				t.Errorf("after a reload, stated before: %t, %s is %q", isStated, field, typed)
			}
		}
		visitor.Click(`[data-continue]`)
		visitor.WaitVisible(`[data-repeated="cancellation"]`)
	}
	visitor.Click(`[data-confirm-statement]`)
	visitor.WaitVisible(`[data-received="cancellation"]`)
	visitor.Await("nothing personal is kept", `!JSON.stringify(sessionStorage).includes("ada@example.com")`)
	visitor.goTo("/?statement=withdrawal")
	visitor.WaitVisible(`form[data-form="statement"]`)
	if typed := visitor.Value(`[data-field="name"]`); typed != "" {
		t.Errorf("another statement begins with %q", typed)
	}
}

// TestMemberWithdraws checks that a visitor who is logged in need not say who they are.
func TestMemberWithdraws(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.logIn("/?me", "customer")
	visitor.WaitVisible(`[data-me]`)
	visitor.Click(`[data-statement-link="withdrawal"]`)
	visitor.WaitVisible(`[data-known]`)
	if lead := visitor.TextOf(`.lead`); lead != "You do not have to give a reason." {
		t.Errorf("somebody who is logged in reads %q", lead)
	}
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
