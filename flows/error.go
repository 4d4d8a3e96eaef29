package flows

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"frontdesk/flows/keyring"
	"frontdesk/upstream/club"
)

// Code identifies an error. The list is that of the public API; package text has the
// table from code to HTTP status.
type Code string

// The codes. openapi.yaml, ProblemCode, documents them.
const (
	MalformedRequest      Code = "malformed_request"
	InvalidRequest        Code = "invalid_request"
	CardNumberRefused     Code = "card_number_refused"
	NotIdentified         Code = "not_identified"
	InvitationInvalid     Code = "invitation_invalid"
	ResumptionInvalid     Code = "resumption_invalid"
	ContactBanned         Code = "contact_banned"
	PersonKnown           Code = "person_known"
	OtherClub             Code = "other_club"
	TokenRequired         Code = "token_required"
	RegistrationNotFound  Code = "registration_not_found" // the only one on which a client forgets its token
	ClubNotFound          Code = "club_not_found"
	OfferNotFound         Code = "offer_not_found"
	NotFound              Code = "not_found"
	MethodNotAllowed      Code = "method_not_allowed"
	TooLarge              Code = "too_large"
	UnsupportedMediaType  Code = "unsupported_media_type"
	ForbiddenOrigin       Code = "forbidden_origin"
	ChallengeRequired     Code = "challenge_required"
	RateLimited           Code = "rate_limited"
	StaffKeyUnknown       Code = "staff_key_unknown"
	StaffOnly             Code = "staff_only"
	KeyReused             Code = "key_reused"
	KeyInUse              Code = "key_in_use"
	Conflict              Code = "conflict"
	NoConfirmation        Code = "no_confirmation"
	CartFrozen            Code = "cart_frozen"
	CartEmpty             Code = "cart_empty"
	CartInvalid           Code = "cart_invalid"
	ItemRequired          Code = "item_required"
	CartChanged           Code = "cart_changed"
	AgreementMissing      Code = "agreement_missing"
	GuardianRequired      Code = "guardian_required"
	MandateRequired       Code = "mandate_required"
	NothingDue            Code = "nothing_due"
	AmountDue             Code = "amount_due"
	MethodNotOffered      Code = "method_not_offered"
	PaymentExists         Code = "payment_exists"
	DuplicatePurchase     Code = "possible_duplicate_purchase"
	PersonRequired        Code = "person_required"
	RegistrationClosed    Code = "registration_closed"
	PaymentUnderWay       Code = "payment_under_way"
	OfferNotAvailable     Code = "offer_not_available"
	MandateNotNeeded      Code = "mandate_not_needed"
	MandateSigned         Code = "mandate_signed"
	NoCode                Code = "no_code"
	CodeWrong             Code = "code_wrong"
	CodeExpired           Code = "code_expired"
	CodeBlocked           Code = "code_blocked"
	SMSLimited            Code = "sms_limited"
	SMSPaused             Code = "sms_paused"
	MobileUnreachable     Code = "mobile_unreachable"
	AccessTokenRefused    Code = "access_token_refused"
	MigrationClub         Code = "migration_club"
	MigrationContact      Code = "migration_contact"
	MigrationNotShared    Code = "migration_not_shared"
	WebhookUntrusted      Code = "webhook_untrusted"
	ClubSystemFailed      Code = "club_system_failed"
	ClubSystemUnavailable Code = "club_system_unavailable"
	IdentityUnavailable   Code = "identity_unavailable"
	ProcessorUnavailable  Code = "processor_unavailable"
	StorageUnavailable    Code = "storage_unavailable"
	Overloaded            Code = "overloaded"
	Internal              Code = "internal"
)

// The codes for operators only; they are not in the public API.
const (
	NotDecidable Code = "not_decidable" // the detail says why
	TooEarly     Code = "too_early"     // see RetryAfter
)

// Error is the error type of all flows.
type Error struct {
	Code       Code
	Detail     DetailCode        // for visitors; empty: the title of Code says it all
	Params     map[string]string // of the detail's text
	Item       int               // which of the request's items it is about, from 1; 0: none
	Fields     []FieldProblem    // of InvalidRequest and AgreementMissing: every one; else the part of the request that failed
	RetryAfter time.Duration     // when to try again; zero: not known
	Operator   string            // for operators alone, in English, instead of Detail: the cause and what to do
	Err        error             // the cause, for the log only
}

