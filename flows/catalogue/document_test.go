package catalogue_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/mock"
)

// papers is a folder of documents.
var papers = fstest.MapFS{
	"terms.en.html": {Data: []byte("<p>Terms</p>")},
	"terms.fr.html": {Data: []byte("<p>Conditions</p>")},
	"own.txt":       {Data: []byte("Own terms. Frontdesk placeholder")},
	"privacy.pdf":   {Data: []byte("%PDF-1.7")},
	"mandate.txt":   {Data: []byte("You authorise {creditor} ({identifier}, {address}), {days} days before.\n")},
	"folder/a.txt":  {Data: []byte("A")},
	"empty.txt":     {Data: []byte(" \n")},
	"latin1.txt":    {Data: []byte("pr\xe9avis")},
	"false.pdf":     {Data: []byte("<p>no PDF</p>")},
	"notice.svg":    {Data: []byte("<svg/>")},
	"notice.png":    {Data: []byte("\x89PNG\r\n\x1a\n")},
	"false.png":     {Data: []byte("<svg/>")},
	"gap.txt":       {Data: []byte("{creditor} {iban}")},
	"unnamed.txt":   {Data: []byte("You authorise the club.")},
	"long.txt":      {Data: []byte(strings.Repeat("a", 1<<20+1))},
}

// TestDocumentProblems: an operator gets all problems of the documents at once, each with its line where the file has one.
func TestDocumentProblems(t *testing.T) {
	t.Parallel()
	_, err := catalogue.ParseDirectory([]byte(`defaults:
  documents:
    terms: {version: "2026 11", files: {en: ../secret.html, french: terms.fr.html}}
    privacy: {files: {en: /etc/passwd.txt, fr: nowhere.html}}
    withdrawal_information: {version: "1"}
    early_start_request: {version: "1", files: {en: folder, fr: empty.txt, de: latin1.txt, es: false.pdf, it: long.txt, pt: script.js}}
    mandate_text: {version: "1", files: {en: gap.txt, fr: terms.fr.html, de: unnamed.txt}}
    guarantee_notice: {version: "1", files: {en: privacy.pdf, fr: false.png}}
  creditor: {name: "", identifier: FR73ZZZ123456, address: {city: Paris, country: fr}}
  preNotificationDays: 0
clubs:
  "11": {creditor: {name: Lumen, identifier: FR72ZZZ}, preNotificationDays: 61}
  "12": {documents: {terms: {version: "1", files: {en: gone.html}}, privacy: {version: "1", files: {en: notice.svg}}}}
`), papers)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`line 3: defaults.documents.terms.version: "2026 11" must be a version`,
		`line 3: defaults.documents.terms.files.en: "../secret.html" must be a file below`,
		`line 3: defaults.documents.terms.files.french: "french" must be a language`,
		"defaults.documents.privacy.version: is missing",
		`line 4: defaults.documents.privacy.files.en: "/etc/passwd.txt" must be a file below`,
		`line 4: defaults.documents.privacy.files.fr: "nowhere.html" cannot be read: file does not exist`,
		"defaults.documents.withdrawal_information.files: is missing",
		`line 6: defaults.documents.early_start_request.files.en: "folder" must be an .html, .txt or .pdf file`,
		`files.fr: "empty.txt" is empty`, `files.de: "latin1.txt" must be in UTF-8`, `files.es: "false.pdf" is not a PDF`,
		`files.it: "long.txt" must have at most 1048576 bytes`, `files.pt: "script.js" must be an .html`,
		"line 7: defaults.documents.mandate_text.files.en: has {iban}, which must be one of {address}, {creditor}, {days}, {identifier}",
		`line 7: defaults.documents.mandate_text.files.fr: "terms.fr.html" must be a .txt file`,
		"files.de: must have {creditor}",
		"defaults.creditor.name: is missing", `line 9: defaults.creditor.identifier: "FR73ZZZ123456" has a typing error`,
		"defaults.creditor.address.street: is missing", "defaults.creditor.address.postalCode: is missing",
		`defaults.creditor.address.country: "fr" must be a country`, "defaults.preNotificationDays: must be from 1 to 60",
		`line 12: clubs.11.creditor.identifier: "FR72ZZZ" must be a creditor identifier`,
		"clubs.11.creditor.address.city: is missing", "clubs.11.preNotificationDays: must be from 1 to 60",
		`line 13: clubs.12.documents.terms.files.en: "gone.html" cannot be read`,
		`line 8: defaults.documents.guarantee_notice.files.en: "privacy.pdf" must be an .svg or .png file`, `files.fr: "false.png" is not a PNG`,
		`line 13: clubs.12.documents.privacy.files.en: "notice.svg" must be an .html`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
	_, err = catalogue.ParseDirectory([]byte("defaults:\n  documents:\n    gdpr: {}\n  creditor: {iban: FR}"), papers)
	if err == nil || err.Error() != "line 3: gdpr is not a known key\nline 4: iban is not a known key" {
		t.Errorf("unknown keys: %v", err)
	}
	_, err = catalogue.ParseDirectory([]byte(`defaults: {documents: {terms: {version: "1", files: {en: terms.html}}}}`), nil)
	if err == nil || !strings.Contains(err.Error(), "set FRONTDESK_CLUBS_FILE") {
		t.Errorf("without a folder: %v", err)
	}
}

