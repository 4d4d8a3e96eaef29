package flows

// MessageCode names a message for the visitor; empty: the state says it all. The list is that of the
// public API; package handlers has the texts in each language.
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
	MessageSettlementWithStaff      MessageCode = "settlement_with_staff"
	MessageLaterRecorded            MessageCode = "later_recorded" // dueDate
	MessageLaterInDoubt             MessageCode = "later_in_doubt"
	MessageFreeRecorded             MessageCode = "free_recorded"
	MessageFreeInDoubt              MessageCode = "free_in_doubt"
	MessageDeskRecorded             MessageCode = "desk_recorded"
	MessageDeskInDoubt              MessageCode = "desk_in_doubt"
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
