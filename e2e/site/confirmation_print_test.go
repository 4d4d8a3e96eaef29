package site_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"frontdesk/e2e/frontdesktest"
)

// printedPage is the page of a confirmation, as it comes out on paper.
type printedPage struct {
	Text        string
	Headings    []string
	Unreadable  []string // parts that are hidden, cut or wider than the paper, or not dark on white
	Links       []string // that do not say where they lead
	Interactive int      // what can only be used on a screen
}

// paperWidth and paperHeight are those of A4, in CSS pixels.
const paperWidth, paperHeight = 794, 1123

// TestConfirmationOnPaper prints the confirmation of an order with debits and a mandate, for a buyer who prefers dark pages: every part is
// there, dark on white and whole, each link with its address, and nothing that paper cannot do.
func TestConfirmationOnPaper(t *testing.T) {
	t.Parallel()
	for language, sections := range map[string][]string{
		"en": {"Confirmation of your contract with Lumen Bastille", "What you have ordered", "What you pay, and when",
			"Documents of the contract", "Your direct debit mandate", "Who you have contracted with", "Your right of withdrawal",
			"Model withdrawal form"},
		"fr": {"Confirmation de votre contrat avec Lumen Bastille", "Ce que vous avez commandé", "Ce que vous payez, et quand",
			"Documents du contrat", "Votre mandat de prélèvement", "Avec qui vous avez conclu", "Votre droit de rétractation",
			"Modèle de formulaire de rétractation"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, desktop)
			visitor.goTo("/?club=11&offer=" + frontdesktest.DirectDebit + "&startDate=" + tomorrow() + "&debitDay=10&lang=" + language)
			visitor.giveDetails()
			visitor.setUpDirectDebit()
			visitor.pay()
			visitor.enterCard(frontdesktest.ApprovedCard)
			visitor.expectMember()
			visitor.goTo("/v1/registrations/" + visitor.Registration() + "/confirmation")
			visitor.Inspect("confirmation")
			screen := visitor.printed()
			visitor.Resize(paperWidth, paperHeight)
			frontdesktest.Command(visitor.Browser, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
			})
			paper := visitor.printed()
			if !slices.Equal(paper.Headings, sections) {
				t.Errorf("the sections on paper are %q", paper.Headings)
			}
			if paper.Text != screen.Text {
				t.Errorf("on paper stands\n%s\nand on the screen\n%s", paper.Text, screen.Text)
			}
			if len(paper.Unreadable)+len(paper.Links)+paper.Interactive > 0 {
				t.Errorf("on paper, %q are not readable, %q are links without an address, and %d parts need a screen",
					paper.Unreadable, paper.Links, paper.Interactive)
			}
			pdf := frontdesktest.Command(visitor.Browser, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true)})
			if pages := strings.Count(string(pdf.Data), "/Type /Page\n"); pages < 2 || pages > 5 {
				t.Errorf("the confirmation has %d pages", pages)
			}
		})
	}
}

// printed returns what the page looks like in the medium that is emulated.
func (b browser) printed() printedPage {
	b.t.Helper()
	return frontdesktest.Eval[printedPage](b.Browser, `(() => {
		const width = document.documentElement.clientWidth;
		const written = [...document.querySelectorAll("h1, h2, p, th, td")];
		const dark = (one) => getComputedStyle(one).color.match(/\d+/g).slice(0, 3).every((part) => part < 120);
		const readable = (one) => {
			const box = one.getBoundingClientRect();
			return one.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && box.height > 0 && box.left >= 0 && box.right <= width
				&& one.scrollWidth <= one.clientWidth + 1 && one.scrollHeight <= one.clientHeight + 1 && dark(one);
		};
		return {
			text: document.body.innerText,
			headings: [...document.querySelectorAll("h1, h2")].map((one) => one.textContent),
			unreadable: written.filter((one) => !readable(one)).map((one) => one.textContent.slice(0, 80)),
			links: [...document.links].filter((one) => !getComputedStyle(one, "::after").content.includes("href") &&
				!getComputedStyle(one, "::after").content.includes(one.getAttribute("href"))).map((one) => one.textContent),
			interactive: document.querySelectorAll("button, input, select, textarea, details, summary, nav, dialog, iframe, script").length,
		};
	})()`)
}