// TestDocumentsStayInTheirFolder: neither a name nor a link leads out of the folder of the operator's file.
func TestDocumentsStayInTheirFolder(t *testing.T) {
	t.Parallel()
	outside, folder := filepath.Join(t.TempDir(), "secret.txt"), t.TempDir()
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "terms.txt")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = catalogue.ParseDirectory([]byte(`defaults: {documents: {terms: {version: "1", files: {en: terms.txt}}}}`), root.FS())
	if err == nil || !strings.Contains(err.Error(), `"terms.txt" cannot be read`) {
		t.Errorf("a link out of the folder is read: %v", err)
	}
}

// TestDocuments: a club's own documents override the defaults one by one, and a missing language has English or another one.
func TestDocuments(t *testing.T) {
	t.Parallel()
	clubs, err := catalogue.ParseDirectory([]byte(`
defaults:
  documents:
    terms: {version: "1", files: {fr: terms.fr.html, en: terms.en.html}}
    privacy: {version: "2", files: {fr: privacy.pdf}}
    mandate_text: {version: "3", files: {en: mandate.txt}}
    guarantee_notice: {version: "4", files: {en: notice.svg, fr: notice.png}}
  creditor: {name: Lumen, identifier: fr72 zzz 123456, address: {street: 1 rue de Rivoli, postalCode: "75004", city: Paris, country: FR}}
  preNotificationDays: 5
clubs:
  "11": {documents: {terms: {version: "9", files: {en: own.txt}}}}
`), papers)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		club, language string
		document       flows.DocumentName
		version, in    string
		kind           string
	}{
		{"12", "fr", flows.DocumentTerms, "1", "fr", "text/html; charset=utf-8"},
		{"12", "de", flows.DocumentTerms, "1", "en", "text/html; charset=utf-8"},
		{"12", "en", flows.DocumentPrivacy, "2", "fr", "application/pdf"},
		{"11", "fr", flows.DocumentTerms, "9", "en", "text/plain; charset=utf-8"},
		{"11", "fr", flows.DocumentPrivacy, "2", "fr", "application/pdf"},
		{"11", "fr", flows.DocumentGuaranteeNotice, "4", "fr", "image/png"},
		{"11", "de", flows.DocumentGuaranteeNotice, "4", "en", "image/svg+xml"},
	} {
		got, ok := clubs.Details(test.club).Document(test.document, test.language)
		hash := sha256.Sum256(got.Body)
		if !ok || got.Version != test.version || got.Language != test.in || got.ContentType != test.kind ||
			got.SHA256 != hex.EncodeToString(hash[:]) {
			t.Errorf("%+v: %t, %+v", test, ok, got)
		}
		if same, ok := clubs.Details(test.club).DocumentBySHA256(got.SHA256); !ok || same.Name != test.document {
			t.Errorf("%s by its hash: %t, %+v", test.document, ok, same)
		}
	}
	if _, ok := clubs.Details("11").Document(flows.DocumentEarlyStartRequest, "en"); ok {
		t.Error("the club has a document that the file does not name")
	}
	if got := clubs.Placeholders(); len(got) != 1 || got[0] != "own.txt" {
		t.Errorf("the placeholders are %v", got)
	}
	own := clubs.Details("11")
	words, language, ok := own.MandateText("fr", own.CollectedBy("Lumen Bastille"))
	const want = "You authorise Lumen (FR72ZZZ123456, 1 rue de Rivoli, 75004 Paris, FR), 5 days before."
	if !ok || words != want || language != "en" {
		t.Errorf("in %s, the mandate says %q", language, words)
	}
}

