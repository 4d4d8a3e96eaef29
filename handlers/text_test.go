package handlers_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestFieldProblems: a wrong field has a code with parameters, and a message in the visitor's language.
func TestFieldProblems(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	wrong := strings.NewReplacer("ada@example.com", "ada", "Martin", strings.Repeat("m", 200), `"birthDate":"1990-05-17",`, "").Replace(person)
	for accepted, messages := range map[string]map[string]string{
		"": {
			"/email":      "must be an e-mail address",
			"/birthDate":  "is required",
			"/familyName": "must have at most 100 characters",
		},
		"tlh, *;q=0.1": {"/email": "must be an e-mail address"},
		"fr-CA, en;q=0.8": {
			"/email":      "doit être une adresse e-mail",
			"/birthDate":  "est obligatoire",
			"/familyName": "doit comporter au plus 100 caractères",
		},
		"tlh, fr;q=0.5, en;q=.3": {"/email": "doit être une adresse e-mail"},
	} {
		response := client.Do("PUT", unknownRegistration+"/person", wrong, [2]string{"Accept-Language", accepted})
		found := map[string]api.FieldProblem{}
		for _, e := range value(response.Problem(api.InvalidRequest).Errors) {
			found[frontdesktest.Place(e)] = e
		}
		for pointer, message := range messages {
			if found[pointer].Text != message {
				t.Errorf("%q: %s has %q, want %q", accepted, pointer, found[pointer].Text, message)
			}
		}
		if found["/email"].Code != "email" || found["/birthDate"].Code != "required" || found["/familyName"].Code != "too_long" ||
			value(found["/familyName"].Params)["max"] != "100" {
			t.Errorf("%q: the problems are %+v", accepted, found)
		}
		want := "en"
		if strings.HasPrefix(messages["/email"], "doit") {
			want = "fr"
		}
		if got := response.Header.Get("Content-Language"); got != want || !slices.Contains(response.Header.Values("Vary"), "Accept-Language") {
			t.Errorf("%q is answered in %q, Vary: %q", accepted, got, response.Header.Values("Vary"))
		}
	}
	late := client.Do("GET", "/v1/clubs/"+client.Club()+"/products?date=2999-01-01", nil,
		[2]string{"Accept-Language", "fr"}).Problem(api.InvalidRequest)
	e := value(late.Errors)
	if len(e) != 1 || e[0].Code != "date_too_late" || value(e[0].Params)["latest"] == "" ||
		!strings.HasPrefix(e[0].Text, "La date ne doit pas être postérieure au ") || value(late.Detail) != "date: "+e[0].Text {
		t.Errorf("a date that is too late: %+v", late)
	}
}

// TestCorrectionHasTheCodesOfThePerson: a wrong field has the same code in a correction as in a whole person,
// and the code says what the field is, not how its text is limited.
func TestCorrectionHasTheCodesOfThePerson(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	id := client.RegisterWith("11", frontdesktest.Person()).Id
	for _, field := range []struct {
		path  string
		wrong any
		code  api.FieldCode
	}{
		{"/mobile", "0612345678", "phone"}, {"/mobile", "", "phone"}, {"/mobile", "+33 6 12 34 56 78", "phone"},
		{"/email", "ada", "email"}, {"/email", nil, "type"}, {"/email", "ada@club", "email"}, {"/email", "Ada <ada@example.com>", "email"},
		{"/email", "ada@example.com, bob@example.com", "email"}, {"/email", "ada@example..com", "email"}, {"/email", "ada@-x.com", "email"},
		{"/birthDate", "17/05/1990", "date"}, {"/birthDate", "2100-01-01", "birth_date"},
		{"/givenName", "", "blank"}, {"/givenName", " ", "blank"}, {"/givenName", strings.Repeat("x", 101), "too_long"},
		{"/address/street", "", "blank"}, {"/address/postalCode", "!", "postal_code"}, {"/address/postalCode", "1", "postal_code"},
		{"/address/country", "France", "country"}, {"/address/country", "fr", "country"}, {"/address/country", "UK", "country"},
	} {
		var whole, correction map[string]any
		text, _ := json.Marshal(frontdesktest.Person())
		_ = json.Unmarshal(text, &whole)
		if member, ok := strings.CutPrefix(field.path, "/address/"); ok {
			whole["address"].(map[string]any)[member] = field.wrong
			correction = map[string]any{"address": map[string]any{member: field.wrong}}
		} else {
			whole[field.path[1:]] = field.wrong
			correction = map[string]any{field.path[1:]: field.wrong}
		}
		for method, body := range map[string]any{"PUT": whole, "PATCH": correction} {
			problem := client.Do(method, "/v1/registrations/"+id+"/person", body).Problem(api.InvalidRequest)
			found := frontdesktest.Value(problem.Errors)
			if len(found) != 1 || frontdesktest.Place(found[0]) != field.path || found[0].Code != field.code {
				t.Errorf("%s of %s %q: %+v, not %s", method, field.path, field.wrong, found, field.code)
			}
		}
	}
}

