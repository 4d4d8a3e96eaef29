package handlers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// class is the priority of a request when there is more to do than the gateway can do.
type class string

const (
	// recording requests are never turned away: webhooks, health, and everything outside /v1.
	recording class = "recording"
	// paying requests pay or sign, or read a registration or its card page. They are never turned away: their senders were
	// admitted before, and the limits by address bound the number of others.
	paying class = "paying"
	// open requests are all others of visitors who have a registration or an account. They wait briefly for
	// a place.
	open class = "open"
	// newcomers start a registration. They get a place while less than their share of all places is
	// taken, so that admitted visitors can finish.
	newcomers class = "new"
	// browsing reads a catalogue that is not fresh. While its share is taken, an older one is shown.
	browsing class = "catalogue"
)

func classOf(method, route string) class {
	switch {
	case route == "/v1/registrations":
		return newcomers
	case route == cardPageRoute:
		return paying
	case strings.HasPrefix(route, "/v1/clubs"):
		return browsing
	case strings.HasPrefix(route, webhookPrefix) || !strings.HasPrefix(route, "/v1/"):
		return recording
	case strings.HasPrefix(route, "/v1/me"):
		return open
	case method == http.MethodGet || strings.Contains(route, "/payment") || strings.Contains(route, "/mandate"):
		return paying
	}
	return open
}

// The limit of requests that are worked on at once. It follows the time that newcomers' requests take,
// since these are all alike.
const (
	// minPlaces is what is left of the limit after a quiet hour: enough for the first second of a crowd.
	minPlaces = 64
	// maxPlaces is the limit after a start. The newcomers' share of it keeps the permits of club.Newcomers busy while
	// payments wait for a slow club system. With 480, a crowd took 1.8 times the memory of usual visitors.
	maxPlaces = 280
)

// shares are the parts of the places that a class may fill. What is left is for those above it.
var shares = map[class]float64{open: 1, newcomers: 0.6, browsing: 0.5}

const (
	// maxAdmissionWait is short enough that a refusal arrives within 100 ms. In so short a queue the
	// order does not matter.
	maxAdmissionWait = 60 * time.Millisecond
	// minTurnedAway and turnedAwaySpread say when others than newcomers return: not all at once.
	minTurnedAway    = 2 * time.Second
	turnedAwaySpread = 8 * time.Second
)

// The outcomes of Admission.
const (
	Admitted   = "admitted"
	Queued     = "queued"      // admitted after a wait
	OverShare  = "over_share"  // turned away: the class has its share of the places
	OverLimit  = "over_limit"  // turned away: all places are taken
	OverQuota  = "over_quota"  // turned away: the API gateway of the club system leaves no calls for a signup
	CallerLeft = "caller_left" // before there was a place
)

// Admission is a decision about a request.
type Admission struct {
	Class   string
	Outcome string
	Limit   int // requests at once, as of now
	Places  int // taken by requests, and by payments in the background
}

// Admissions are the outcomes that are possible for each class.
var Admissions = map[string][]string{
	string(recording): {Admitted},
	string(paying):    {Admitted},
	string(open):      {Admitted, Queued, OverLimit, CallerLeft},
	string(newcomers): {Admitted, OverShare, OverLimit, OverQuota, CallerLeft},
	string(browsing):  {Admitted, OverShare, OverLimit, CallerLeft},
}

const (
	// minPause and pauseSpread are when a client that follows or polls a registration returns.
	minPause    = 2 * time.Second
	pauseSpread = 2 * time.Second
	// busyFactor is how much later it returns while newcomers are turned away.
	busyFactor = 5
)

// backoff is when a client that follows or polls a registration should return, so that those who wait do
// not add to the load.
func (s *Server) backoff() time.Duration {
	pause := minPause + rand.N(pauseSpread) // #nosec G404 -- it hides nothing
	if s.overShare(newcomers) {
		pause *= busyFactor
	}
	return pause
}

