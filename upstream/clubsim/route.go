package clubsim

import (
	"net/http"
	"slices"
	"strings"
)

// operation is one thing that can be called. Its name stands in the journal and
// in the granted endpoints of production mode.
type operation struct {
	name     string
	method   string
	pattern  string // below the client token; {id} stands for a number
	unscoped bool   // can be called without the club and node headers
	handle   func(*call) (reply, error)
}

// endpoint names the operation by method and path, such as "GET /contacts/{id}".
func (o *operation) endpoint() string { return o.method + " /" + o.pattern }

func (o *operation) nameOrEmpty() string {
	if o == nil {
		return ""
	}
	return o.name
}

// operations lists everything that the club system offers; it is never changed.
var operations = []*operation{
	{name: "listNetworkNodes", method: "GET", pattern: "network_nodes", unscoped: true, handle: listNetworkNodes},
	{name: "getNetworkNode", method: "GET", pattern: "network_nodes/{id}", unscoped: true, handle: getNetworkNode},
	{name: "listClubs", method: "GET", pattern: "clubs", handle: listClubs},
	{name: "getClub", method: "GET", pattern: "clubs/{id}", handle: getClub},

	{name: "createContact", method: "POST", pattern: "contacts", handle: createContact},
	{name: "getContact", method: "GET", pattern: "contacts/{id}", handle: getContact},
	{name: "updateContact", method: "PUT", pattern: "contacts/{id}", handle: updateContact},
	{name: "getAccountStatistics", method: "GET", pattern: "stats/accounts/contacts/{id}", handle: getAccountStatistics},
	{name: "migrateContact", method: "PUT", pattern: "contacts/{id}/migrate", handle: migrateContact},
	{name: "createContactMigrationRequest", method: "POST", pattern: "contact_migration_requests", handle: createContactMigrationRequest},

	{name: "listProducts", method: "GET", pattern: "products", handle: listProducts},
	{name: "listOffers", method: "GET", pattern: "offers", handle: listOffers},
	{name: "listAllowedDebitDays", method: "GET", pattern: "allowed_debit_days", handle: listAllowedDebitDays},

	{name: "createSale", method: "POST", pattern: "sales", handle: createSale},
	{name: "getSale", method: "GET", pattern: "sales/{id}", handle: getSale},
	{name: "updateSale", method: "PUT", pattern: "sales/{id}", handle: updateSale},
	{name: "updateSaleContact", method: "PUT", pattern: "sale/{id}/update_contact", handle: updateSaleContact},
	{name: "addArticle", method: "POST", pattern: "sales/{id}/articles", handle: addArticle},
	{name: "listArticles", method: "GET", pattern: "sales/{id}/articles", handle: listArticles},
	{name: "checkSale", method: "GET", pattern: "sales/{id}/check", handle: checkSale},
	{name: "createPayment", method: "POST", pattern: "sales/{id}/payments", handle: createPayment},
	{name: "postponeDue", method: "POST", pattern: "sales/{id}/postpone_due", handle: postponeDue},
	{name: "transitionSale", method: "POST", pattern: "sales/{id}/transitions", handle: transitionSale},

	{name: "createMandate", method: "POST", pattern: "mandates", handle: createMandate},
	{name: "createSignatureRequest", method: "POST", pattern: "signature_requests", handle: createSignatureRequest},
	{name: "transitionSignatureRequest", method: "POST", pattern: "signature_requests/{id}/transitions", handle: transitionSignatureRequest},

	{name: "listOptins", method: "GET", pattern: "optins", handle: listOptins},
	{name: "updateOptin", method: "PUT", pattern: "optins/{id}", handle: updateOptin},
	{name: "listAttendees", method: "GET", pattern: "attendees", handle: listAttendees},
	{name: "listClassEvents", method: "GET", pattern: "class_events", handle: listClassEvents},
}

// match finds the operation of a path below the client token, and the numbers
// in it. Without one it tells which methods the path knows.
func match(method string, path []string) (op *operation, ids []int, allowed []string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, candidate := range operations {
		numbers, fits := candidate.fits(path)
		switch {
		case !fits:
		case candidate.method == method:
			return candidate, numbers, nil
		default:
			allowed = append(allowed, candidate.method)
		}
	}
	slices.Sort(allowed)
	return nil, nil, allowed
}

func (o *operation) fits(path []string) (ids []int, fits bool) {
	pattern := strings.Split(o.pattern, "/")
	if len(pattern) != len(path) {
		return nil, false
	}
	for i, segment := range pattern {
		if segment != "{id}" {
			if segment != path[i] {
				return nil, false
			}
			continue
		}
		id, valid := parseID(path[i])
		if !valid {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

// operationNamed finds an operation by its name or its endpoint; nil when there is none.
func operationNamed(name string) *operation {
	for _, o := range operations {
		if o.name == name || o.endpoint() == name {
			return o
		}
	}
	return nil
}
