package clubsim

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
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

// spell writes a body as DateTimes and PHPJSON say.
func (s Settings) spell(response httpResponse) httpResponse {
	if len(response.body) == 0 || !s.DateTimes && !s.PHPJSON {
		return response
	}
	decoder := json.NewDecoder(bytes.NewReader(response.body))
	decoder.UseNumber()
	var body any
	if err := decoder.Decode(&body); err != nil {
		panic(err)
	}
	response.body = encode(s.spellValue("", body))
	return response
}

func (s Settings) spellValue(name string, value any) any {
	switch value := value.(type) {
	case string:
		if day, err := time.ParseInLocation(time.DateOnly, value, paris); s.DateTimes && datePattern.MatchString(value) && err == nil {
			return day.UTC().Format("2006-01-02T15:04:05-07:00")
		}
	case json.Number:
		if s.PHPJSON && slices.Contains(computed, name) {
			return value + ".0"
		}
	case map[string]any:
		for name := range value {
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
