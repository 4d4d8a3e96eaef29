// Package flows is the domain of Frontdesk: a registration with its cart, mandate and
// signature, a payment with its states and transitions, what operators decide, and the
// errors. Its rules are pure: records and the clock go in, decisions come out.
//
// It does not know HTTP, Redis, or the calls of other systems. The packages below it have the
// services that do; they import flows, and flows imports none of them but keyring.
// Start reading at Registration for the journey, at PaymentState for the money, and at package
// payment for the machine that moves it.
package flows
