package clubsim_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/clubsim"
)

// discardResponse discards a response, so that only the simulator's own work is measured.
type discardResponse struct {
	header http.Header
	status int
	length int
}

func (u *discardResponse) Header() http.Header         { return u.header }
func (u *discardResponse) WriteHeader(status int)      { u.status = status }
func (u *discardResponse) Write(p []byte) (int, error) { u.length += len(p); return len(p), nil }

// BenchmarkListProducts measures a page of the catalogue, from the request to the encoded response.
func BenchmarkListProducts(b *testing.B) { benchmarkRead(b, "/demo/products") }

// BenchmarkGetContact measures a record with its tags.
func BenchmarkGetContact(b *testing.B) { benchmarkRead(b, "/demo/contacts/1001") }

func benchmarkRead(b *testing.B, path string) {
	b.ReportAllocs()
	sim := clubsim.New(clubsim.Config{Now: time.Now})
	b.Cleanup(sim.Close)
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header = http.Header{
		"X-Gateway-Api-Key": {clubsim.DemoGatewayKey}, "Authorization": {"Bearer " + accessToken(b, sim)},
		"X-User-Club-Id": {"/demo/clubs/11"}, "X-User-Network-Node-Id": {"/demo/network_nodes/3"},
	}
	for b.Loop() {
		answer := &discardResponse{header: http.Header{}}
		sim.ServeHTTP(answer, r)
		if answer.status != http.StatusOK {
			b.Fatalf("status %d", answer.status)
		}
		b.SetBytes(int64(answer.length))
	}
}

func accessToken(b *testing.B, sim *clubsim.Server) string {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {clubsim.DemoClientID}, "client_secret": {clubsim.DemoClientSecret}}
	r := httptest.NewRequest(http.MethodPost, "/oauth/v2/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Gateway-Api-Key", clubsim.DemoGatewayKey)
	answer := httptest.NewRecorder()
	sim.ServeHTTP(answer, r)
	_, rest, _ := strings.Cut(answer.Body.String(), `"access_token":"`)
	token, _, _ := strings.Cut(rest, `"`)
	return token
}
