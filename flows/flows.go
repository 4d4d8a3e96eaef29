// Package flows holds the journeys: how a visitor's wish becomes calls to the
// club system and to the card processor, and what is remembered in between.
//
// It knows nothing of HTTP requests (that is handlers) and nothing of Redis
// commands (that is the child package store, which implements Store). The club
// system's client is used as it is, without an interface: its double speaks
// HTTP as well. Store is an interface although one implementation ships, for a
// child may import its parent and never the reverse.
//
// Start reading at Registrations for the journey, and at Payments.Advance for
// the money: a payment moves by that one function, whoever calls it.
package flows
