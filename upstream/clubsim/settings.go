package clubsim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Values of Settings.EmbeddedOffers; the third is complete.
const (
	embedsNone    = "none"
	embedsSummary = "summary"
)

// maxSeconds is longer than any setting needs, and can be added to a date.
const maxSeconds = 1_000_000_000

// webhookModes are the values of Settings.Webhooks.
var webhookModes = []string{"normal", "drop", "duplicate", "late", "reorder"}

// Settings of a world: what the club system's description leaves open or makes depend on
// the installation. GET and PUT _control/settings carry them; PUT changes only the members
// that it names.
type Settings struct {
	ProductionMode bool `json:"productionMode"` // refuses operations that GrantedEndpoints does not list
	// GrantedEndpoints are operation names ("getContact") or endpoints ("GET /contacts/{contactId}").
	GrantedEndpoints []string    `json:"grantedEndpoints"`
	ClientClubs      ClubNumbers `json:"clientClubs"`      // the clubs within the scope of the OAuth client; empty: all
	NetworkNodeShape string      `json:"networkNodeShape"` // "nested" (children are objects), "flat" (IRIs) or "parent" (its IRI)

	TokenLifetime  Seconds `json:"tokenLifetime"`  // the life of an access token. One hour is usual
	TokenExpiresIn bool    `json:"tokenExpiresIn"` // false leaves expires_in out of the token response

	WebhookURL   string  `json:"webhookUrl"`   // receives the events; empty: events are only recorded
	Webhooks     string  `json:"webhooks"`     // how deliveries go wrong: "normal", "drop", "duplicate", "late" or "reorder"
	WebhookDelay Seconds `json:"webhookDelay"` // how late "late" is

	SMSCode SMSCode `json:"smsCode"` // the rules of SMS codes

	PageSize    int `json:"pageSize"`    // the size of a page when itemsPerPage is not sent; documented as 30
	MaxPageSize int `json:"maxPageSize"` // caps itemsPerPage; "reasonable limits" is all that is documented

	// HydraPrefix false sends collections with member and totalItems, without "hydra:".
	HydraPrefix bool `json:"hydraPrefix"`
	// MixedPrefix writes view and its links the other way round than HydraPrefix says.
	MixedPrefix bool `json:"mixedPrefix"`
	// PlainJSON answers a request whose Accept prefers application/json without @context, @id and @type, and a list as an array.
	PlainJSON bool `json:"plainJson"`
	// WriteType is the Content-Type that the body of a write must have: "any" or "application/ld+json".
	WriteType string `json:"writeType"`
	// CountryISO has the code of a country in addressCountryIso, and its name in addressCountry.
	CountryISO bool `json:"countryIso"`
	// BacsMandates accepts mandates of type bacs: accountName, accountNumber, sortCode.
	BacsMandates bool `json:"bacsMandates"`
	// SeveralTargets signs a sale and a mandate with one code: targetIds in place of targetId.
	SeveralTargets bool `json:"severalTargets"`
	// TaxRates is the unit of taxRate: "percent" or "hundredths" of a percent.
	TaxRates string `json:"taxRates"`
	// ClubOptional answers reads with a node and without a club: for all clubs below the node, or for the first one where
	// a club is needed.
	ClubOptional bool `json:"clubOptional"`
	// RefuseFilters answers 400 to a read with a parameter that it does not know, instead of ignoring it.
	RefuseFilters bool `json:"refuseFilters"`
	// SaleFilters knows the filters of GET sales and GET articles. If it is false, they are unknown parameters.
	SaleFilters bool   `json:"saleFilters"`
	ErrorShape  string `json:"errorShape"` // "hydra" or "plain" ({"status", "message", "code"})
	// EmbeddedOffers is what a product has in offers: "none", "complete" (its offers) or "summary" (its offers without their schedules).
	EmbeddedOffers string `json:"embeddedOffers"`
	// BehaviorIRIs true sends a product's behaviors with a behavior, the IRI of their kind, in place of its name in type.
	BehaviorIRIs  bool `json:"behaviorIris"`
	DateTimeZone  bool `json:"dateTimeZone"`  // writes date-times with their zone, "+00:00"
	DateTimes     bool `json:"dateTimes"`     // writes dates as date-times: midnight in Paris, in UTC
	PHPJSON       bool `json:"phpJson"`       // writes lists with gaps as objects, empty objects as lists, and numbers of offers as 1.0
	CreatedStatus int  `json:"createdStatus"` // the status of writes whose status is not documented: 200 or 201
	WriteBodies   bool `json:"writeBodies"`   // false leaves out the body of writes whose body is not documented

	// DebtCounts is what totalRealDebt adds up: "owed" (every due) or "overdue" (only those past their date).
	DebtCounts string `json:"debtCounts"`
	// MigrationKeeps is which of the two contacts lives on after a migration: "source" or "target".
	MigrationKeeps string `json:"migrationKeeps"`
	// UpdateContactPath is where a sale takes over the migrated contact: "sale" (sale/{id}/update_contact) or "sales".
	UpdateContactPath string `json:"updateContactPath"`
	// MigrationNode is where a move to another club must act from: "above" (a node above both clubs), "destination" (the destination's own
	// node, with disableNetwork: true), "source" (the node of the contact's club) or "any" (whichever node).
	MigrationNode string `json:"migrationNode"`
	// MigrationNewID gives a contact that has moved a new identifier, which the signed request has in resultTargetId.
	MigrationNewID bool `json:"migrationNewId"`
	// MandateRequired makes the check of a sale with debits require a signed mandate; the
	// description of the check has no such rule.
	MandateRequired bool `json:"mandateRequired"`
	// ArticleAmounts says which amounts an article shows: "price" (priceTI), "both", "total" (totalTI) or "none". Of both, only totalTI adds
	// up to the sale: priceTI lacks the registration fee and a discount. With "wrong", totalTI is a cent too high.
	ArticleAmounts string `json:"articleAmounts"`
	// RefuseAtAdd refuses an article that the buyer may not buy when it is added, counting the tags that the other articles would give.
	// The description of the API leaves that to the check.
	RefuseAtAdd bool `json:"refuseAtAdd"`
	// RemoveDependents removes with an article those that need a tag which it would have given.
	RemoveDependents bool `json:"removeDependents"`
	// RestrictionsAtPayment leaves restrictions of offers, such as ages, out of the check: the first payment of a sale is refused for
	// them, and so are its deferral and its validation.
	RestrictionsAtPayment bool `json:"restrictionsAtPayment"`
	// FillSaleFromContact copies missing names, number and address from the contact into a new sale.
	FillSaleFromContact bool   `json:"fillSaleFromContact"`
	FormerStatus        string `json:"formerStatus"` // the literal for a former customer
	// ContactStatus is the member with a contact's status: "status", or "state", where a customer is a "client".
	ContactStatus string `json:"contactStatus"`
	// Checkouts says what the registers of the clubs show of their account at the card processor: "hidden" (they cannot be read), "own" (that
	// of the processor's double), "otherAccount" or "otherCurrency".
	Checkouts string `json:"checkouts"`
	// OnlineCancellation has the subscriptions of a contact (GET subscription_summary), and ends one of them online. Studio Solo has not
	// switched it on.
	OnlineCancellation bool `json:"onlineCancellation"`
	// SaleTerms has the clubs' own terms of sale (GET identify_sale_terms, GET sale_terms/{id}), and records that a buyer accepted them.
	SaleTerms bool `json:"saleTerms"`
	// ContractDocuments has the contract of a recorded sale as a PDF (GET sales/{id}/contract).
	ContractDocuments bool `json:"contractDocuments"`
	// UniqueEmail refuses an e-mail address that another contact of the organisation has: "off", "all", or "exceptTemp", which
	// neither refuses temporary contacts nor counts theirs.
	UniqueEmail  string `json:"uniqueEmail"`
	RequireEmail bool   `json:"requireEmail"` // refuses a contact without an e-mail address
	// WithdrawnOffers are offers that no club sells any more, by number; what is in a sale already fails its check.
	WithdrawnOffers []int `json:"withdrawnOffers"`
	// ExtraProducts is how many products each club sells in addition, for catalogues with
	// many pages. At most 500.
	ExtraProducts int      `json:"extraProducts"`
	CardNetworks  []string `json:"cardNetworks"` // the networks that a card payment may name; empty: any word

	Members Members `json:"members"` // of responses, where an installation's differ

	CallLimits CallLimits `json:"callLimits"` // of the API gateway in front of the club system

	// AskRepeats does not belong to the club system: it makes the gateway in the same process, in mock mode, ask this world's
	// buyers before they buy the same offer again.
	AskRepeats bool `json:"askRepeats"`
}

