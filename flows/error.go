package flows

import (
	"errors"
	"time"

	"frontdesk/upstream/club"
)

// Code names what went wrong. The list is closed: it is the list of the public
// API, and handlers holds one table from code to HTTP status.
type Code string

// The codes. What each means to a caller stands in openapi.yaml, ProblemCode.
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
	NotFound              Code = "not_found"
	MethodNotAllowed      Code = "method_not_allowed"
	TooLarge              Code = "too_large"
	ForbiddenOrigin       Code = "forbidden_origin"
	ChallengeRequired     Code = "challenge_required"
	RateLimited           Code = "rate_limited"
	StaffKeyUnknown       Code = "staff_key_unknown"
	StaffOnly             Code = "staff_only"
	KeyReused             Code = "key_reused"
	KeyInUse              Code = "key_in_use"
	Conflict              Code = "conflict"
	CartFrozen            Code = "cart_frozen"
	CartEmpty             Code = "cart_empty"
	CartInvalid           Code = "cart_invalid"
	CartChanged           Code = "cart_changed"
	MandateRequired       Code = "mandate_required"
	NothingDue            Code = "nothing_due"
	AmountDue             Code = "amount_due"
	PaymentExists         Code = "payment_exists"
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
	Internal              Code = "internal"
)

// The codes that operators alone meet: they are no part of the public API.
const (
	NotDecidable Code = "not_decidable" // the decision is not possible, and the detail says why
	TooEarly     Code = "too_early"     // the decision is not possible yet
)

// Error is the one error type of the journeys.
type Error struct {
	Code       Code
	Detail     string         // fit for a person to read; says which part failed, never what another system said
	Fields     []FieldProblem // for InvalidRequest: every field that is wrong; else, which part of the request a failure is about
	RetryAfter time.Duration  // when trying again makes sense; zero when not known
	Err        error          // the cause, for the log alone
}

// FieldProblem is one wrong field of a request.
type FieldProblem struct {
	Pointer string // RFC 6901, into the body
	Message string // fit for a person to read
}

// Error gives the code, the detail and the cause, for the log.
func (e *Error) Error() string {
	text := string(e.Code)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Sentinels of the store.
var (
	// ErrNotFound: the store has no such record.
	ErrNotFound = errors.New("flows: no such record")
	// ErrConflict: the record is no longer what the caller read.
	ErrConflict = errors.New("flows: the record was changed by somebody else")
	// ErrNewer: the record was written by a newer version, and is left alone.
	ErrNewer = errors.New("flows: the record was written by a newer version")
	// ErrDamaged: what is stored beside a sealed record contradicts it.
	ErrDamaged = errors.New("flows: the record is damaged")
)

// CodeOf tells an error's code; what carries none is Internal.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

// upgradePause: the next request may well reach a gateway that is upgraded already.
const upgradePause = 5 * time.Second

// StorageFailed translates an error of the store. A lost race and a missing
// record mean something to the caller; all else is Redis in trouble.
func StorageFailed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotFound):
		return &Error{Code: NotFound, Err: err}
	case errors.Is(err, ErrConflict):
		return &Error{Code: Conflict, Detail: "The registration was changed at the same moment.", Err: err}
	case errors.Is(err, ErrNewer):
		return &Error{Code: StorageUnavailable, Detail: "Frontdesk is being upgraded; please send this again in a moment.", RetryAfter: upgradePause, Err: err}
	case errors.Is(err, ErrDamaged):
		return &Error{Code: Internal, Err: err}
	default:
		return &Error{Code: StorageUnavailable, Err: err}
	}
}

// ClubFailed translates an error of the club system; part says in plain words
// what could not be done, so that the caller knows where the journey stopped.
func ClubFailed(err error, part string) error {
	if err == nil {
		return nil
	}
	failure := &Error{Code: ClubSystemFailed, Detail: part, Err: err}
	var upstream *club.Error
	if !errors.As(err, &upstream) {
		return failure
	}
	var cause *club.Error
	if errors.As(upstream.Err, &cause) {
		upstream = cause // such as a token that was refused, for which the call was never sent
	}
	failure.RetryAfter = upstream.RetryAfter
	if upstream.Outcome == club.NotSent || upstream.Status == 429 || upstream.Status == 503 {
		failure.Code = ClubSystemUnavailable
	}
	return failure
}

// MigrationFailed puts the documented errors of a migration into words for the
// person (club system API, section Errors); nil for any other error.
func MigrationFailed(err error) error {
	switch {
	case errors.Is(err, club.ErrMigrationClub):
		return &Error{Code: MigrationClub, Err: err,
			Detail: "The club cannot take you over: either it is your club already, or it belongs to another chain. Please ask the club."}
	case errors.Is(err, club.ErrMigrationContact):
		return &Error{Code: MigrationContact, Err: err,
			Detail: "Only somebody who is not a member, or not any more, can move. Please ask your club."}
	case errors.Is(err, club.ErrOutOfReach):
		return &Error{Code: MigrationNotShared, Err: err,
			Detail: "The two clubs do not share your details. Please ask the club."}
	}
	return nil
}
