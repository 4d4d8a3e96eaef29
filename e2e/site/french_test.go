package site_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestInFrench runs whole journeys in French.
func TestInFrench(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, device)
			visitor.SetLanguage("fr-FR")
			visitor.goTo("/")
			visitor.chooseClub()
			visitor.chooseOffer("subscription", cardOffer)
			visitor.giveDetails()
			due, registration := visitor.due(), visitor.Registration()
			if amount := strings.Replace(money(due), ".", ",", 1) + "\u00a0€"; !strings.Contains(visitor.Text(), amount) {
				t.Errorf("%s is not there, but:\n%s", amount, visitor.Text())
			}
			visitor.Screenshot("cart")
			visitor.goTo("/?club=12")
			visitor.WaitVisible(`[data-resume]`)
			if wide := visitor.Overflow(); wide > 0 {
				t.Errorf("the offers below an unfinished sign-up are %d pixels wider than the screen", wide)
			}
			visitor.Screenshot("unfinished")
			visitor.Click(`[data-resume] a`)
			visitor.WaitVisible(`[data-pay]`)
			visitor.payByCard()
			visitor.expectMember()
			visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
		})
	}
}

// TestLongTextsInFrench visits the remaining long texts.
func TestLongTextsInFrench(t *testing.T) {
	t.Parallel()
	for name, walk := range map[string]func(*siteVisitor){
		"direct debit": journeys["direct debit with a mandate and a code"],
		"transfer":     memberJourneys["a former member moves to another club"],
		"consents":     memberJourneys["a member says what they may be sent"],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newSiteVisitor(t, phone)
			g.SetLanguage("fr-FR")
			walk(g)
			g.expectFrench("the end")
		})
	}
}

// TestLanguageOfPushes checks that a change made elsewhere arrives in the language that the visitor has chosen
// meanwhile.
func TestLanguageOfPushes(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.fillCart()
	visitor.Click(`[data-language="fr"]`)
	visitor.WaitVisible(`html[lang="fr"] [data-pay]`)
	items := "/v1/registrations/" + visitor.Registration() + "/items"
	if status := visitor.Fetch("POST", items, api.NewItem{OfferId: "2501"}, frontdesktest.Key("")); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	visitor.WaitVisible(`[data-item="2501"]`)
	if name := visitor.TextOf(`[data-item="2501"] strong`); name != "Badge d’accès" {
		t.Errorf("the new item is named %q", name)
	}
}

// leftInEnglish returns the texts of the page, including those for screen readers, that are in the
// English catalogue and not in the French one, and sentences with words that only English has.
const leftInEnglish = `(async () => {
	const [english, french] = await Promise.all(["/text.en.js", "/text.fr.js"].map((file) => import(file).then((module) => module.default)));
	const texts = (catalogue) => Object.values(catalogue).flatMap((part) =>
		typeof part === "string" ? [part] : typeof part === "function" ? [] : texts(part));
	const spoken = new Set(texts(french));
	const only = new Set(texts(english).filter((words) => !spoken.has(words)));
	const sentence = /\b(the|your|you|with|please|and|this|club’s|year|monthly|every|fee|day|from)\b/i;
	const elsewhere = "[lang]:not(html), frontdesk-panel, noscript, script, style";
	const found = [];
	const look = (element, words) => {
		if (!words || element.closest(elsewhere)) return;
		if (only.has(words) || sentence.test(words)) found.push(words);
	};
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) look(walker.currentNode.parentElement, walker.currentNode.data.trim());
	for (const name of ["aria-label", "placeholder", "title", "alt"]) {
		for (const element of document.body.querySelectorAll("[" + name + "]")) look(element, element.getAttribute(name));
	}
	look(document.body, document.title.split(" – ")[0]);
	return JSON.stringify(found);
})()`

// expectFrench checks that a page of the site is entirely in French.
func (g *siteVisitor) expectFrench(name string) {
	g.t.Helper()
	if g.Count(`[data-progress]`) == 0 {
		return // the processor's own page
	}
	if language := g.Attribute(`html`, "lang"); language != "fr" {
		g.t.Errorf("%s: the page says that it is in %q", name, language)
	}
	var left []string
	if err := json.Unmarshal([]byte(g.Eval(leftInEnglish)), &left); err != nil {
		g.t.Fatal(err)
	}
	for _, words := range left {
		g.t.Errorf("%s: in English there is %q", name, words)
	}
}
