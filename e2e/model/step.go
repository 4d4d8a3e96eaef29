package model

// This file mirrors doubt.go and after.go in flows/payment/protocol; the table in doc.go pairs the functions.

// turns are what an idle replica does, by the state of the payment in Redis.
var turns = [states]func(*machine, *world){
	priced:     (*machine).begin,
	intent:     (*machine).drive,
	authorised: (*machine).drive,
	capturing:  (*machine).drive,
	captured:   (*machine).prepareRecord,
	sending:    (*machine).takeOver,
	cancelling: (*machine).drive,
	refundDue:  (*machine).drive,
	refunding:  (*machine).drive,
	inDoubt:    (*machine).drive,
	blocked:    (*machine).drive,
}

func (m *machine) begin(w *world) {
	if w.redis.method != ByCard {
		m.prepareSettlement(w)
		return
	}
	m.drive(w)
}

// unseen reports whether the sale was not read as agreed within the last minute. Without staff it does not
// change, and needs no second reading.
func (m *machine) unseen(r record, mistake Mutation) bool {
	return m.cfg.Desk && !r.seen && !m.mutated(mistake)
}

// takeOver is what next decides for a payment in sending: nothing while its owner is at work, else that
// the outcome was lost with its owner.
func (m *machine) takeOver(w *world) {
	switch {
	case w.owned(w.redis.attempt):
	case m.mutated(ResumeExpired):
		m.move(w, sending, normal, "finds the lease over, and continues sending")
	default:
		m.move(w, inDoubt, normal, "finds the lease over")
	}
}