// TestAgreedDocument: the bytes that the buyer saw decide the language; without them, or where languages share them, the request does.
func TestAgreedDocument(t *testing.T) {
	t.Parallel()
	clubs, err := catalogue.ParseDirectory([]byte(`
defaults:
  documents:
    terms: {version: "1", files: {en: terms.en.html, fr: terms.fr.html}}
    privacy: {version: "2", files: {de: privacy.pdf, en: terms.en.html, fr: privacy.pdf}}
`), papers)
	if err != nil {
		t.Fatal(err)
	}
	hash := func(file string) string {
		sum := sha256.Sum256(papers[file].Data)
		return hex.EncodeToString(sum[:])
	}
	english, french, pdf := hash("terms.en.html"), hash("terms.fr.html"), hash("privacy.pdf")
	for _, test := range []struct {
		agreed   flows.Agreed
		language string
		in       string // "": the club does not have it
	}{
		{flows.Agreed{Document: "terms", Version: "1"}, "fr", "fr"},
		{flows.Agreed{Document: "terms", Version: "1"}, "de", "en"},
		{flows.Agreed{Document: "terms", Version: "1", SHA256: french}, "en", "fr"},
		{flows.Agreed{Document: "privacy", Version: "2", SHA256: pdf}, "fr", "fr"},
		{flows.Agreed{Document: "privacy", Version: "2", SHA256: pdf}, "en", "de"},
		{flows.Agreed{Document: "privacy", Version: "2", SHA256: english}, "fr", "en"},
		{flows.Agreed{Document: "privacy", Version: "2", SHA256: french}, "fr", ""},
		{flows.Agreed{Document: "terms", Version: "2", SHA256: french}, "fr", ""},
		{flows.Agreed{Document: "terms", Version: "2"}, "fr", ""},
		{flows.Agreed{Document: "mandate_text", Version: "1"}, "fr", ""},
		{flows.Agreed{}, "fr", ""},
	} {
		got, ok := clubs.Details("11").Agreed(test.agreed, test.language)
		if ok != (test.in != "") || got.Language != test.in || ok && (got.Name != test.agreed.Document || got.Version != test.agreed.Version) {
			t.Errorf("%+v: %t, %s %s in %q", test, ok, got.Name, got.Version, got.Language)
		}
	}
}

// TestDemoDocuments: each demo club has every document in each language of the site, and all of them are placeholders.
func TestDemoDocuments(t *testing.T) {
	t.Parallel()
	clubs, err := catalogue.ParseDirectory([]byte(mock.Clubs), mock.Documents)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range append(clubs.IDs(), "") {
		for _, language := range []string{"en", "fr"} {
			count := 0
			for document := range clubs.Details(id).DocumentsIn(language) {
				if count++; document.Language != language || !document.IsPlaceholder() {
					t.Errorf("club %q, %s: %+v", id, language, document)
				}
			}
			if count != 5 {
				t.Errorf("club %q has %d documents in %s", id, count, language)
			}
		}
	}
	files, err := fs.Glob(mock.Documents, "documents/*")
	if found := clubs.Placeholders(); err != nil || len(found) != len(files) {
		t.Errorf("%d of %d files are placeholders, %v", len(found), len(files), err)
	}
}
