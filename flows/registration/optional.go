package registration

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
	"frontdesk/upstream/mail"
)

const (
	// failingPause follows a failure that is no refusal, so that what hangs or breaks delays little.
	failingPause = time.Minute
	// maxContract is the longest contract document that is mailed, in bytes: mail servers take ten megabytes, of which the documents that
	// the buyer agreed to have their share.
	maxContract = 2 << 20
	// contractTimeout bounds one attempt to read the contract document.
	contractTimeout = 20 * time.Second
	// lastContractTimeout bounds the last one, which is made also while the documents of other sales fail: mails share few workers.
	lastContractTimeout = 5 * time.Second
)

// errPaused is the error of a call that is not made, because an earlier one failed: it can be repeated.
var errPaused = errors.New("not asked again yet, after an earlier failure")

// optionals remembers, by operation and client token, until when an operation is not called that only some installations have.
type optionals struct{ until sync.Map }

// call calls an operation for which no visitor waits, in the last lane.
func (o *optionals) call(ctx context.Context, operation, clientToken string, now time.Time, call func(context.Context) error) error {
	key := operation + " " + clientToken
	if until, paused := o.until.Load(key); paused && now.Before(until.(time.Time)) {
		return errPaused
	}
	return o.insist(ctx, operation, clientToken, now, call)
}

// insist does the same also during a pause.
func (o *optionals) insist(
	ctx context.Context, operation, clientToken string, now time.Time, call func(context.Context) error,
) error {
	key := operation + " " + clientToken
	err := call(club.WithLane(ctx, club.Browsers))
	if err != nil && !lacksOperation(err) {
		o.until.Store(key, now.Add(failingPause))
	}
	return err
}

func scopeOf(p *flows.Payment) club.Scope {
	return club.Scope{ClientToken: p.ClientToken, Club: p.Club, Node: p.Node}
}

// MayReportTerms reports whether a buyer may have agreed to a club's own terms of sale: the operator's file has none.
func (s *Service) MayReportTerms(p *flows.Payment) bool {
	for _, agreement := range p.Agreements {
		if agreement.Document == flows.DocumentTerms {
			return s.cfg.Catalogue.Details(p.Club.ID()).Documents.Terms == nil
		}
	}
	return false
}

// ReportTerms reports to the club system that the buyer of a recorded payment has accepted the club's own terms of sale, if it has any. It
// is to be called again after an error, before which nothing was sent. Frontdesk's own proof is stored, so that a report that the club
// system does not take is only logged.
func (s *Service) ReportTerms(ctx context.Context, id flows.PaymentID) error {
	payment, err := s.cfg.Store.Payment(ctx, id)
	if err != nil {
		return flows.StorageFailed(err)
	}
	at, err := s.cfg.Catalogue.Club(ctx, payment.ClientToken, payment.Club.ID())
	if err != nil || !at.SaleTerms {
		return err
	}
	err = s.optional.call(ctx, "accept_gtcs", payment.ClientToken, s.cfg.Now(), func(ctx context.Context) error {
		return s.cfg.Club.AcceptSaleTerms(ctx, scopeOf(payment), payment.Sale)
	})
	if errors.Is(err, errPaused) {
		return err
	}
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "accepted terms not reported to the club system", "payment", id, "error", err)
	}
	return nil
}

// ContractDocument returns the club system's own contract document of a completed registration, to be attached to its confirmation. It
// fails where the installation does not have it, or it cannot be had now: a moment after the payment it may not be made yet. For the last
// attempt it is asked for in any case.
func (s *Service) ContractDocument(ctx context.Context, id string, isLast bool) ([]mail.Attachment, error) {
	_, payment, err := s.cfg.Store.Registration(ctx, id)
	if err != nil {
		return nil, err
	}
	if payment == nil {
		return nil, flows.ErrNotFound
	}
	var content []byte
	call, timeout := s.optional.call, contractTimeout
	if isLast {
		call, timeout = s.optional.insist, lastContractTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = call(ctx, "contract", payment.ClientToken, s.cfg.Now(), func(ctx context.Context) (err error) {
		content, err = s.cfg.Club.GetContract(ctx, scopeOf(payment), payment.Sale)
		return err
	})
	if err == nil && len(content) > maxContract {
		err = fmt.Errorf("it has more than %d bytes", maxContract)
	}
	if err != nil {
		return nil, err
	}
	return []mail.Attachment{{Name: "contract.pdf", Type: "application/pdf", Content: content}}, nil
}
