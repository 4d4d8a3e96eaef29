package clubsim

import (
	"maps"
	"slices"
)

// sources are where the contacts of every world come from. A world can have others in addition.
var sources = []string{"Website", "Reception"}

func (w *World) sourceNames() []string { return append(slices.Clone(sources), w.state.Sources...) }

func (w *World) sourceRecord(id int) record {
	return w.record("Source", "referentials/sources", id, record{"id": id, "name": w.sourceNames()[id-1]})
}

// listSources: GET referentials/sources. The description has none of the lists of this file; their records are assumptions.
func listSources(c *request) (response, error) {
	return paginate(c, "Source", numbersTo(len(c.w.sourceNames())), c.w.sourceRecord)
}

// createSource: POST referentials/sources.
func createSource(c *request) (response, error) {
	f := c.form()
	name := f.text("name", true)
	if err := f.err(); err != nil {
		return response{}, err
	}
	c.w.state.Sources = append(c.w.state.Sources, name)
	return c.created(c.w.sourceRecord(len(c.w.sourceNames())))
}

func (c *request) sourceAt(id int) (int, error) {
	if id > len(c.w.sourceNames()) {
		return 0, itemNotFound()
	}
	return id, nil
}

// source reads where a contact comes from; zero when it was not sent.
func (f *form) source() int {
	id := f.iri("sourceId", "referentials/sources", false)
	if id > len(f.w.sourceNames()) {
		f.errors.refusal = itemNotFound()
	}
	return id
}

// listCountries: GET countries, with their codes and names as addresses have them.
func listCountries(c *request) (response, error) {
	codes := slices.Sorted(maps.Keys(countryNames))
	return paginate(c, "Country", codes, func(code string) record {
		id := slices.Index(codes, code) + 1
		return c.w.record("Country", "countries", id, record{"id": id, "code": code, "name": countryName(code)})
	})
}
