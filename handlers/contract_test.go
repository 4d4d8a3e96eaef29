package handlers_test

import (
	"bytes"
	"testing"

	"frontdesk/api"
	"frontdesk/api/requests"
	"frontdesk/e2e/frontdesktest"
)

// cut is what requests are held against by a contract.
func cut(t *testing.T, contract string) []byte {
	t.Helper()
	made, err := requests.Cut([]byte(contract))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestRequestsAreHeldAgainstTheContract: what is kept of it is of openapi.yaml as it is.
func TestRequestsAreHeldAgainstTheContract(t *testing.T) {
	t.Parallel()
	if !bytes.Equal(api.Requests, cut(t, string(frontdesktest.Contract(t)))) {
		t.Error("api/requests.json is not of openapi.yaml any more: run go generate ./api")
	}
}
