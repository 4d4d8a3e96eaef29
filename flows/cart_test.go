package flows_test

import (
	"encoding/json"
	"testing"

	"frontdesk/flows"
)

// TestStoredCartProblem checks that a problem stored by version 0.9.0, which had its sentence in the record, is the same problem.
func TestStoredCartProblem(t *testing.T) {
	t.Parallel()
	var cart flows.Cart
	stored := `{"problems": [{"code": "settled", "message": "This cart was already settled at the club."}]}`
	if err := json.Unmarshal([]byte(stored), &cart); err != nil || !cart.Settled() {
		t.Errorf("%+v, %v", cart, err)
	}
}