// SMSCode are the rules of SMS codes.
type SMSCode struct {
	Validity Seconds `json:"validity"` // how long a code can be used. Ten minutes are usual
	// Attempts is how many wrong codes end a signature request. Five leave room for typing
	// errors and none for guessing.
	Attempts int    `json:"attempts"`
	Fixed    string `json:"fixed"` // makes every code the same; empty: six digits drawn from the seed
	// Accepted are codes that are right as well, such as those written in a collection of requests.
	Accepted []string `json:"accepted"`
}

// DefaultSettings are the settings of a new or reset world.
func DefaultSettings() Settings {
	return Settings{
		GrantedEndpoints: []string{},
		ClientClubs:      ClubNumbers{},
		NetworkNodeShape: "nested",
		TokenLifetime:    3600,
		TokenExpiresIn:   true,
		Webhooks:         "normal",
		WebhookDelay:     2,
		SMSCode:          SMSCode{Validity: 600, Attempts: 5, Accepted: []string{}},
		PageSize:         30,
		MaxPageSize:      100,
		HydraPrefix:      true,
		EmbeddedOffers:   embedsNone,
		ErrorShape:       "hydra",
		CreatedStatus:    201,
		WriteBodies:      true,
		DebtCounts:       "owed",
		MigrationKeeps:   "source",
		ArticleAmounts:   "price",
		MigrationNode:    migrationAbove,

		UpdateContactPath: "sale",
		WriteType:         "any",
		TaxRates:          "percent",
		SaleFilters:       true,
		FormerStatus:      "former_customer",
		ContactStatus:     "status",
		UniqueEmail:       "off",
		Checkouts:         checkoutsHidden,
		CardNetworks:      []string{},
		WithdrawnOffers:   []int{},
		Members:           Members{},
		CallLimits:        CallLimits{SliceMs: 100},
	}
}

