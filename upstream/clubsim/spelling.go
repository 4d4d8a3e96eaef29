package clubsim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// paris is where the clubs are.
var paris = must(time.LoadLocation("Europe/Paris"))

// must returns a value that was made of constants.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

var (
	// computed are the members that PHP computes with fractions, so that whole numbers become floats.
	computed    = []string{"loop", "priceTE", "registrationFeeTI", "tax", "taxRate", "totalPriceTI"}
	datePattern = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
)

// The media types of the API.
const (
	ldJSON    = "application/ld+json"
	plainJSON = "application/json"
)

// mediaType returns the media type of a header without its parameters.
func mediaType(header string) string {
	kind, _, _ := mime.ParseMediaType(header) // which is empty where it cannot be read
	return kind
}

// prefersJSON reports whether an Accept header asks for plain JSON more than for JSON-LD, or as much and earlier.
func prefersJSON(accept string) bool {
	best, plain := 0.0, false
	for entry := range strings.SplitSeq(accept, ",") {
		kind, parameters, err := mime.ParseMediaType(entry)
		weight, unweighted := strconv.ParseFloat(parameters["q"], 64)
		if unweighted != nil {
			weight = 1
		}
		if err == nil && weight > best {
			best, plain = weight, kind == plainJSON
		}
	}
	return plain
}

// spelling is how a response is written: as DateTimes, PHPJSON and TaxRates say, and plain or as JSON-LD.
type spelling struct {
	Settings
	plain   bool
	members map[string]string // that Members changes
}

func (s spelling) spell(response httpResponse) httpResponse {
	asWritten := !s.DateTimes && !s.PHPJSON && !s.plain && !s.CountryISO && len(s.members) == 0 && s.TaxRates == "percent"
	if len(response.body) == 0 || asWritten || bytes.HasPrefix(response.body, []byte("%PDF-")) {
		return response
	}
	if s.plain {
		response.header = maps.Clone(response.header)
		if response.header == nil {
			response.header = http.Header{}
		}
		response.header.Set("Content-Type", plainJSON)
	}
	decoder := json.NewDecoder(bytes.NewReader(response.body))
	decoder.UseNumber()
	var body any
	if err := decoder.Decode(&body); err != nil {
		panic(err)
	}
	response.body = encode(s.spellValue("", changeMembers(body, s.members)))
	return response
}

// countryNames are the names of countries by their codes.
var countryNames = map[string]string{"BE": "Belgique", "CH": "Suisse", "DE": "Allemagne", "FR": "France", "GB": "Royaume-Uni"}

// countryName returns the name of a country for its code, or the code itself.
func countryName(code string) string { return cmp.Or(countryNames[code], code) }

// countryCode returns the code of a country for its name; empty: not known.
func countryCode(name string) string {
	for code, known := range countryNames {
		if strings.EqualFold(name, known) {
			return code
		}
	}
	return ""
}

func (s spelling) spellValue(name string, value any) any {
	switch value := value.(type) {
	case string:
		if day, err := time.ParseInLocation(time.DateOnly, value, paris); s.DateTimes && datePattern.MatchString(value) && err == nil {
			return day.UTC().Format("2006-01-02T15:04:05-07:00")
		}
	case json.Number:
		if s.TaxRates == "hundredths" && name == "taxRate" {
			value += "00"
		}
		if s.PHPJSON && slices.Contains(computed, name) {
			return value + ".0"
		}
		return value
	case map[string]any:
		members, isList := value["hydra:member"]
		if unprefixed, isPlain := value["member"]; isPlain {
			members, isList = unprefixed, true
		}
		if s.plain && isList {
			return s.spellValue("", members)
		}
		if code, isAddress := value["addressCountry"].(string); s.CountryISO && isAddress {
			value["addressCountry"], value["addressCountryIso"] = countryName(code), code
		}
		for name := range value {
			if s.plain && strings.HasPrefix(name, "@") {
				delete(value, name)
				continue
			}
			value[name] = s.spellValue(name, value[name])
		}
		if s.PHPJSON && len(value) == 0 {
			return []any{}
		}
	case []any:
		gaps := map[string]any{}
		for i := range value {
			value[i] = s.spellValue("", value[i])
			gaps[itoa(i+1)] = value[i] // the first entry was removed
		}
		if s.PHPJSON && len(value) > 0 {
			return gaps
		}
	}
	return value
}
