package handlers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/store"
	"frontdesk/handlers"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/identity"
)

// edge returns the edge in this process, with a real Redis and every layer that a request passes through, and the
// address of its simulator.
func edge(b *testing.B) (server *handlers.Server, upstreams string) {
	b.Helper()
	redis, err := store.Connect(frontdesktest.NewRedis(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { redis.Close() })
	simulator := clubsim.New(clubsim.Config{Now: time.Now})
	outside := httptest.NewServer(http.StripPrefix("/sim", simulator))
	b.Cleanup(func() { outside.Close(); simulator.Close() })
	keys, err := keyring.New([]byte(strings.Repeat("k", 32)))
	if err != nil {
		b.Fatal(err)
	}
	log, records := slog.New(slog.DiscardHandler), store.New(store.Config{Redis: redis, Keys: keys})
	queue := background.NewQueue(background.QueueConfig{Redis: redis, Store: records, Keys: keys, Now: time.Now})
	clubSystem := club.New(
		club.Config{
			BaseURL:      outside.URL + "/sim",
			ClientID:     clubsim.DemoClientID,
			ClientSecret: clubsim.DemoClientSecret,
			GatewayKey:   clubsim.DemoGatewayKey,
			Now:          time.Now,
		},
	)
	processor := frontdesktest.ProcessorClient(outside.URL)
	offers := catalogue.New(catalogue.Config{Club: clubSystem, Now: time.Now, Log: log})
	payments := payment.New(
		payment.Config{
			Store:          records,
			Wake:           queue.Wake,
			Club:           clubSystem.Money(),
			BackgroundClub: clubSystem,
			Cards:          processor,
			Keys:           keys,
			Environment:    "test",
			Now:            time.Now,
			After:          time.After,
			Log:            log,
		},
	)
	registrations := registration.New(
		registration.Config{
			Store:     records,
			Club:      clubSystem,
			Catalogue: offers,
			Payments:  payments,
			Keys:      keys,
			Now:       time.Now,
			Log:       log,
		},
	)
	site := os.DirFS(filepath.Join(frontdesktest.Root(), "web-example"))
	server, err = handlers.New(handlers.Config{
		Contract:      frontdesktest.Contract(b),
		Registrations: registrations,
		Payments:      payments,
		Catalogue:     offers,
		Store:         records,
		Cards:         processor,
		Background:    background.New(background.Config{Store: records, Queue: queue}),
		Identity: identity.New(
			identity.Config{JWKSURL: outside.URL + "/sim/" + clubsim.DemoClientToken + "/_control/jwks", Now: time.Now},
		),
		Site:        site,
		ClientToken: clubsim.DemoClientToken,
		PublicURL:   "https://club.example",
		RateLimits:  true,
		Ready:       func(context.Context) []flows.Check { return nil },
		Now:         time.Now,
		After:       time.After,
		Log:         log,
	})
	if err != nil {
		b.Fatal(err)
	}
	return server, outside.URL
}

// BenchmarkGetRegistration measures a request from the router to its response.
func BenchmarkGetRegistration(b *testing.B) {
	server, _ := edge(b)
	var registration api.Registration
	start := httptest.NewRequest(
		"POST", "/v1/registrations", strings.NewReader(`{"clubId":"11","person":`+person+`,"items":[{"offerId":"2501"}]}`),
	)
	start.Header.Set("Content-Type", "application/json")
	start.Header.Set("Idempotency-Key", "0a6a6f4e-7f0f-4b1c-9d0e-5a1f6c1b2d3e")
	started := httptest.NewRecorder()
	server.ServeHTTP(started, start)
	if started.Code != http.StatusCreated || json.Unmarshal(started.Body.Bytes(), &registration) != nil {
		b.Fatal(started.Code, started.Body)
	}
	get := httptest.NewRequest("GET", "/v1/registrations/"+registration.Id, nil)
	get.Header.Set("Authorization", "Bearer "+*registration.Token)
	benchmarkRequest(b, server, get)
}

// BenchmarkMe measures a profile: the check of the token, and two reads of the simulator that are merged.
func BenchmarkMe(b *testing.B) {
	server, upstreams := edge(b)
	get := httptest.NewRequest("GET", "/v1/me", nil)
	get.Header.Set("Authorization", "Bearer "+frontdesktest.NewClient(b, upstreams).Persona("customer").IdentityToken)
	benchmarkRequest(b, server, get)
}

// benchmarkRequest repeats a request, each time from another address, so that no limit applies.
func benchmarkRequest(b *testing.B, server http.Handler, request *http.Request) {
	b.Helper()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		request.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1234", n>>16&255, n>>8&255, n&255)
		response := httptest.NewRecorder()
		server.ServeHTTP(response, request)
		if response.Code != http.StatusOK {
			b.Fatal(response.Code, response.Body)
		}
	}
}