// verify names the first member with an invalid value. A nil catalogue has any club.
func (s Settings) verify(catalogue *Catalogue) error {
	choices := []struct {
		name, value string
		words       []string
	}{
		{"networkNodeShape", s.NetworkNodeShape, []string{"nested", "flat", "parent"}},
		{"writeType", s.WriteType, []string{"any", ldJSON}},
		{"taxRates", s.TaxRates, []string{"percent", "hundredths"}},
		{"webhooks", s.Webhooks, webhookModes},
		{"embeddedOffers", s.EmbeddedOffers, []string{embedsNone, embedsSummary, "complete"}},
		{"errorShape", s.ErrorShape, []string{"hydra", "plain"}},
		{"debtCounts", s.DebtCounts, []string{"owed", "overdue"}},
		{"migrationKeeps", s.MigrationKeeps, []string{"source", "target"}},
		{"articleAmounts", s.ArticleAmounts, []string{"price", "both", "total", "none", "wrong"}},
		{"migrationNode", s.MigrationNode, []string{migrationAbove, migrationDestination, migrationSource, migrationAny}},
		{"updateContactPath", s.UpdateContactPath, []string{"sale", "sales"}},
		{"contactStatus", s.ContactStatus, []string{"status", "state"}},
		{"checkouts", s.Checkouts, []string{checkoutsHidden, "own", checkoutsOtherAccount, checkoutsOtherCurrency}},
		{"uniqueEmail", s.UniqueEmail, []string{"off", "all", "exceptTemp"}},
	}
	for _, c := range choices {
		if !slices.Contains(c.words, c.value) {
			return fmt.Errorf("%s: %q is not one of %s", c.name, c.value, strings.Join(c.words, ", "))
		}
	}
	for _, name := range s.GrantedEndpoints {
		if !slices.ContainsFunc(operations, func(o *operation) bool { return o.isNamed(name) }) {
			known := records(operations, func(o *operation) string { return o.name + " (" + o.method + " /" + o.pattern + ")" })
			return fmt.Errorf("grantedEndpoints: unknown operation %q; known: %s", name, strings.Join(known, ", "))
		}
	}
	for _, id := range s.ClientClubs {
		if catalogue != nil && catalogue.club(id) == nil {
			return fmt.Errorf("clientClubs: unknown club %d", id)
		}
	}
	address, err := url.Parse(s.WebhookURL)
	switch {
	case s.WebhookURL != "" && (err != nil || address.Host == ""):
		return errors.New("webhookUrl: not an absolute URL")
	case s.TokenLifetime < 1 || s.WebhookDelay < 0 || s.SMSCode.Validity < 1 || s.SMSCode.Attempts < 1:
		return errors.New("tokenLifetime, smsCode.validity and smsCode.attempts must be at least 1, and webhookDelay at least 0")
	case s.ExtraProducts < 0 || s.ExtraProducts > maxExtraProducts:
		return fmt.Errorf("extraProducts: 0 to %d", maxExtraProducts)
	case max(s.TokenLifetime, s.WebhookDelay, s.SMSCode.Validity) > maxSeconds || s.CallLimits.SliceMs > maxSeconds:
		return fmt.Errorf("tokenLifetime, webhookDelay, smsCode.validity and callLimits.sliceMs: at most %d", maxSeconds)
	case s.PageSize < 1 || s.MaxPageSize < s.PageSize || s.MaxPageSize > maxPage:
		return fmt.Errorf("pageSize and maxPageSize: 1 ≤ pageSize ≤ maxPageSize ≤ %d", maxPage)
	case s.SMSCode.Fixed != "" && !codePattern.MatchString(s.SMSCode.Fixed):
		return errors.New("smsCode.fixed: six digits, or empty")
	case min(s.CallLimits.PerMinute, s.CallLimits.PerDay, s.CallLimits.PerSlice) < 0 || s.CallLimits.SliceMs < 1:
		return errors.New("callLimits: none may be negative, and sliceMs must be at least 1")
	case s.CreatedStatus != 200 && s.CreatedStatus != 201:
		return errors.New("createdStatus: 200 or 201")
	}
	return s.Members.verify()
}

