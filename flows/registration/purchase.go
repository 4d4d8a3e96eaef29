package registration

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/text/unicode/norm"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
)

// startingTime is how long a purchase without a stored payment counts: its request is storing it, or has failed.
const startingTime = time.Minute

// nameBuyer stores pseudonyms of a person: of the name alone, by which statements find the contract, and those for flows.Purchase.
//
// The same buyer has the same name, birth date, e-mail address and phone, however they are spelled. All four are needed,
// because a stranger who enters fewer of them must not learn what that person buys. A similar buyer has the same name and
// birth date, and the same e-mail address or phone: a family may share either.
//
// There is a pseudonym for each seal key, so that a purchase from before a rotation is still found.
func (s *Service) nameBuyer(registration *flows.Registration, p flows.Person) {
	who := keyring.Spelling(norm.NFKC.String(p.GivenName + " " + p.FamilyName + " " + p.BirthDate))
	emails := s.cfg.Keys.PersonPseudonyms(registration.ClientToken, p.Email, "")
	mobiles := s.cfg.Keys.PersonPseudonyms(registration.ClientToken, "", flows.CompletePhone(p.Mobile, p.Country))
	registration.BuyerPseudonyms, registration.AlikePseudonyms = nil, nil
	registration.NamePseudonym = s.cfg.Keys.NamePseudonyms(registration.ClientToken, p.GivenName+" "+p.FamilyName)[0]
	for i := range min(len(emails), len(mobiles)) {
		registration.BuyerPseudonyms = append(registration.BuyerPseudonyms, s.cfg.Keys.Pseudonyms("buyer", who+"\n"+emails[i]+"\n"+mobiles[i])...)
	}
	for _, reached := range slices.Concat(emails, mobiles) {
		registration.AlikePseudonyms = append(registration.AlikePseudonyms, s.cfg.Keys.Pseudonyms("buyer", who+"\n"+reached)...)
	}
}

// claimPurchase notes what a payment pays for, before the payment is stored. If the buyer has an unfinished or recent payment
// for the same offer, it fails with DuplicatePurchase. If the buyer has confirmed the purchase, or staff take the money, it
// succeeds, and the payment names the earlier ones and those of similar buyers. Of two requests at the same time, one
// succeeds without a question.
func (s *Service) claimPurchase(ctx context.Context, r *flows.Registration, payment *flows.Payment, in flows.StartPayment) error {
	if s.cfg.AsksRepeats == nil || !s.cfg.AsksRepeats(r.ClientToken) || in.Method == flows.Free {
		return nil
	}
	purchase := r.PurchaseOf(payment, s.cfg.Keys.Pseudonyms("buyer", string(r.Contact.IRI)))
	var known []flows.PaymentID
	asks := false
	for range maxSaveAttempts {
		others, err := s.cfg.Store.ClaimPurchase(ctx, purchase, known, flows.KeepPurchase)
		if err != nil {
			return flows.StorageFailed(err)
		}
		if len(others) == 0 {
			return nil
		}
		for _, other := range others {
			purchased, err := s.purchased(ctx, other)
			if err != nil {
				return err
			}
			if purchased {
				payment.Repeats = append(payment.Repeats, other.Payment)
				asks = asks || other.Same
			}
			known = append(known, other.Payment)
		}
		if asks && !in.Again && in.Method != flows.InPerson {
			return &flows.Error{Code: flows.DuplicatePurchase,
				Detail: flows.DetailRepeatedPurchase}
		}
	}
	return flows.StorageFailed(flows.ErrConflict)
}

// purchased reports whether an earlier purchase has paid something, or still may. A payment that cannot be read counts as
// one that may.
func (s *Service) purchased(ctx context.Context, other flows.PastPurchase) (bool, error) {
	earlier, err := s.cfg.Store.Payment(ctx, other.Payment)
	if errors.Is(err, flows.ErrNotFound) {
		return s.cfg.Now().Sub(other.At) < startingTime, nil
	}
	if flows.Unreadable(err) {
		return true, nil
	}
	return err == nil && earlier.Purchased(), flows.StorageFailed(err)
}

// noteRepeats adds a note for operators to each payment that a new one repeats. Only the first repetition is noted: a payment
// keeps a limited number of notes, and a hundred repetitions would push out those that operators wrote. Nothing is lost,
// because each repetition names the earlier payments itself.
func (s *Service) noteRepeats(ctx context.Context, payment *flows.Payment) {
	for _, earlier := range payment.Repeats {
		if first, err := s.cfg.Store.Once(ctx, "repeated:"+string(earlier), flows.KeepPurchase); err == nil && !first {
			continue
		}
		text := "the same is bought again, by this buyer or a similar one, with payment " + string(payment.ID)
		note := flows.Note{At: s.cfg.Now(), Operator: "frontdesk", Text: text}
		if err := s.cfg.Store.AddNote(context.WithoutCancel(ctx), earlier, note); err != nil {
			s.cfg.Log.WarnContext(ctx, "repeated purchase not noted", "payment", earlier, "repeatedBy", payment.ID, "error", err)
		}
	}
}
