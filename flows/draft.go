package flows

import (
	"reflect"
	"time"

	"frontdesk/upstream/club"
)

const (
	// SendWithin is how long after its mark was stored a write may leave. A gateway that was suspended longer sends
	// nothing.
	SendWithin = 10 * time.Second
	// ArriveWithin is how long after its mark was stored an article may still arrive at the club system: SendWithin,
	// the 15 s for which the client waits, and 35 s in the queues of proxies and of the application. By default, PHP
	// ends a request after 30 s and proxies give up after 60 s.
	ArriveWithin = time.Minute
	// writerEndsWithin is how long a gateway works on an article: SendWithin, a write and a read with their limits.
	writerEndsWithin = 35 * time.Second
	// writeInProgressPause is the pause before a caller asks again for an article that another request is adding.
	writeInProgressPause = 2 * time.Second
)

// Write is the mark of an article on its way to a sale. It is stored before the article is sent, and removed once its
// outcome is known. A sale with a mark is neither paid nor gets another article.
type Write struct {
	Item  Item      `json:"item"`
	Until time.Time `json:"until"`           // afterwards it cannot arrive any more
	Ended bool      `json:"ended,omitempty"` // the request that sent it has ended without knowing its outcome
}

// Pending returns how long a caller must wait before the outcome of an article can be looked up. Zero: look now.
func (w *Write) Pending(now time.Time) time.Duration {
	if w.Ended || now.After(w.Until.Add(writerEndsWithin-ArriveWithin)) {
		return 0
	}
	return writeInProgressPause
}

// Left returns how long an article that has not arrived may still arrive.
func (w *Write) Left(now time.Time) time.Duration { return max(0, w.Until.Sub(now)) }

// Draft is what an unfinished request has made at the club system: the registration's next contact and its next
// sale. A repetition continues there. Neither is the registration's own before the request succeeds.
type Draft struct {
	Person    string    `json:"person,omitempty"`  // keyed hash of the contact's details; empty: the registration keeps its contact
	Contact   *Contact  `json:"contact,omitempty"` // nil: it may exist, and its identifier is not known
	Since     time.Time `json:"since,omitzero"`    // when its creation was requested
	Sale      club.IRI  `json:"sale,omitempty"`
	SaleState string    `json:"saleState,omitempty"`
	Buyer     club.IRI  `json:"buyer,omitempty"` // of the sale
	OpenedAt  time.Time `json:"openedAt,omitzero"`
	Items     []Item    `json:"items,omitempty"` // in the sale
	Write     *Write    `json:"write,omitempty"` // an article on its way to the sale
}

// draftLife is how long after its beginning a sale is continued: a visitor repeats a failed request soon, and the sale
// is payable from its beginning.
const draftLife = time.Hour

// Begins reports whether the sale of a draft can become one of a buyer's items: it has none but the first of them.
func (d *Draft) Begins(buyer club.IRI, items []NewItem, now time.Time) bool {
	if d.Sale == "" || d.Buyer != buyer || len(d.Items) > len(items) || now.Sub(d.OpenedAt) > draftLife {
		return false
	}
	for i, have := range d.Items {
		if !have.Requests(items[i]) {
			return false
		}
	}
	return true
}

// Requests reports whether two requests are for the same item, which may have no id yet.
func (i NewItem) Requests(other NewItem) bool {
	i.ID, other.ID = "", ""
	return reflect.DeepEqual(i, other)
}

// MoreOf counts how many articles of an offer a sale has beyond the items.
func MoreOf(offer club.IRI, sale club.Sale, items []Item) (more int) {
	for _, article := range sale.Articles {
		if article.Offer == offer && article.Parent == "" {
			more++
		}
	}
	for _, item := range items {
		if item.Offer == offer {
			more--
		}
	}
	return more
}