// admit turns requests away, before any work, when more would be done at once than can be done in
// time. What was done before for a registration is not wasted: newcomers are turned away first.
func (s *Server) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		kind := classOf(c.Request().Method, c.Path())
		if timeoutOf(c.Request().Method, c.Path()) == 0 { // an event stream waits, and does no work
			return next(c)
		}
		var permit adaptivelimiter.Permit
		outcome := OverShare
		if !s.overShare(kind) { // otherwise a refusal reads nothing
			body, err := readAll(c.Request().Body) // first, because a slow one would hold a place
			if err != nil {
				return err
			}
			exchangeOf(c.Request().Context()).body = body
			c.Request().Body = io.NopCloser(bytes.NewReader(body))
			permit, outcome = s.place(c.Request().Context(), kind)
		}
		wait := time.Duration(0)
		if kind == newcomers && outcome == Admitted {
			wait = s.awaitTurn(c.Request())
			if wait > 0 {
				permit.Drop()
				outcome = OverQuota
				s.cfg.Log.WarnContext(c.Request().Context(), "newcomer turned away", "error", errOverQuota)
			}
		}
		if s.cfg.OnAdmission != nil {
			s.cfg.OnAdmission(Admission{string(kind), outcome, s.places.Limit(), s.inProgress()})
		}
		if outcome != Admitted && outcome != Queued {
			if wait == 0 {
				wait = s.returnAfter(kind, outcome)
			}
			refusal := &flows.Error{Code: flows.Overloaded, RetryAfter: wait}
			if kind != browsing || hasCredentials(c.Request()) {
				return refusal
			}
			c.SetRequest(c.Request().WithContext(catalogue.CachedOnly(c.Request().Context(), refusal)))
		}
		if kind == paying && c.Request().Method == http.MethodGet && s.overShare(newcomers) {
			c.Response().Header().Set(echo.HeaderRetryAfter, seconds(s.backoff()))
		}
		if permit == nil {
			return next(c)
		}
		if kind == newcomers {
			s.crowd.admit()
		}
		// The place is free once the response begins, so that a client that reads slowly does not hold it.
		response, succeeded := c.Response(), false
		release := sync.OnceFunc(func() {
			if succeeded && kind == newcomers {
				permit.Record()
			} else {
				permit.Drop() // a failure says nothing about how long requests take
			}
		})
		response.Before(func() {
			succeeded = response.Status < http.StatusBadRequest
			release()
		})
		defer release()
		return next(c)
	}
}

var errOverQuota = errors.New("the limits of the club system's API gateway leave too few calls for a signup")

// awaitTurn returns how long a newcomer has to wait for the calls of a signup. The key of the request keeps the turn.
func (s *Server) awaitTurn(r *http.Request) time.Duration {
	wait, err := s.cfg.Store.AdmitNewcomer(r.Context(), s.cfg.ClientToken, cmp.Or(r.Header.Get("Idempotency-Key"), uuid.NewString()))
	if err != nil {
		return 0 // nothing is begun without Redis
	}
	return wait
}

func (s *Server) returnAfter(kind class, outcome string) time.Duration {
	if kind == newcomers && outcome != CallerLeft {
		return s.crowd.turnAway(s.cfg.Now())
	}
	return minTurnedAway + rand.N(turnedAwaySpread) // #nosec G404 -- it hides nothing
}

// inProgress counts what is worked on: requests, and payments that are advanced in the background.
func (s *Server) inProgress() int {
	if s.cfg.Background == nil {
		return s.places.Inflight()
	}
	return s.places.Inflight() + s.cfg.Background.Queue.InProgress()
}

// overShare reports whether a class has its share of the places.
func (s *Server) overShare(kind class) bool {
	share, limited := shares[kind]
	return limited && share < 1 && float64(s.inProgress()) >= share*float64(s.places.Limit())
}

// place returns a place among the requests that are worked on. Requests that are never turned away
// may be admitted without one; they then take what newcomers would get.
func (s *Server) place(ctx context.Context, kind class) (adaptivelimiter.Permit, string) {
	if _, limited := shares[kind]; !limited {
		permit, _ := s.places.TryAcquirePermit()
		return permit, Admitted
	} else if ctx.Err() != nil {
		return nil, CallerLeft
	} else if s.overShare(kind) {
		return nil, OverShare
	}
	if permit, free := s.places.TryAcquirePermit(); free {
		return permit, Admitted
	} else if kind != open {
		return nil, OverLimit
	}
	permit, err := s.places.AcquirePermitWithMaxWait(ctx, maxAdmissionWait)
	switch {
	case err == nil && ctx.Err() == nil:
		return permit, Queued
	case err == nil:
		permit.Drop()
		return nil, CallerLeft
	case ctx.Err() != nil:
		return nil, CallerLeft
	}
	return nil, OverLimit
}
