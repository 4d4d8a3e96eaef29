package flows

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"frontdesk/upstream/club"
)

// Mandate is the direct debit mandate of a registration. The account number is
// the club system's alone: what is kept of it here is masked.
type Mandate struct {
	Signature
	IRI       club.IRI `json:"iri"`
	Contact   club.IRI `json:"contact"` // whose it is: another contact needs another one
	Masked    string   `json:"iban"`
	ValidFrom string   `json:"validFrom"` // YYYY-MM-DD
}

// NewMandate asks for a mandate. Everything but Holder and IBAN may be left out.
type NewMandate struct {
	Holder    string // of the account, who need not be the member
	IBAN      string // as it was typed
	BIC       string
	Bank      string   // its name
	Address   *Address // nil: the member's
	ValidFrom string   // YYYY-MM-DD; empty: today
}

// Address is a postal address.
type Address struct {
	Street, PostalCode, City string
	Country                  string // ISO 3166-1 alpha-2
}

const (
	// notProvided is what SEPA's own messages say where the bank is not named. The
	// club system's description shows a BIC and a bank in every mandate.
	notProvided = "NOTPROVIDED"
	// mandateLooks is how often somebody who waits may cause a look at a mandate
	// whose signature is not confirmed.
	mandateLooks = 2 * time.Second
	// saveTries: a change that another one overtook is made again; more than a few
	// in a row is somebody hammering.
	saveTries = 4
)

// CreateMandate makes the mandate and has the code sent with which it is
// signed. It takes the place of the one that there may be. The answer tells in
// the mandate's state whether a code was sent; an error means that there is no
// new mandate, or that no code can ever reach the contact.
func (f *Registrations) CreateMandate(ctx context.Context, id, token string, in NewMandate) (View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	if err != nil {
		return View{}, err
	}
	iban, err := f.acceptMandate(r, &in)
	if err != nil {
		return View{}, err
	}
	contact, err := f.cfg.Club.GetContact(ctx, at.Scope, r.Contact.IRI)
	if err != nil {
		return View{}, clubFailed(err, "The contact could not be read.")
	}
	allowed, err := f.codes().allow(ctx, r.smsSubjects()...)
	if err != nil {
		return View{}, err
	}
	made, err := f.cfg.Club.CreateMandate(ctx, at.Scope, wireMandate(at, contact, in, iban))
	if err != nil {
		f.codes().giveBack(ctx, allowed)
		return View{}, mandateRejected(err)
	}
	next := &Mandate{IRI: made.IRI, Contact: contact.IRI, Masked: iban.Masked(), ValidFrom: in.ValidFrom}
	if r.Mandate != nil {
		f.codes().drop(ctx, at.Scope, r.Mandate.Signature)
		next.Round = r.Mandate.Round
	}
	r.Mandate = next
	return f.sendCode(ctx, r, p, at, allowed)
}

// sendCode stores that a code is asked for, asks for it, and stores what came of it.
func (f *Registrations) sendCode(ctx context.Context, r *Registration, p *Payment, at Club, allowed allowance) (View, error) {
	r.Mandate.begin(allowed)
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		f.codes().giveBack(ctx, allowed)
		return View{}, storageFailed(err)
	}
	signature := r.Mandate.Signature
	told := f.codes().send(ctx, &signature, allowed, func(ctx context.Context) (club.SignatureRequest, error) {
		return f.cfg.Club.CreateSignatureRequest(ctx, at.Scope, r.Mandate.Contact, r.Mandate.IRI)
	})
	r, err := f.keepSignature(ctx, r, signature)
	if err != nil {
		return View{}, err
	}
	return f.view(r, p), told
}

// SignMandate enters the code from the SMS. The attempt is counted before the
// club system is asked, so that no crash and no race makes room for guessing.
func (f *Registrations) SignMandate(ctx context.Context, id, token, code string) (View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	switch {
	case err != nil:
		return View{}, err
	case r.Mandate == nil:
		return View{}, Signature{}.noCode()
	case r.Mandate.State == SignatureSigned:
		return f.view(r, p), nil
	case !r.Mandate.takesCode() || r.Mandate.AttemptsLeft() == 0:
		return View{}, r.Mandate.noCode()
	}
	r.Mandate.Checks++
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return View{}, storageFailed(err)
	}
	signature := r.Mandate.Signature
	told := f.codes().check(ctx, at.Scope, &signature, code, func(ctx context.Context) (bool, error) { return f.mandateSigned(ctx, r, at) })
	r, err = f.settleSignature(ctx, r, at, signature)
	if err != nil {
		return View{}, err
	}
	return f.view(r, p), told
}

