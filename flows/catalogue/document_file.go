package catalogue

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"frontdesk/flows"
)

// maxDocument is the longest document, in bytes. Redis keeps each version that a buyer agreed to for years, and a confirmation
// has it attached.
const maxDocument = 1 << 20

// contentTypes are those of a document's file, by its extension.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
	".pdf":  "application/pdf",
	".svg":  "image/svg+xml",
	".png":  "image/png",
}

// signatures are the first bytes of the files that are no texts.
var signatures = map[string]string{".pdf": "%PDF-", ".png": "\x89PNG\r\n\x1a\n"}

// The forms of a document's version and language, and what an authorisation has in place of a value.
var (
	versions  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)
	languages = regexp.MustCompile(`^[a-z]{2}$`)
	gaps      = regexp.MustCompile(`\{[^{}]*\}`)
)

// readDocuments reads the documents of a club's entry, or of the defaults, from the folder of the operator's file.
func (p *problems) readDocuments(at string, documents Documents, files fs.FS) {
	for name, document := range documents.all() {
		at := at + ".documents." + string(name)
		p.refuse(document.Version.Text == "", at+".version", "is missing: give each change of the document another version")
		p.checkForm(document.Version.at(at+".version"), document.Version.Text, versions,
			"a version such as 2026-11, of at most 40 letters, digits, dots, hyphens and underscores")
		p.refuse(len(document.Files) == 0, at+".files", "is missing: name a file for each language")
		for _, language := range slices.Sorted(maps.Keys(document.Files)) {
			file := document.Files[language]
			at := file.at(at + ".files." + language)
			p.refuse(!languages.MatchString(language), at, "%q must be a language such as en", language)
			read, err := readDocument(name, file.Text, files)
			if err != nil {
				p.refuse(true, at, "%v", err)
				continue
			}
			read.Name, read.Version, read.Language = name, document.Version.Text, language
			document.read = append(document.read, read)
		}
	}
}

// at returns a key of the operator's file with its line.
func (p Placed) at(key string) string {
	if p.Line == 0 {
		return key
	}
	return fmt.Sprintf("line %d: %s", p.Line, key)
}

// readDocument reads the file of a document. It never leaves the folder: neither by its name nor by a link.
func readDocument(name flows.DocumentName, file string, files fs.FS) (document flows.Document, err error) {
	extension := path.Ext(file)
	kind, known := contentTypes[extension]
	isPicture, signature := strings.HasPrefix(kind, "image/"), signatures[extension]
	switch {
	case !fs.ValidPath(file) || file == ".":
		return document, fmt.Errorf("%q must be a file below the folder of the clubs file, without .. and a leading slash", file)
	case name == flows.DocumentGuaranteeNotice && !isPicture:
		return document, fmt.Errorf("%q must be an .svg or .png file: the EU's own, which may not be changed", file)
	case name != flows.DocumentGuaranteeNotice && (isPicture || !known):
		return document, fmt.Errorf("%q must be an .html, .txt or .pdf file", file)
	case name == flows.DocumentMandateText && extension != ".txt":
		return document, fmt.Errorf("%q must be a .txt file, because the authorisation is shown as a text", file)
	case files == nil:
		return document, fmt.Errorf("%q cannot be read without a clubs file: set FRONTDESK_CLUBS_FILE", file)
	}
	opened, err := files.Open(file)
	if err != nil {
		return document, fmt.Errorf("%q cannot be read: %w", file, bare(err))
	}
	defer opened.Close()
	body, err := io.ReadAll(io.LimitReader(opened, maxDocument+1))
	switch {
	case err != nil:
		return document, fmt.Errorf("%q cannot be read: %w", file, bare(err))
	case len(body) > maxDocument:
		return document, fmt.Errorf("%q must have at most %d bytes", file, maxDocument)
	case len(bytes.TrimSpace(body)) == 0:
		return document, fmt.Errorf("%q is empty", file)
	case signature == "" && !utf8.Valid(body):
		return document, fmt.Errorf("%q must be in UTF-8", file)
	case !bytes.HasPrefix(body, []byte(signature)):
		return document, fmt.Errorf("%q is not a %s", file, strings.ToUpper(extension[1:]))
	case name == flows.DocumentMandateText:
		err = checkMandateText(string(body))
	}
	hash := sha256.Sum256(body)
	return flows.Document{ContentType: kind, SHA256: hex.EncodeToString(hash[:]), Body: body}, err
}

// bare returns the cause of a file's error without its path, which would be repeated.
func bare(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

// maxMandateText is in characters: what a page shows above the field for a code.
const maxMandateText = 5000

func checkMandateText(text string) error {
	if utf8.RuneCountInString(text) > maxMandateText {
		return fmt.Errorf("must have at most %d characters", maxMandateText)
	}
	known := mandateGaps(flows.Creditor{}, 0)
	for _, gap := range gaps.FindAllString(text, -1) {
		if _, ok := known[gap]; !ok {
			return fmt.Errorf("has %s, which must be one of %s", gap, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	if !strings.Contains(text, "{creditor}") {
		return errors.New("must have {creditor}, the name of the creditor that it authorises")
	}
	return nil
}