// TestMessages: a message has a code with parameters, and each device gets it in its own language,
// even if the response is replayed.
func TestMessages(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	in := func(tag string) [2]string { return [2]string{"Accept-Language", tag} }
	start := func(tag string) *frontdesktest.Response {
		return client.Do(
			"POST", "/v1/registrations",
			`{"clubId":"`+client.Club()+`","person":`+person+`,"items":[{"offerId":"201","startDate":"2030-01-15"}]}`,
			frontdesktest.Key("one start, in two languages"), in(tag),
		)
	}
	var begun api.Registration
	first := start("fr")
	first.Into(http.StatusCreated, &begun)
	again := start("en")
	was, is := first.Header.Get("Content-Language"), again.Header.Get("Content-Language")
	if was != "fr" || is != "en" || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a start in French is in %q, and replayed in %q", was, is)
	}

	client.Token = *begun.Token
	path := "/v1/registrations/" + begun.Id
	due := time.Now().UTC().AddDate(0, 0, 9)
	later := map[string]string{"method": "later", "dueDate": due.Format(time.DateOnly)}
	for _, visitor := range []struct{ tag, message string }{
		{"fr", "Votre inscription est enregistrée. Vous réglez au club au plus tard le " + french(due) + "."},
		{"en", "You are registered. Please pay at the club by " + due.Format("2 January 2006") + "."},
	} {
		var paid, registration api.Registration
		client.Do("POST", path+"/payment", later, frontdesktest.Key("one payment, in two languages"), in(visitor.tag)).
			Into(http.StatusCreated, &paid)
		shown := client.Do("GET", path, nil, in(visitor.tag))
		shown.Into(http.StatusOK, &registration)
		for name, shown := range map[string]api.Registration{"paid": paid, "read": registration} {
			if message := shown.Message; message.Text != visitor.message || message.Code != "later_recorded" ||
				value(message.Params)["dueDate"] != due.Format(time.DateOnly) {
				t.Errorf("%s in %s: %q, want %q", name, visitor.tag, message.Text, visitor.message)
			}
		}
		if message := registration.Message; message.Text != visitor.message || message.Code != "later_recorded" ||
			shown.Header.Get("Content-Language") != visitor.tag {
			t.Errorf("the registration in %s: %q in %q", visitor.tag, message.Text, shown.Header.Get("Content-Language"))
		}
	}
}

// TestStreamLanguage: a browser cannot set headers on an event stream, so the language is a parameter.
func TestStreamLanguage(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	for path, want := range map[string]string{"?lang=fr": "fr", "?lang=tlh": "en", "": "fr"} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", client.URL+"/v1/registrations/"+registration.Id+"/events"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+client.Token)
		request.Header.Set("X-Frontdesk-World", client.World)
		request.Header.Set("Accept-Language", "fr")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Content-Language"); response.StatusCode != http.StatusOK || got != want {
			t.Errorf("events%s are in %q (%d), want %q", path, got, response.StatusCode, want)
		}
	}
}

// french formats a date in French.
func french(day time.Time) string {
	months := []string{
		"janvier", "février", "mars", "avril", "mai", "juin",
		"juillet", "août", "septembre", "octobre", "novembre", "décembre",
	}
	number := day.Format("2 ")
	if day.Day() == 1 {
		number = "1er "
	}
	return number + months[day.Month()-1] + day.Format(" 2006")
}
