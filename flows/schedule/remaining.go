package schedule

// Remaining is what is still debited under a contract.
type Remaining struct {
	Debits []Debit // in the order of their dates
	Total  int64   // their sum
	Verdict
}

// maxContract is how many debits a contract may have had, weekly for more than fifty years.
const maxContract = 3000

// RemainingOf returns the debits of a contract from a day through its end; nil if they are unknown. terms are those with which it
// began. If it is kept in full, the debits of an offer that ends are all due, also those that fall after the end: the first one may have
// waited for its day.
func RemainingOf(terms Terms, from, end Date, isKeptInFull bool) *Remaining {
	plan := Of(terms)
	if plan.Basis == Unknown {
		return nil
	}
	left := &Remaining{Verdict: verdict()}
	for _, debit := range plan.Debits {
		if debit.Date.Compare(end) <= 0 || isKeptInFull && plan.Recurrence == nil {
			left.add(debit, from)
		}
	}
	endless := plan.Recurrence
	for n := 0; endless != nil && endless.At(n).Compare(end) <= 0; n++ {
		if left.add(Debit{endless.At(n), endless.Amount, endless.Verdict}, from); n > maxContract || len(left.Debits) > maxDebits {
			return nil
		}
	}
	return left
}

// add adds a debit, unless it is in the past.
func (r *Remaining) add(debit Debit, from Date) {
	if debit.Date.Compare(from) < 0 {
		return
	}
	r.Debits, r.Total, r.Verdict = append(r.Debits, debit), r.Total+debit.Amount, r.and(debit.Verdict)
}

// From returns what is left of it from a day on.
func (r *Remaining) From(day Date) *Remaining {
	left := &Remaining{Verdict: verdict()}
	for _, debit := range r.Debits {
		left.add(debit, day)
	}
	return left
}
