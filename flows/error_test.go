package flows_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

func TestCodeOf(t *testing.T) {
	t.Parallel()
	cause := errors.New("the cause")
	coded := &flows.Error{Code: flows.CartFrozen, Detail: flows.DetailCartFrozen, Err: cause}
	for _, test := range []struct {
		err  error
		want flows.Code
	}{{coded, flows.CartFrozen}, {errors.Join(cause, coded), flows.CartFrozen}, {cause, flows.Internal}, {nil, flows.Internal}} {
		if got := flows.CodeOf(test.err); got != test.want {
			t.Errorf("%v: %s", test.err, got)
		}
	}
	if text := coded.Error(); text != "cart_frozen: cart_frozen: the cause" || !errors.Is(coded, cause) {
		t.Errorf("the error reads %q", text)
	}
	if !errors.Is(flows.ErrOwned, flows.ErrConflict) {
		t.Error("ErrOwned does not match ErrConflict")
	}
}

// TestClubFailed: visitors for whose calls the API gateway's limits leave no room come back when the response says so, whether the gateway
// refused a call or none was made. An unexplained 429 says that the club system is not available.
func TestClubFailed(t *testing.T) {
	t.Parallel()
	refused := club.Error{Outcome: club.Refused, Status: http.StatusTooManyRequests, RetryAfter: time.Minute}
	held := club.Error{Outcome: club.NotSent, RetryAfter: time.Minute, Err: club.ErrBusy}
	unexplained := club.Error{Outcome: club.Unknown, Status: http.StatusTooManyRequests, RetryAfter: time.Minute}
	for _, test := range []struct {
		err  club.Error
		want flows.Code
	}{
		{refused, flows.Overloaded},
		{held, flows.Overloaded},
		{unexplained, flows.ClubSystemUnavailable},
		{club.Error{Outcome: club.NotSent, Err: &refused}, flows.Overloaded},
		{club.Error{Outcome: club.NotSent, Err: club.ErrBusy}, flows.ClubSystemUnavailable},
	} {
		failure, ok := errors.AsType[*flows.Error](flows.ClubFailed(&test.err, flows.DetailCartUnread))
		if !ok || failure.Code != test.want {
			t.Errorf("%v: %v", &test.err, failure)
		}
	}
}