// ParseSettings reads settings from YAML or JSON. What the file leaves out has its default.
func ParseSettings(file []byte) (Settings, error) {
	settings := DefaultSettings()
	members := map[string]any{}
	if err := yaml.Unmarshal(file, &members); err != nil {
		return Settings{}, err
	}
	encoded, err := json.Marshal(members)
	if err == nil {
		err = decodeStrict(encoded, &settings)
	}
	return settings, cmp.Or(err, settings.verify(nil))
}

// Settings returns the world's settings.
func (w *World) Settings() Settings {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settings.clone()
}

// clone copies the lists as well.
func (s Settings) clone() Settings {
	s.GrantedEndpoints = slices.Clone(s.GrantedEndpoints)
	s.CardNetworks = slices.Clone(s.CardNetworks)
	s.WithdrawnOffers = slices.Clone(s.WithdrawnOffers)
	s.ClientClubs = slices.Clone(s.ClientClubs)
	s.SMSCode.Accepted = slices.Clone(s.SMSCode.Accepted)
	s.Members = maps.Clone(s.Members)
	return s
}

// Configure changes settings; the world keeps the old ones when the new ones are invalid.
func (w *World) Configure(change func(*Settings)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.settings.clone()
	change(&next)
	if err := next.verify(w.catalogue); err != nil {
		return err
	}
	w.settings = next
	return nil
}

// kindNames name the kinds of values in JSON's words.
var kindNames = map[reflect.Kind]string{
	reflect.Bool:    "true or false",
	reflect.Float64: "a number",
	reflect.Int:     "a whole number",
	reflect.Map:     "an object",
	reflect.Slice:   "a list",
	reflect.String:  "a string",
	reflect.Struct:  "an object",
}

// decodeStrict decodes JSON and refuses unknown members by name.
func decodeStrict(body []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(value)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: a JSON %s instead of %s", cmp.Or(mistyped.Field, "body"), mistyped.Value,
			cmp.Or(kindNames[mistyped.Type.Kind()], mistyped.Type.String()))
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the body is empty")
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if decoder.More() {
		return errors.New("more than one JSON value")
	}
	return nil
}

// codePattern is what an SMS code looks like.
var codePattern = regexp.MustCompile(`^[0-9]{6}$`)

// ClubNumbers are club numbers; JSON may also hold their identifiers.
type ClubNumbers []int

// UnmarshalJSON reads [11, "/demo/clubs/12"].
func (n *ClubNumbers) UnmarshalJSON(raw []byte) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return errors.New("clientClubs: a list of clubs expected")
	}
	numbers := ClubNumbers{}
	for _, entry := range entries {
		number, err := clubNumber(entry)
		if err != nil {
			return err
		}
		numbers = append(numbers, number)
	}
	*n = numbers
	return nil
}

func clubNumber(raw json.RawMessage) (int, error) {
	var iri string
	if json.Unmarshal(raw, &iri) == nil {
		segments := strings.Split(iri, "/")
		if len(segments) == 4 && segments[0] == "" && IsWorld(segments[1]) && segments[2] == "clubs" {
			if number := parseID(segments[3]); number != 0 {
				return number, nil
			}
		}
		return 0, fmt.Errorf("clientClubs: %q is not the identifier of a club", iri)
	}
	var number int
	if err := json.Unmarshal(raw, &number); err != nil {
		return 0, fmt.Errorf("clientClubs: %s is not a club", raw)
	}
	return number, nil
}

// Seconds is a duration in whole seconds; JSON may also hold an ISO 8601 duration.
type Seconds int

// Duration returns the time.Duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }

// UnmarshalJSON reads 3600 or "PT1H".
func (s *Seconds) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		p, err := parsePeriod(text)
		if err != nil {
			return err
		}
		*s = Seconds(p.approximate() / time.Second)
		return nil
	}
	var n int
	if err := json.Unmarshal(raw, &n); err != nil {
		return errors.New("seconds or an ISO 8601 duration expected")
	}
	*s = Seconds(n)
	return nil
}
