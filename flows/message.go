package flows

// MessageCode names a message for the visitor. The list is that of the public API; package text has the texts in each
// language.
type MessageCode string

// The messages about payments through a processor.
const (
	MessagePaymentPreparing       MessageCode = "payment_preparing"
	MessagePaymentActionRequired  MessageCode = "payment_action_required"
	MessagePaymentProcessing      MessageCode = "payment_processing"
	MessagePaymentOnHold          MessageCode = "payment_on_hold"
	MessagePaymentRecorded        MessageCode = "payment_recorded"
	MessagePaymentDeclined        MessageCode = "payment_declined"
	MessagePaymentInDoubt         MessageCode = "payment_in_doubt"
	MessagePaymentWithStaff       MessageCode = "payment_with_staff"
	MessagePaymentRefunding       MessageCode = "payment_refunding"
	MessagePaymentCancelled       MessageCode = "payment_cancelled"
	MessagePaymentNotConfirmed    MessageCode = "payment_not_confirmed"
	MessagePaymentDeclinedFinally MessageCode = "payment_declined_finally"
	MessagePaymentRefunded        MessageCode = "payment_refunded"
	MessagePaymentCardRefused     MessageCode = "payment_card_refused"
	// The buyer may not buy what is in the cart.
	MessagePaymentRestrictedRefunding MessageCode = "payment_restricted_refunding"
	MessagePaymentRestrictedRefunded  MessageCode = "payment_restricted_refunded"
	// Of a rebuilt registration, which is never paid again.
	MessagePaymentCancelledRestart       MessageCode = "payment_cancelled_restart"
	MessagePaymentDeclinedFinallyRestart MessageCode = "payment_declined_finally_restart"
	MessagePaymentRefundedRestart        MessageCode = "payment_refunded_restart"
)

// The messages about settlements without a processor.
const (
	MessageSettlementPreparing      MessageCode = "settlement_preparing"
	MessageSettlementProcessing     MessageCode = "settlement_processing"
	MessageSettlementCancelled      MessageCode = "settlement_cancelled"
	MessageSettlementCancelledRetry MessageCode = "settlement_cancelled_retry"
	MessageSettlementRestricted     MessageCode = "settlement_restricted" // as payment_restricted_refunded
	MessageSettlementWithStaff      MessageCode = "settlement_with_staff"
	MessageLaterRecorded            MessageCode = "later_recorded" // dueDate
	MessageLaterInDoubt             MessageCode = "later_in_doubt"
	MessageFreeRecorded             MessageCode = "free_recorded"
	MessageFreeInDoubt              MessageCode = "free_in_doubt"
	MessageDeskRecorded             MessageCode = "desk_recorded"
	MessageDeskInDoubt              MessageCode = "desk_in_doubt"
	MessageDeskRestricted           MessageCode = "desk_restricted"
)

// The messages about registrations, and about signatures by SMS code.
const (
	MessageRegistrationExpired  MessageCode = "registration_expired"
	MessageCartStale            MessageCode = "cart_stale"
	MessageSignatureNoCode      MessageCode = "signature_no_code"
	MessageSignatureAwaiting    MessageCode = "signature_awaiting_code"
	MessageSignatureUnconfirmed MessageCode = "signature_unconfirmed"
	MessageSignatureExpired     MessageCode = "signature_expired"
	MessageSignatureBlocked     MessageCode = "signature_blocked"
	MessageSignatureCancelled   MessageCode = "signature_cancelled"
)

// The messages of steps about which there is nothing else to say.
const (
	MessageStepPerson    MessageCode = "step_person"
	MessageStepItems     MessageCode = "step_items"
	MessageStepFixCart   MessageCode = "step_fix_cart"
	MessageStepGuardian  MessageCode = "step_guardian"
	MessageStepMandate   MessageCode = "step_mandate"
	MessageStepReady     MessageCode = "step_ready"
	MessageStepAbandoned MessageCode = "step_abandoned"
)

// stepMessages are what to say at a step without a payment, a signature or a stale cart. The steps of a payment have its message.
var stepMessages = map[Step]MessageCode{
	StepPerson:    MessageStepPerson,
	StepItems:     MessageStepItems,
	StepFixCart:   MessageStepFixCart,
	StepGuardian:  MessageStepGuardian,
	StepMandate:   MessageStepMandate,
	StepReady:     MessageStepReady,
	StepWithStaff: MessageSettlementWithStaff,
	StepAbandoned: MessageStepAbandoned,
	StepExpired:   MessageRegistrationExpired,
}

// CurrentMessage returns what the visitor should know or do now. Every view has one, so that a front end can show a step that it
// does not know.
func (v View) CurrentMessage() MessageCode {
	step := v.Step()
	switch {
	case v.Cart.Settled() && step == StepWithStaff && v.Payment != nil && v.Payment.State == Cancelled:
		return MessageSettlementWithStaff // the payment's own message may ask to pay in another way
	case v.Message != "" && step != StepCode && step != StepGuardian:
		return v.Message
	case (step == StepMandate || step == StepCode) && v.Mandate != nil && v.Mandate.Message() != "":
		return v.Mandate.Message()
	}
	return stepMessages[step]
}