// Error returns the codes, or what operators read, and the cause, for the log.
func (e *Error) Error() string {
	text := string(e.Code)
	if said := cmp.Or(string(e.Detail), e.Operator); said != "" {
		text += ": " + said
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Invalid returns InvalidRequest for the fields that are wrong; nil without any.
func Invalid(fields ...FieldProblem) error {
	if len(fields) == 0 {
		return nil
	}
	return &Error{Code: InvalidRequest, Fields: fields}
}

// BodyTooLarge returns TooLarge for a body of more than a number of KiB.
func BodyTooLarge(kibibytes int64) *Error {
	return &Error{Code: TooLarge, Detail: DetailBodyTooLarge, Params: map[string]string{"kibibytes": strconv.FormatInt(kibibytes, 10)}}
}

// Sentinels of the store.
var (
	// ErrNotFound: the store has no such record.
	ErrNotFound = errors.New("flows: no such record")
	// ErrConflict: the record changed since the caller read it.
	ErrConflict = errors.New("flows: the record was changed concurrently")
	// ErrNewer: a newer version wrote the record, so this one must not change it.
	ErrNewer = errors.New("flows: the record was written by a newer version")
	// ErrDamaged: the index of a sealed record contradicts it.
	ErrDamaged = errors.New("flows: the record is damaged")
)

// CodeOf returns an error's code; Internal if it has none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// StorageFailed translates an error of the store; one that is not a sentinel is StorageUnavailable. It keeps nil.
func StorageFailed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotFound):
		return &Error{Code: NotFound, Err: err}
	case errors.Is(err, ErrConflict):
		return &Error{Code: Conflict, Detail: DetailConcurrentChange, Err: err}
	case errors.Is(err, ErrNewer):
		return &Error{Code: StorageUnavailable, Detail: DetailUpgradeRunning, Err: err,
			RetryAfter: 5 * time.Second} // the next request may reach an upgraded gateway
	case errors.Is(err, ErrDamaged):
		return &Error{Code: Internal, Err: err}
	case errors.Is(err, keyring.ErrSealed):
		return &Error{Code: StorageUnavailable, Operator: WhyUnreadable(err), Err: err}
	default:
		return &Error{Code: StorageUnavailable, Err: err}
	}
}

// Unreadable reports whether a store has a record that this gateway cannot read.
func Unreadable(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewer) || errors.Is(err, keyring.ErrSealed)
}

// WhyUnreadable says, for operators, why a record is Unreadable and what to do.
func WhyUnreadable(err error) string {
	sealed, ok := errors.AsType[*keyring.SealedError](err)
	switch {
	case errors.Is(err, ErrNewer):
		return "a newer version of Frontdesk wrote this record; finish the upgrade"
	case ok && sealed.KeyID != "":
		return "this record is " + sealed.Error() + ": add that key to FRONTDESK_SEAL_KEYS again, after the current one; " +
			"frontdesk doctor lists the keys"
	default:
		return "this record was altered in Redis; look for what it is about in the club system and, if a card paid it, at the card processor"
	}
}

// ClubFailed translates an error of the club system; detail says what failed.
func ClubFailed(err error, detail DetailCode) error {
	if err == nil {
		return nil
	}
	failure := &Error{Code: ClubSystemFailed, Detail: detail, Err: err}
	upstream, ok := errors.AsType[*club.Error](err)
	if !ok {
		return failure
	}
	if cause, ok := errors.AsType[*club.Error](upstream.Err); ok {
		upstream = cause // such as a refused token, without which the call was not sent
	}
	failure.RetryAfter = upstream.RetryAfter
	if upstream.LimitReached() && upstream.RetryAfter > 0 {
		failure.Code = Overloaded
	} else if upstream.Outcome == club.NotSent || upstream.Status == 429 || upstream.Status == 503 {
		failure.Code = ClubSystemUnavailable
	}
	return failure
}

// MigrationFailed translates the documented errors of a migration (club system API, section
// Errors); nil for any other error.
func MigrationFailed(err error) error {
	switch {
	case errors.Is(err, club.ErrMigrationClub):
		return &Error{Code: MigrationClub, Err: err,
			Detail: DetailMoveClub}
	case errors.Is(err, club.ErrMigrationContact):
		return &Error{Code: MigrationContact, Err: err,
			Detail: DetailMoveContact}
	case errors.Is(err, club.ErrOutOfReach):
		return &Error{Code: MigrationNotShared, Err: err,
			Detail: DetailMoveNotShared}
	}
	return nil
}
