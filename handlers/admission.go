package handlers

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// class is the priority of a request when there is more to do than the gateway can do.
type class string

const (
	// essential requests are never turned away: webhooks, health, paying, signing, and reading or
	// following a registration. Their senders were admitted before, and the limits by address bound the
	// number of others.
	essential class = "essential"
	// openWrites change a registration that was started. They wait shortly for a place, and get the
	// next one that becomes free.
	openWrites class = "open"
	// newcomers start a registration. They get a place only when no open registration waits for one.
	newcomers class = "new"
	// browsing reads a catalogue that is not remembered. It waits for no place either.
	browsing class = "catalogue"
)

// classOf returns the class of a route.
func classOf(method, route string) class {
	switch {
	case route == "/v1/registrations" || route == "/v1/resumptions":
		return newcomers
	case strings.HasPrefix(route, "/v1/clubs"):
		return browsing
	case method == http.MethodGet || !strings.HasPrefix(route, "/v1/registrations/"):
		return essential
	case strings.Contains(route, "/payment") || strings.Contains(route, "/mandate"):
		return essential
	}
	return openWrites
}

const (
	// minAdmitted is a burst of visitors that is served without refusals, and few enough requests
	// at once that two cores end each within a second.
	minAdmitted = 128
	// maxAdmitted is what the limit may grow to on a faster machine. More would only wait for the
	// club system, which takes 64 calls at once.
	maxAdmitted = 256
	// maxAdmissionWait is short enough that a refusal arrives within 100 ms.
	maxAdmissionWait = 60 * time.Millisecond
	// minTurnedAway and turnedAwaySpread are when those turned away return: not all at once, and
	// after some hundred others were served.
	minTurnedAway    = 2 * time.Second
	turnedAwaySpread = 8 * time.Second
)

// The outcomes of Admission.
const (
	Admitted   = "admitted"
	TurnedAway = "turned_away"
	CallerLeft = "caller_left" // before there was a place
)

// Admission is a decision about a request of a class that may be turned away.
type Admission struct {
	Class   string
	Outcome string
	Limit   int // requests at once, as of now
}

// AdmissionClasses are the classes that may be turned away.
var AdmissionClasses = []string{string(openWrites), string(newcomers), string(browsing)}

// newAdmissionLimiter returns a limit that follows the time that requests take.
func newAdmissionLimiter() adaptivelimiter.AdaptiveLimiter[any] {
	return adaptivelimiter.NewBuilder[any]().WithLimits(minAdmitted, maxAdmitted, minAdmitted).Build()
}

// admit turns requests away, before any work, when more would be done at once than can be done in
// time. What was done before for a registration is not wasted: newcomers are turned away first.
func (s *Server) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		kind := classOf(c.Request().Method, c.Path())
		if timeoutOf(c.Request().Method, c.Path()) == 0 { // an event stream waits, and does no work
			return next(c)
		}
		body, err := readAll(c.Request().Body) // one that arrives slowly holds no place
		if err != nil {
			return err
		}
		c.Request().Body = io.NopCloser(bytes.NewReader(body))
		if kind == essential {
			if permit, free := s.places.TryAcquirePermit(); free { // newcomers get what is left
				defer permit.Drop()
			}
			return next(c)
		}
		permit, outcome := s.place(c, kind)
		if s.cfg.OnAdmission != nil {
			s.cfg.OnAdmission(Admission{string(kind), outcome, s.places.Limit()})
		}
		if outcome != Admitted {
			return &flows.Error{Code: flows.Overloaded, RetryAfter: minTurnedAway + rand.N(turnedAwaySpread)} // #nosec G404 -- it hides nothing
		}
		took := permit.Drop // a failure says nothing about how long requests take
		defer func() { took() }()
		if err = next(c); err == nil {
			took = permit.Record
		}
		return err
	}
}

// place returns a place among the requests that are worked on; nil unless the outcome is Admitted.
func (s *Server) place(c echo.Context, kind class) (adaptivelimiter.Permit, string) {
	permit, free := s.places.TryAcquirePermit()
	if !free && kind == openWrites {
		var err error
		permit, err = s.places.AcquirePermitWithMaxWait(c.Request().Context(), maxAdmissionWait)
		free = err == nil
	}
	switch left := c.Request().Context().Err() != nil; {
	case free && left:
		permit.Drop()
		return nil, CallerLeft
	case left:
		return nil, CallerLeft
	case !free:
		return nil, TurnedAway
	}
	return permit, Admitted
}
