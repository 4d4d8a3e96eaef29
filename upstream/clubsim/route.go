package clubsim

import (
	"net/http"
	"slices"
	"strings"
)

// operation is an operation of the club system API. Its name appears in the journal and
// in the granted endpoints of production mode.
type operation struct {
	name     string
	method   string
	pattern  string // below the client token; {id} matches a number
	unscoped bool   // can be called without the club and node headers
	// absent reports whether an installation with these settings does not have the operation; nil: all have it.
	absent func(Settings) bool
	handle func(*request) (response, error)
}

// operations lists everything that the club system offers; it is never changed.
var operations = []*operation{
	{name: "listNetworkNodes", method: "GET", pattern: "network_nodes", unscoped: true, handle: listNetworkNodes},
	{
		name:     "getNetworkNode",
		method:   "GET",
		pattern:  "network_nodes/{id}",
		unscoped: true,
		handle:   getItem((*request).nodeAt, (*World).networkNodeRecord),
	},
	{name: "listClubs", method: "GET", pattern: "clubs", handle: listClubs},
	{name: "getClub", method: "GET", pattern: "clubs/{id}", handle: getItem((*request).clubAt, (*World).clubRecord)},
	{
		name:    "identifySaleTerms",
		method:  "GET",
		pattern: "identify_sale_terms",
		absent:  Settings.lacksSaleTerms,
		handle:  identifySaleTerms,
	},
	{
		name:    "getSaleTerms",
		method:  "GET",
		pattern: "sale_terms/{id}",
		absent:  Settings.lacksSaleTerms,
		handle:  getItem((*request).clubAt, (*World).saleTermsRecord),
	},
	{name: "listCheckouts", method: "GET", pattern: "checkouts", absent: Settings.hidesCheckouts, handle: listCheckouts},
	{
		name:    "getCheckout",
		method:  "GET",
		pattern: "checkouts/{id}",
		absent:  Settings.hidesCheckouts,
		handle:  getItem((*request).checkoutAt, (*World).checkoutRecord),
	},
	{name: "createPayableObject", method: "POST", pattern: "payable_objects", absent: Settings.hidesCheckouts, handle: createPayableObject},
	{
		name:    "getPayableObject",
		method:  "GET",
		pattern: "payable_objects/{id}",
		absent:  Settings.hidesCheckouts,
		handle:  getItem((*request).payableAt, (*World).payableRecord),
	},
	{
		name:    "checkPayableObject",
		method:  "PUT",
		pattern: "payable_objects/{id}/check",
		absent:  Settings.hidesCheckouts,
		handle:  getItem((*request).payableAt, (*World).payableRecord),
	},

	{name: "listContacts", method: "GET", pattern: "contacts", handle: listContacts},
	{name: "createContact", method: "POST", pattern: "contacts", handle: createContact},
	{name: "getContact", method: "GET", pattern: "contacts/{id}", handle: getItem((*request).contactAt, (*World).contactRecord)},
	{name: "updateContact", method: "PUT", pattern: "contacts/{id}", handle: on((*request).contactAt, updateContact)},
	{
		name:    "getAccountStatistics",
		method:  "GET",
		pattern: "stats/accounts/contacts/{id}",
		handle:  on((*request).contactAt, getAccountStatistics),
	},
	{name: "migrateContact", method: "PUT", pattern: "contacts/{id}/migrate", handle: migrateContact},
	{
		name:    "anonymizeContact",
		method:  "PUT",
		pattern: "contacts/{id}/anonymize",
		handle:  on((*request).contactAt, anonymizeContact),
	},
	{name: "listContactTags", method: "GET", pattern: "contact_tags", handle: listContactTags},
	{name: "getContactTag", method: "GET", pattern: "contact_tags/{id}", handle: getItem((*request).tagAt, (*World).tagRecord)},
	{name: "listCountries", method: "GET", pattern: "countries", handle: listCountries},
	{name: "listSources", method: "GET", pattern: "referentials/sources", handle: listSources},
	{name: "createSource", method: "POST", pattern: "referentials/sources", handle: createSource},
	{
		name:    "listCancellationMotives",
		method:  "GET",
		pattern: "referentials/cancellation_motives",
		absent:  Settings.lacksCancellation,
		handle:  listCancellationMotives,
	},
	{
		name:    "getSubscriptionSummary",
		method:  "GET",
		pattern: "subscription_summary",
		absent:  Settings.lacksCancellation,
		handle:  getSubscriptionSummary,
	},
	{
		name:    "cancelSubscription",
		method:  "POST",
		pattern: "subscriptions/{id}/online_cancellation",
		absent:  Settings.lacksCancellation,
		handle:  on((*request).subscriptionAt, cancelSubscription),
	},
	{name: "getSource", method: "GET", pattern: "referentials/sources/{id}", handle: getItem((*request).sourceAt, (*World).sourceRecord)},
	{name: "createContactMigrationRequest", method: "POST", pattern: "contact_migration_requests", handle: createContactMigrationRequest},

	{name: "listProducts", method: "GET", pattern: "products", handle: listProducts},
	{name: "getProduct", method: "GET", pattern: "products/{id}", handle: on((*request).productAt, getProduct)},
	{name: "listOffers", method: "GET", pattern: "offers", handle: listOffers},
	{name: "getOffer", method: "GET", pattern: "offers/{id}", handle: getItem((*request).offerAt, (*World).offerRecord)},
	{name: "listAllowedDebitDays", method: "GET", pattern: "allowed_debit_days", handle: listAllowedDebitDays},

	{name: "listSales", method: "GET", pattern: "sales", handle: listSales},
	{name: "createSale", method: "POST", pattern: "sales", handle: createSale},
	{name: "getSale", method: "GET", pattern: "sales/{id}", handle: getItem((*request).saleAt, (*World).saleRecord)},
	{name: "updateSale", method: "PUT", pattern: "sales/{id}", handle: on((*request).openSaleAt, updateSale)},
	{
		name:    "updateSaleContact",
		method:  "PUT",
		pattern: "sale/{id}/update_contact",
		absent:  func(s Settings) bool { return s.UpdateContactPath != "sale" },
		handle:  on((*request).openSaleAt, updateSaleContact),
	},
	{
		name:    "updateSaleContact",
		method:  "PUT",
		pattern: "sales/{id}/update_contact",
		absent:  func(s Settings) bool { return s.UpdateContactPath != "sales" },
		handle:  on((*request).openSaleAt, updateSaleContact),
	},
	{name: "addArticle", method: "POST", pattern: "sales/{id}/articles", handle: on((*request).openSaleAt, addArticle)},
	{name: "listArticles", method: "GET", pattern: "sales/{id}/articles", handle: on((*request).saleAt, listArticles)},
	{name: "findArticles", method: "GET", pattern: "articles", handle: findArticles},
	{name: "getArticle", method: "GET", pattern: "articles/{id}", handle: getItem((*request).articleAt, (*World).articleRecord)},
	{name: "removeArticle", method: "DELETE", pattern: "articles/{id}", handle: on((*request).articleAt, removeArticle)},
	{name: "checkSale", method: "GET", pattern: "sales/{id}/check", handle: on((*request).saleAt, checkSale)},
	{name: "createPayment", method: "POST", pattern: "sales/{id}/payments", handle: on((*request).saleAt, createPayment)},
	{
		name:    "acceptSaleTerms",
		method:  "POST",
		pattern: "sales/{id}/accept_gtcs",
		absent:  Settings.lacksSaleTerms,
		handle:  on((*request).saleAt, acceptSaleTerms),
	},
	{
		name:    "getContract",
		method:  "GET",
		pattern: "sales/{id}/contract",
		absent:  Settings.lacksContracts,
		handle:  on((*request).contractAt, getContract),
	},
	{
		name:    "sendContract",
		method:  "POST",
		pattern: "sales/{id}/send-contract",
		absent:  Settings.lacksContracts,
		handle:  on((*request).contractAt, sendContract),
	},
	{
		name:    "listSaleDocuments",
		method:  "GET",
		pattern: "sales/{id}/sale_documents",
		absent:  Settings.lacksContracts,
		handle:  on((*request).saleAt, listSaleDocuments),
	},
	{name: "postponeDue", method: "POST", pattern: "sales/{id}/postpone_due", handle: on((*request).openSaleAt, postponeDue)},
	{name: "transitionSale", method: "POST", pattern: "sales/{id}/transitions", handle: on((*request).openSaleAt, transitionSale)},

	{name: "createMandate", method: "POST", pattern: "mandates", handle: createMandate},
	{name: "getMandate", method: "GET", pattern: "mandates/{id}", handle: getItem((*request).mandateAt, (*World).mandateRecord)},
	{name: "createSignatureRequest", method: "POST", pattern: "signature_requests", handle: createSignatureRequest},
	{
		name:    "getSignatureRequest",
		method:  "GET",
		pattern: "signature_requests/{id}",
		handle:  getItem((*request).signatureAt, (*World).signatureRecord),
	},
	{
		name:    "transitionSignatureRequest",
		method:  "POST",
		pattern: "signature_requests/{id}/transitions",
		handle:  on((*request).signatureAt, transitionSignatureRequest),
	},

	{name: "listOptins", method: "GET", pattern: "optins", handle: listOptins},
	{name: "getOptin", method: "GET", pattern: "optins/{id}", handle: getItem((*request).optinAt, (*World).optinRecord)},
	{name: "updateOptin", method: "PUT", pattern: "optins/{id}", handle: on((*request).optinAt, updateOptin)},
	{name: "listAttendees", method: "GET", pattern: "attendees", handle: listAttendees},
	{name: "getAttendee", method: "GET", pattern: "attendees/{id}", handle: getItem((*request).attendeeAt, (*World).attendeeRecord)},
	{name: "listClassEvents", method: "GET", pattern: "class_events", handle: listClassEvents},
	{name: "getClassEvent", method: "GET", pattern: "class_events/{id}", handle: on((*request).classEventAt, getClassEvent)},
	{name: "listEvents", method: "GET", pattern: "events", handle: listEvents},
	{name: "listActivities", method: "GET", pattern: "activities", handle: listActivities},
	{name: "getActivity", method: "GET", pattern: "activities/{id}", handle: getItem((*request).activityAt, (*World).activityRecord)},
	{name: "listCoaches", method: "GET", pattern: "coaches", handle: listCoaches},
	{name: "getCoach", method: "GET", pattern: "coaches/{id}", handle: getItem((*request).activityAt, (*World).coachRecord)},
	{name: "listStudios", method: "GET", pattern: "studios", handle: listStudios},
	{name: "getStudio", method: "GET", pattern: "studios/{id}", handle: getItem((*request).studioAt, (*World).studioRecord)},
}