// mandateSigned looks the mandate up at the club system.
func (f *Registrations) mandateSigned(ctx context.Context, r *Registration, at Club) (bool, error) {
	mandate, err := f.cfg.Club.GetMandate(ctx, at.Scope, r.Mandate.IRI)
	return err == nil && mandate.Signed(), err
}

// settleSignature stores how a signature stands, with the cart as it is then.
func (f *Registrations) settleSignature(ctx context.Context, r *Registration, at Club, signature Signature) (*Registration, error) {
	r, err := f.keepSignature(ctx, r, signature)
	if err != nil || signature.State != SignatureSigned || r.Sale == "" {
		return r, err
	}
	seen := *r
	if err := f.readCart(ctx, r, at); err != nil {
		f.cfg.Log.Warn("cart not read after the signature", "error", err)
		return &seen, nil
	}
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		f.cfg.Log.Warn("cart not saved after the signature", "error", err)
		return &seen, nil // the signature is stored, and the cart is read again before it is paid
	}
	return r, nil
}

// keepSignature stores how the signature of a registration's mandate stands.
// Whoever changed the registration meanwhile changed something else, so it is
// noted in theirs; Conflict when they have another mandate, or another code.
func (f *Registrations) keepSignature(ctx context.Context, r *Registration, signature Signature) (*Registration, error) {
	mandate := r.Mandate.IRI
	for range saveTries {
		r.Mandate.Signature = signature
		if signature.State == SignatureSigned {
			r.Cart.mandateSigned()
		}
		err := f.cfg.Store.SaveRegistration(ctx, r)
		if !errors.Is(err, ErrConflict) {
			return r, storageFailed(err)
		}
		if r, _, err = f.cfg.Store.Registration(ctx, r.ID); err != nil {
			return r, storageFailed(err)
		}
		if r.Mandate == nil || r.Mandate.IRI != mandate || r.Mandate.Round != signature.Round {
			break
		}
		if theirs := r.Mandate.Signature; theirs.ended() && signature.State != SignatureSigned {
			return r, nil
		}
		signature.Checks = max(signature.Checks, r.Mandate.Checks)
	}
	return r, storageFailed(ErrConflict)
}

// CancelSignature gives the signature up: the code signs nothing any more. A
// mandate that is signed stays signed.
func (f *Registrations) CancelSignature(ctx context.Context, id, token string) (View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	switch {
	case err != nil:
		return View{}, err
	case r.Mandate == nil:
		return View{}, Signature{}.noCode()
	case r.Mandate.State == SignatureCancelled:
		return f.view(r, p), nil
	}
	if r.Mandate.State == SignatureUnconfirmed {
		r = f.lookAtMandate(ctx, r, at)
	}
	if r.Mandate.State == SignatureSigned {
		return View{}, &Error{Code: MandateSigned, Detail: "The mandate is signed already. Please ask the club to revoke it."}
	}
	f.codes().drop(ctx, at.Scope, r.Mandate.Signature)
	signature := r.Mandate.Signature
	signature.State, signature.Request = SignatureCancelled, ""
	if r, err = f.keepSignature(ctx, r, signature); err != nil {
		return View{}, err
	}
	return f.view(r, p), nil
}

// ResendCode has another code sent for the mandate; the one before is cancelled.
func (f *Registrations) ResendCode(ctx context.Context, id, token string) (View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	if err != nil {
		return View{}, err
	}
	if r.Mandate == nil {
		return View{}, Signature{}.noCode()
	}
	if r.Mandate.State == SignatureUnconfirmed {
		r = f.lookAtMandate(ctx, r, at)
	}
	switch now := f.cfg.Now(); {
	case r.Mandate.State == SignatureSigned:
		return f.view(r, p), nil
	case !r.Mandate.Resendable():
		return View{}, &Error{Code: NoCode, Detail: "The signature was cancelled. Please give the bank account again."}
	case now.Before(r.Mandate.ResendAfter):
		return View{}, &Error{Code: SMSLimited, RetryAfter: r.Mandate.ResendAfter.Sub(now), Detail: "The last code was sent a moment ago."}
	}
	allowed, err := f.codes().allow(ctx, r.smsSubjects()...)
	if err != nil {
		return View{}, err
	}
	f.codes().drop(ctx, at.Scope, r.Mandate.Signature)
	return f.sendCode(ctx, r, p, at, allowed)
}

