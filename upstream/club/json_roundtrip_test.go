package club_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"frontdesk/upstream/club"
)

// TestRemembered: a catalogue and a chain stay the same when they are encoded and decoded.
func TestRemembered(t *testing.T) {
	w := newWorld(t, "remembered")
	products := must[[]club.Product](t)(w.client.ListProducts(t.Context(), w.bastille, club.ProductQuery{Club: w.bastille.Club}))
	offers := must[[]club.Offer](t)(w.client.ListOffers(t.Context(), w.bastille, ""))
	network := must[*club.Network](t)(w.client.NetworkNodes(t.Context(), club.Scope{ClientToken: w.ClientToken()}))
	if len(products) < 30 || len(offers) < 30 || len(network.Clubs()) < 3 {
		t.Fatalf("%d products, %d offers, %d clubs", len(products), len(offers), len(network.Clubs()))
	}
	again(t, products)
	again(t, offers)
	again(t, network)
}

// again encodes a value and decodes it.
func again[T any](t *testing.T, value T) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var read T
	if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(value, read) {
		t.Errorf("it was %+v\nand became %+v (%v)", value, read, err)
	}
}