// Endpoints lists the operations by method and path, such as "GET contacts/{id}". Settings.GrantedEndpoints accepts them.
func Endpoints() []string {
	return records(operations, func(o *operation) string { return o.method + " " + o.pattern })
}

// on returns the handler of an operation on one record: find returns what the request may
// see under the number in the path.
func on[T any](find func(*request, int) (T, error), handle func(*request, T) (response, error)) func(*request) (response, error) {
	return func(c *request) (response, error) {
		found, err := find(c, c.ids[0])
		if err != nil {
			return response{}, err
		}
		return handle(c, found)
	}
}

// getItem returns the handler that responds with one record.
func getItem[T, R any](find func(*request, int) (T, error), record func(*World, T) R) func(*request) (response, error) {
	return on(find, func(c *request, found T) (response, error) { return ok(record(c.w, found)) })
}

// match finds the operation of a path below the client token, and the numbers in the path.
// Without one, it returns a nameless operation that refuses the request.
func match(method string, path []string) (op *operation, ids []int) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var allowed []string
	for _, candidate := range operations {
		numbers, fits := candidate.fits(path)
		switch {
		case !fits:
		case candidate.method == method:
			return candidate, numbers
		default:
			allowed = append(allowed, candidate.method)
		}
	}
	refusal := itemNotFound()
	if len(allowed) > 0 {
		slices.Sort(allowed)
		refusal = methodNotAllowed(allowed...)
	}
	return &operation{handle: func(*request) (response, error) { return response{}, refusal }}, nil
}

func (o *operation) fits(path []string) (ids []int, fits bool) {
	pattern, more := o.pattern, true
	for _, segment := range path {
		if !more {
			return nil, false
		}
		var wanted string
		wanted, pattern, more = strings.Cut(pattern, "/")
		if wanted != "{id}" {
			if wanted != segment {
				return nil, false
			}
			continue
		}
		id := parseID(segment)
		if id == 0 {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, !more
}

// isNamed reports whether a name is the operation's, or its method and path in any usual
// form: any parameter name in braces, or * for a segment, with or without the client
// token in front.
func (o *operation) isNamed(name string) bool {
	method, path, _ := strings.Cut(name, " ")
	if o.name == name || o.method != strings.ToUpper(method) {
		return o.name == name
	}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	if first := segments[0]; first == "{client_token}" || first == "{clientToken}" {
		segments = segments[1:]
	}
	for i, segment := range segments {
		if segment == "*" || strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
			segments[i] = "{id}"
		}
	}
	return strings.Join(segments, "/") == o.pattern
}
