package flows_test

import (
	"errors"
	"testing"

	"frontdesk/flows"
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
