package protocol_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/club"
)

// TestBrakeCountsPost has what the brake counts of a POST, by how it ended.
func TestBrakeCountsPost(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		method flows.Method
		claim  int
		post   protocol.Posted
		want   flows.BrakeResult
		until  time.Duration // from now; zero: the payment does not continue to probe
	}{
		"accepted":                {flows.ByCard, 1, protocol.Posted{Outcome: club.Accepted}, flows.BrakeAccepted, 0},
		"unknown":                 {flows.ByCard, 1, protocol.Posted{Outcome: club.Unknown}, flows.BrakeUnknown, 0},
		"rejected":                {flows.ByCard, 1, protocol.Posted{Outcome: club.Rejected}, flows.BrakeUnknown, 0},
		"restricted":              {flows.ByCard, 1, restricted(club.Rejected), flows.ProbeContinues, 0},
		"not sent":                {flows.ByCard, 1, protocol.Posted{Outcome: club.NotSent}, flows.ProbeContinues, 135 * time.Second},
		"not sent, third claim":   {flows.ByCard, 3, protocol.Posted{Outcome: club.NotSent}, flows.ProbeContinues, 3 * time.Minute},
		"refused":                 {flows.ByCard, 1, protocol.Posted{Outcome: club.Refused}, flows.BrakeRefused, 135 * time.Second},
		"a limit of a minute":     {flows.ByCard, 1, limited(time.Minute), flows.BrakeRefused, 3 * time.Minute},
		"a limit of five minutes": {flows.ByCard, 1, limited(5 * time.Minute), flows.BrakeRefused, 7 * time.Minute},
		"a longer limit":          {flows.ByCard, 1, limited(5*time.Minute + time.Second), flows.BrakeUnknown, 0},
		"unknown, at the desk":    {flows.InPerson, 1, protocol.Posted{Outcome: club.Unknown}, flows.BrakeUnknown, 0},
		"unknown, and deferred":   {flows.Deferred, 1, protocol.Posted{Outcome: club.Unknown}, "", 0},
		"accepted, and free":      {flows.Free, 1, protocol.Posted{Outcome: club.Accepted}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payment := record(flows.Sending)
			payment.Method, payment.Claim = row.method, row.claim
			want := protocol.BrakeCount{Result: row.want}
			if row.want != "" {
				want.Began = payment.UpdatedAt
			}
			if row.until > 0 || len(row.post.Restrictions) > 0 { // the probe ends
				want.ProbesUntil = now.Add(row.until)
			}
			if got := protocol.CountPost(&payment, row.post, now); got != want {
				t.Errorf("counted as %+v, want %+v", got, want)
			}
		})
	}
}

func restricted(outcome club.Outcome) protocol.Posted {
	return protocol.Posted{Outcome: outcome, Restrictions: []club.Violation{{Field: "articles[0]"}}}
}

func limited(last time.Duration) protocol.Posted {
	return protocol.Posted{Outcome: club.Refused, Limited: true, Limit: last}
}

// TestBrakeCountsVerdict has what the brake counts of a recorded payment, by what a reading of its sale shows after the one before.
func TestBrakeCountsVerdict(t *testing.T) {
	t.Parallel()
	const total = "the total of the sale is 40.00 EUR instead of 45.00 EUR"
	for name, row := range map[string]struct {
		before, verdict string
		with            func(p *flows.Payment)
		want            flows.BrakeResult
	}{
		"it settled its sale":     {"", flows.SaleSettled, nil, flows.SaleSettles},
		"it did not":              {"", protocol.SaleOpen, nil, flows.SaleStaysOpen},
		"settled later":           {protocol.SaleOpen, flows.SaleSettled, nil, flows.SaleSettles},
		"nothing is new":          {flows.SaleSettled, flows.SaleSettled, nil, ""},
		"the sale is still open":  {protocol.SaleOpen, protocol.SaleOpen, nil, ""},
		"the sale is open again":  {total, protocol.SaleOpen, nil, ""},
		"another total":           {"", total, nil, ""},
		"Redis lost it":           {"", protocol.SaleOpen, func(p *flows.Payment) { p.Rebuilt = true }, ""},
		"it was deferred":         {"", protocol.SaleOpen, func(p *flows.Payment) { p.Method = flows.Deferred }, ""},
		"it was paid at the desk": {"", protocol.SaleOpen, func(p *flows.Payment) { p.Method = flows.InPerson }, flows.SaleStaysOpen},
		"Redis lost it, settled":  {"", flows.SaleSettled, func(p *flows.Payment) { p.Rebuilt = true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payment := record(flows.Recorded)
			payment.SaleVerdict = row.before
			if row.with != nil {
				row.with(&payment)
			}
			next := payment
			next.SaleVerdict = row.verdict
			want := protocol.BrakeCount{Result: row.want}
			if row.want != "" {
				want.Began = payment.Since(flows.Recorded)
			}
			if got := protocol.CountVerdict(&payment, &next); got != want {
				t.Errorf("counted as %+v, want %+v", got, want)
			}
		})
	}
}