// lookAtMandate finds out whether a signature whose answer was lost is there.
func (f *Registrations) lookAtMandate(ctx context.Context, r *Registration, at Club) *Registration {
	signed, err := f.mandateSigned(ctx, r, at)
	if err != nil {
		return r
	}
	signature := r.Mandate.Signature
	signature.State = SignatureAwaiting
	switch {
	case signed:
		signature.State = SignatureSigned
	case signature.Checks >= maxChecks:
		signature.State = SignatureBlocked
	}
	settled, err := f.settleSignature(ctx, r, at, signature)
	if err != nil {
		return r
	}
	return settled
}

// confirmMandate looks, for a visitor who waits, whether an unconfirmed
// signature is there. Their answer does not depend on it.
func (f *Registrations) confirmMandate(ctx context.Context, r *Registration) *Registration {
	first, err := f.cfg.Store.Once(ctx, "mandate:"+r.ID, mandateLooks)
	if err != nil || !first {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, nudgeTime)
	defer cancel()
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return r
	}
	return f.lookAtMandate(ctx, r, at)
}

// dropMandate forgets the mandate of a contact who is not the buyer any more.
func (f *Registrations) dropMandate(ctx context.Context, r *Registration, at Club) {
	if r.Mandate != nil {
		f.codes().drop(ctx, at.Scope, r.Mandate.Signature)
		r.Mandate = nil
	}
}

func (f *Registrations) codes() codes {
	return codes{store: f.cfg.Store, club: f.cfg.Club, now: f.cfg.Now, log: f.cfg.Log}
}

// smsSubjects are whose codes are counted: the contact's, and the
// registration's, whose holder can make any number of contacts.
func (r *Registration) smsSubjects() []string {
	return []string{string(r.Contact.IRI), "registration " + r.ID}
}

// acceptMandate says everything that is wrong with the wish for a mandate, and
// fills in what was left out.
func (f *Registrations) acceptMandate(r *Registration, in *NewMandate) (IBAN, error) {
	failure := &Error{Code: InvalidRequest}
	wrong := func(pointer, message string) {
		failure.Fields = append(failure.Fields, FieldProblem{pointer, message})
	}
	iban, problem := ParseIBAN(in.IBAN)
	if problem != "" {
		wrong("/iban", problem)
	}
	in.BIC = strings.ToUpper(strings.ReplaceAll(in.BIC, " ", ""))
	if in.BIC != "" && !bicForm.MatchString(in.BIC) {
		wrong("/bic", "A BIC has 8 or 11 characters, such as BNPAFRPP.")
	}
	now := f.cfg.Now().UTC()
	switch {
	case in.ValidFrom == "":
		in.ValidFrom = now.Format(time.DateOnly)
	case in.ValidFrom < now.AddDate(0, 0, -1).Format(time.DateOnly): // it may still be yesterday where the visitor is
		wrong("/validFrom", "The mandate cannot begin in the past.")
	case r.firstDebit() != "" && in.ValidFrom > r.firstDebit():
		wrong("/validFrom", "The mandate has to be valid on the day of the first debit, "+r.firstDebit()+".")
	}
	switch {
	case len(failure.Fields) > 0:
		return iban, failure
	case r.Contact == nil:
		return iban, &Error{Code: PersonRequired, Detail: "The buyer's details come before the mandate."}
	case !r.asksForMandate():
		return iban, &Error{Code: MandateNotNeeded, Detail: "Nothing in the cart is paid by direct debit."}
	case !r.needsMandate():
		return iban, &Error{Code: MandateSigned, Detail: "The mandate is signed already."}
	}
	return iban, nil
}

