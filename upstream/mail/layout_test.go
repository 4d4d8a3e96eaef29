package mail_test

import (
	"regexp"
	"strings"
	"testing"

	"frontdesk/upstream/mail"
)

// TestRender: HTML and text say the same, in the page's language and order; nothing is loaded, and no value is markup.
func TestRender(t *testing.T) {
	t.Parallel()
	html, text := mail.Render(mail.Page{Language: "fr", Title: "Bienvenue <Ada>", Blocks: []mail.Block{
		{Paragraphs: []string{"Bonjour,", "c'est fait & confirmé."}},
		{
			Heading: "Votre achat",
			Facts:   []mail.Fact{{Name: "Total", Value: "149,00\u00a0€"}, {Name: "Adresse", Value: "1 rue <b>A</b>\n75011 Paris"}},
			Link:    &mail.Link{Text: "Se rétracter", URL: "https://club.example/?withdraw&x=1"},
		},
	}})
	for _, part := range []string{
		`<html lang="fr">`, `<meta name="color-scheme" content="light dark">`, "prefers-color-scheme: dark",
		"<h1>Bienvenue &lt;Ada&gt;</h1>", "<h2>Votre achat</h2>", "<p>c&#39;est fait &amp; confirmé.</p>",
		`<th scope="row">Total</th><td>149,00` + "\u00a0" + `€</td>`, "1 rue &lt;b&gt;A&lt;/b&gt;\n75011 Paris",
		`<a href="https://club.example/?withdraw&amp;x=1">Se rétracter</a>`,
	} {
		if !strings.Contains(html, part) {
			t.Errorf("the HTML lacks %q:\n%s", part, html)
		}
	}
	if loads := regexp.MustCompile(`(?i)<(img|link|script|iframe)|src=|url\(|@import`).FindString(html); loads != "" {
		t.Errorf("the HTML loads something: %q", loads)
	}
	const want = "Bienvenue <Ada>\n\nBonjour,\n\nc'est fait & confirmé.\n\n== Votre achat ==\n\n" +
		"Total\u00a0: 149,00\u00a0€\nAdresse\u00a0: 1 rue <b>A</b>\n  75011 Paris\n\nSe rétracter\u00a0: https://club.example/?withdraw&x=1\n"
	if text != want {
		t.Errorf("the text is %q, want %q", text, want)
	}
}
