package catalogue

import (
	"iter"
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"frontdesk/flows"
)

// Documents are what a club's buyers agree to, and the information that they get before. Each may be missing.
type Documents struct {
	Terms                 *DocumentFiles `yaml:"terms"`
	Privacy               *DocumentFiles `yaml:"privacy"`
	WithdrawalInformation *DocumentFiles `yaml:"withdrawal_information"`
	EarlyStartRequest     *DocumentFiles `yaml:"early_start_request"`
	MandateText           *DocumentFiles `yaml:"mandate_text"`
	GuaranteeNotice       *DocumentFiles `yaml:"guarantee_notice"`
}

// DocumentFiles is a version of a document, with a file for each language.
type DocumentFiles struct {
	Version Placed            `yaml:"version"`
	Files   map[string]Placed `yaml:"files"` // by language; relative to the operator's file

	read []flows.Document // in the order of their languages
}

// Placed is a text of the operator's file, and its line.
type Placed struct {
	Text string
	Line int
}

// UnmarshalYAML reads a text.
func (p *Placed) UnmarshalYAML(node *yaml.Node) error {
	p.Line = node.Line
	return node.Decode(&p.Text)
}

// all returns the documents by their names, in the order in which they are listed.
func (d Documents) all() iter.Seq2[flows.DocumentName, *DocumentFiles] {
	return func(yield func(flows.DocumentName, *DocumentFiles) bool) {
		for _, one := range []struct {
			name  flows.DocumentName
			files *DocumentFiles
		}{
			{flows.DocumentTerms, d.Terms},
			{flows.DocumentPrivacy, d.Privacy},
			{flows.DocumentWithdrawalInformation, d.WithdrawalInformation},
			{flows.DocumentEarlyStartRequest, d.EarlyStartRequest},
			{flows.DocumentMandateText, d.MandateText},
			{flows.DocumentGuaranteeNotice, d.GuaranteeNotice},
		} {
			if one.files != nil && !yield(one.name, one.files) {
				return
			}
		}
	}
}

// or returns documents in which others replace those that are missing.
func (d Documents) or(other Documents) Documents {
	for _, one := range []struct{ own, other **DocumentFiles }{
		{&d.Terms, &other.Terms},
		{&d.Privacy, &other.Privacy},
		{&d.WithdrawalInformation, &other.WithdrawalInformation},
		{&d.EarlyStartRequest, &other.EarlyStartRequest},
		{&d.MandateText, &other.MandateText},
		{&d.GuaranteeNotice, &other.GuaranteeNotice},
	} {
		if *one.own == nil {
			*one.own = *one.other
		}
	}
	return d
}

// Document returns a document in a language; without one, in English, or in the first language that it has. ok is false if the
// club does not have the document.
func (d Details) Document(name flows.DocumentName, language string) (document flows.Document, ok bool) {
	for listed := range d.DocumentsIn(language) {
		if listed.Name == name {
			return listed, true
		}
	}
	return flows.Document{}, false
}

// DocumentsIn lists the club's documents, each in the language that Document returns.
func (d Details) DocumentsIn(language string) iter.Seq[flows.Document] {
	return func(yield func(flows.Document) bool) {
		for _, files := range d.Documents.all() {
			for _, tag := range []string{language, "en", files.read[0].Language} {
				i := slices.IndexFunc(files.read, func(one flows.Document) bool { return one.Language == tag })
				if i < 0 {
					continue
				}
				if !yield(files.read[i]) {
					return
				}
				break
			}
		}
	}
}

// Agreed returns the document that a buyer agrees to: of a request that says which bytes they saw, the one that has them, in any language;
// else the one that Document returns. ok is false if the club does not have it now.
func (d Details) Agreed(agreed flows.Agreed, language string) (document flows.Document, ok bool) {
	var candidates []flows.Document
	if usual, ok := d.Document(agreed.Document, language); ok {
		candidates = append(candidates, usual) // the first, because languages may share a text
	}
	for _, files := range d.Documents.all() {
		candidates = append(candidates, files.read...)
	}
	for _, one := range candidates {
		if one.Name == agreed.Document && one.Version == agreed.Version && (agreed.SHA256 == "" || agreed.SHA256 == one.SHA256) {
			return one, true
		}
	}
	return flows.Document{}, false
}

// DocumentBySHA256 returns one of the club's documents, in any language, by the hash of its bytes in hex.
func (d Details) DocumentBySHA256(sha256 string) (document flows.Document, ok bool) {
	for _, files := range d.Documents.all() {
		for _, one := range files.read {
			if one.SHA256 == sha256 {
				return one, true
			}
		}
	}
	return flows.Document{}, false
}

// Placeholders lists the files that are examples, or not finished: no buyer may agree to them.
func (d *Directory) Placeholders() []string {
	found := map[string]bool{}
	for _, details := range append(slices.Collect(maps.Values(d.clubs)), d.defaults) {
		for _, files := range details.Documents.all() {
			for _, one := range files.read {
				if one.IsPlaceholder() {
					found[files.Files[one.Language].Text] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Without lists which of some documents a club does not have.
func (d Details) Without(names ...flows.DocumentName) []flows.DocumentName {
	return slices.DeleteFunc(slices.Clone(names), func(name flows.DocumentName) bool {
		_, ok := d.Document(name, "")
		return ok
	})
}

// Untranslated lists the documents that the club lacks in a language that another one of its documents has.
func (d Details) Untranslated() (lacking []flows.Document) {
	used := map[string]bool{}
	for _, files := range d.Documents.all() {
		for language := range files.Files {
			used[language] = true
		}
	}
	for name, files := range d.Documents.all() {
		for _, language := range slices.Sorted(maps.Keys(used)) {
			if _, ok := files.Files[language]; !ok {
				lacking = append(lacking, flows.Document{Name: name, Language: language})
			}
		}
	}
	return lacking
}