func wireMandate(at Club, contact club.Contact, in NewMandate, iban IBAN) club.NewMandate {
	out := club.NewMandate{
		Club: at.IRI, Contact: contact.IRI, FamilyName: contact.FamilyName, GivenName: contact.GivenName, Number: contact.Number,
		Holder: in.Holder, IBAN: iban.number, BIC: cmp.Or(in.BIC, notProvided), Bank: cmp.Or(in.Bank, notProvided), ValidFrom: in.ValidFrom,
	}
	switch {
	case in.Address != nil:
		out.Address = club.Address{Street: in.Address.Street, PostalCode: in.Address.PostalCode, Locality: in.Address.City, Country: strings.ToUpper(in.Address.Country)}
	case contact.Address != nil:
		out.Address = *contact.Address
	}
	return out
}

// mandateFields says where a field of the club system's mandate stands in ours.
var mandateFields = map[string]string{
	"iban": "/iban", "bic": "/bic", "bank": "/bank", "holder": "/holder", "validFrom": "/validFrom",
	"contactAddress.streetAddress": "/address/street", "contactAddress.postalCode": "/address/postalCode",
	"contactAddress.addressLocality": "/address/city", "contactAddress.addressCountry": "/address/country",
}

// mandateRejected points at the fields that the club system, or the bank behind
// it, does not take.
func mandateRejected(err error) error {
	var upstream *club.Error
	if !errors.As(err, &upstream) || upstream.Outcome != club.Rejected {
		return clubFailed(err, "The mandate could not be made.")
	}
	failure := &Error{Code: InvalidRequest, Err: err}
	for _, v := range upstream.Violations {
		pointer := mandateFields[v.Field]
		switch {
		case pointer == "":
		case pointer == "/iban":
			failure.Fields = append(failure.Fields, FieldProblem{pointer, "The bank does not accept this account. Please use another one."})
		default:
			failure.Fields = append(failure.Fields, FieldProblem{pointer, "The club system does not accept this value."})
		}
	}
	if len(failure.Fields) == 0 {
		return clubFailed(err, "The mandate could not be made.")
	}
	return failure
}

// asksForMandate tells whether anything in the cart is paid by direct debit.
func (r *Registration) asksForMandate() bool {
	for _, item := range r.Items {
		if item.Mandate {
			return true
		}
	}
	return false
}

// needsMandate tells whether a mandate has to be signed before the cart can be
// paid. One that is signed goes on to count when the items change, as long as
// it is the buyer's and valid when the first debit falls.
func (r *Registration) needsMandate() bool {
	if !r.asksForMandate() {
		return false
	}
	m, first := r.Mandate, r.firstDebit()
	return m == nil || m.State != SignatureSigned || r.Contact == nil || m.Contact != r.Contact.IRI || first != "" && first < m.ValidFrom
}

// firstDebit is the earliest day on which something in the cart may be
// debited; empty when nothing says.
func (r *Registration) firstDebit() (first string) {
	for _, item := range r.Items {
		day := item.StartDate
		if item.Debit != nil && item.Debit.From != "" {
			day = item.Debit.From
		}
		if item.Mandate && day != "" && (first == "" || day < first) {
			first = day
		}
	}
	return first
}

// mandateSigned takes the demand for a mandate out of the cart's problems.
func (c *Cart) mandateSigned() {
	kept := c.Problems[:0]
	asked := false
	for _, problem := range c.Problems {
		if problem.Code == string(MandateRequired) {
			asked = true
			continue
		}
		kept = append(kept, problem)
	}
	c.Problems = kept
	if asked && len(kept) == 0 {
		c.Valid = true
	}
}

// mandateActions are what can be done about the mandate now.
func (r *Registration) mandateActions(now time.Time) []string {
	m := r.Mandate
	if !r.needsMandate() {
		return nil
	}
	if m == nil || m.State == SignatureCancelled || m.State == SignatureSigned {
		return []string{"mandate"}
	}
	var actions []string
	if m.takesCode() && m.AttemptsLeft() > 0 {
		actions = append(actions, "sign")
	}
	if !now.Before(m.ResendAfter) {
		actions = append(actions, "resend")
	}
	return append(actions, "cancel_signature", "mandate")
}
