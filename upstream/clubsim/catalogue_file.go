package clubsim

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// ParseCatalogue reads a catalogue from YAML or JSON; the head of the demo's, Demo().Source(), describes its form. The error has
// a line for each mistake.
func ParseCatalogue(file []byte) (*Catalogue, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(file, &document); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	catalogue := &Catalogue{source: file}
	r := &reading{root: &document}
	if document.Kind == yaml.DocumentNode {
		r.root = document.Content[0]
		r.checkKeys(r.root, reflect.TypeFor[CatalogueFile](), "")
		r.decode(&catalogue.CatalogueFile)
	}
	if !r.unread {
		catalogue.complete()
		catalogue.check(r)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	catalogue.link()
	return catalogue, nil
}

// reading collects the mistakes of a file.
type reading struct {
	root     *yaml.Node
	mistakes []mistake
	mistyped []int // the lines whose values have the wrong type
	unread   bool  // something was not read at all, so that other mistakes may follow from that
}

type mistake struct {
	line int
	text string
}

// refuse adds a mistake at a path, such as clubs[0].debitDays, if it is one.
func (r *reading) refuse(wrong bool, path, format string, args ...any) {
	if line := r.line(path); wrong && !slices.Contains(r.mistyped, line) {
		r.mistakes = append(r.mistakes, mistake{line, path + ": " + fmt.Sprintf(format, args...)})
	}
}

func (r *reading) err() error {
	slices.SortStableFunc(r.mistakes, func(a, b mistake) int { return a.line - b.line })
	var all []error
	for _, m := range r.mistakes {
		all = append(all, fmt.Errorf("line %d: %s", m.line, m.text))
	}
	return errors.Join(all...)
}

// step is a part of a path.
var step = regexp.MustCompile(`[^.\[\]]+`)

// line is where a path is in the file, or what is above it.
func (r *reading) line(path string) int {
	at := r.root
	for _, name := range step.FindAllString(path, -1) {
		next := child(at, name)
		if next == nil {
			break
		}
		at = next
	}
	return max(at.Line, 1)
}

// child is the value of a key, or the entry of a list; nil if there is none.
func child(at *yaml.Node, name string) *yaml.Node {
	if at.Alias != nil {
		at = at.Alias
	}
	switch index, err := strconv.Atoi(name); {
	case at.Kind == yaml.SequenceNode && err == nil && index < len(at.Content):
		return at.Content[index]
	case at.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(at.Content); i += 2 {
			if at.Content[i].Value == name {
				return at.Content[i+1]
			}
		}
	}
	return nil
}

// checkKeys refuses keys that a type does not have.
func (r *reading) checkKeys(at *yaml.Node, of reflect.Type, path string) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of.Kind() == reflect.Slice && at.Kind == yaml.SequenceNode:
		for i, entry := range at.Content {
			r.checkKeys(entry, of.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	case of.Kind() == reflect.Struct && at.Kind == yaml.MappingNode:
		known := keysOf(of)
		for i := 0; i+1 < len(at.Content); i += 2 {
			name := at.Content[i].Value
			within := strings.TrimPrefix(path+"."+name, ".")
			if member, ok := known[name]; ok {
				r.checkKeys(at.Content[i+1], member, within)
				continue
			}
			r.mistakes = append(r.mistakes, mistake{at.Content[i].Line, within + ": is not known" + suggestion(nearest(name, known))})
		}
	}
}

// keysOf are the keys of a type in YAML, and the types of their values.
func keysOf(of reflect.Type) map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(of) { // those of embedded types as well
		if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); name != "" {
			keys[name] = field.Type
		}
	}
	return keys
}

// nearest is the known name that is most like another one; empty if none is.
func nearest[V any](name string, known map[string]V) (found string) {
	least := len(name)/2 + 1
	for other := range known {
		changes := distance(strings.ToLower(name), strings.ToLower(other))
		if len(name) > 2 && strings.HasSuffix(strings.ToLower(other), strings.ToLower(name)) { // such as price, for listPrice
			changes = min(changes, len(name)/2)
		}
		if changes < least || changes == least && other < found {
			found, least = other, changes
		}
	}
	return found
}

// suggestion ends a message with the nearest known name, if there is one.
func suggestion(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// distance is how many letters must be added, removed or replaced to make one text another one (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// mistypedValue is the decoder's message about a value of the wrong type.
var mistypedValue = regexp.MustCompile("^cannot construct !!\\w+ (?:(`.*`) )?into (.*)$")

func (r *reading) decode(into *CatalogueFile) {
	err := r.root.Decode(into)
	all, ok := errors.AsType[*yaml.LoadErrors](err)
	if err != nil && !ok {
		r.mistakes, r.unread = append(r.mistakes, mistake{r.root.Line, err.Error()}), true
	}
	if !ok {
		return
	}
	for _, problem := range all.Errors {
		text := problem.Message
		if parts := mistypedValue.FindStringSubmatch(text); parts != nil {
			text = strings.TrimSpace(parts[1] + " must be " + wordsOf(parts[2]))
		} else {
			r.unread = true
		}
		r.mistyped = append(r.mistyped, problem.Mark.Line)
		r.mistakes = append(r.mistakes, mistake{problem.Mark.Line, text})
	}
}

// wordsOf names the values of a Go type.
func wordsOf(name string) string {
	switch {
	case name == "int" || name == "time.Month":
		return kindNames[reflect.Int]
	case name == "bool":
		return kindNames[reflect.Bool]
	case name == "string":
		return "a text"
	case strings.HasPrefix(name, "[]"):
		return kindNames[reflect.Slice]
	}
	return "an object"
}
