package registration

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"

	"frontdesk/flows"
)

// proofEncoding has one spelling for each proof.
var proofEncoding = base64.RawURLEncoding.Strict()

// cardPageText is what the proof of a card page signs.
func cardPageText(id flows.PaymentID) []byte { return []byte("card page\n" + string(id)) }

// CardPageURL returns the address of a payment's page on this gateway: /pay/{payment}/{proof} below PublicURL. The proof is an HMAC with
// the current seal key, so the address needs no record. It changes with that key; the former address is valid while the key is configured.
func (s *Service) CardPageURL(id flows.PaymentID) string {
	return s.cfg.PublicURL + "/pay/" + string(id) + "/" + proofEncoding.EncodeToString(s.cfg.Keys.Sign(cardPageText(id)))
}

// CardPage returns a card payment for its page, with its registration, and polls the latest one as Get does. ReturnURL is never empty.
// NotFound without the proof of its address, before anything is read, and once the registration is erased. StorageUnavailable while a
// payment that Redis has lost is looked up at the processor.
func (s *Service) CardPage(ctx context.Context, id flows.PaymentID, proof string) (flows.ShownPayment, flows.View, error) {
	signature, err := proofEncoding.DecodeString(proof)
	if err != nil || !s.cfg.Keys.Verify(cardPageText(id), signature) {
		return flows.ShownPayment{}, flows.View{}, &flows.Error{Code: flows.NotFound, Err: err}
	}
	registration, _ := id.Split()
	record, latest, err := s.cfg.Store.Registration(ctx, registration)
	if errors.Is(err, flows.ErrNotFound) {
		if err := s.cfg.Payments.LookUp(ctx, registration); err != nil {
			return flows.ShownPayment{}, flows.View{}, err
		}
		record, latest, err = s.cfg.Store.Registration(ctx, registration)
	}
	switch {
	case err != nil:
		return flows.ShownPayment{}, flows.View{}, flows.StorageFailed(err)
	case record.Erased:
		return flows.ShownPayment{}, flows.View{}, &flows.Error{Code: flows.NotFound}
	}
	payment := latest
	if payment == nil || payment.ID != id {
		payment, err = s.paymentOf(ctx, record, id)
	} else {
		latest = s.refreshPayment(ctx, record, s.verifyDecline(ctx, payment))
		payment = latest
	}
	if err != nil {
		return flows.ShownPayment{}, flows.View{}, err
	}
	if payment.ReturnURL == "" { // as Description, of a rebuilt payment
		payment.ReturnURL = s.sitePage(record.ID)
		if at, err := s.cfg.Catalogue.Club(ctx, record.ClientToken, record.ClubID); err == nil {
			payment.Description = at.Name
		}
	}
	return record.Shown(payment, latest, s.cfg.Now()), s.view(record, latest), nil
}

// sitePage is the address of a registration on the signup site.
func (s *Service) sitePage(id string) string {
	return s.cfg.PublicURL + "/?registration=" + url.QueryEscape(id)
}
