package simulation

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// clubTransport carries all requests to the club system except payments.
type clubTransport struct{ *env }

func (c clubTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	task := taskOf(r.Context())
	article, _ := path.Match("/sim/*/sales/*/articles", r.URL.Path)
	token := strings.HasSuffix(r.URL.Path, "/oauth/v2/token")
	switch {
	case task != nil && task.dead.Load():
		return nil, errDead
	case task != nil && !token && r.Method == http.MethodPost && task.journey.plan.odd > 0:
		if fault := task.journey.odd(task.journey.rng, adding); fault != nil {
			return c.simulate(r, fault)
		}
	}
	switch {
	case task != nil && article && r.Method == http.MethodPost && task.journey.chance(0.7):
		return c.hang(r, task)
	case task != nil && task.journey.plan.mandate && checksCode(r):
		return c.checkCode(r, task)
	case task == nil || token || r.Method != http.MethodGet:
		return c.simulate(r, nil)
	case strings.Contains(r.URL.Path, "/contacts/"):
		// Contacts are read concurrently, and dropped when something else fails: no seed could decide which comes first.
		return c.simulate(r, nil)
	}
	journey := task.journey
	rng, hit := journey.drawRead(strings.HasSuffix(r.URL.Path, "/check"))
	if !hit {
		return c.simulate(r, nil)
	}
	if journey.plan.crashes > 0 && rng.Float64() < journey.plan.crashes/2 {
		journey.fault(crashed)
		journey.crash(task.gateway)
		return nil, errDead
	}
	if fault := journey.odd(rng, reading); fault != nil {
		return c.simulate(r, fault)
	}
	if journey.plan.reads == 0 || rng.Float64() >= journey.plan.reads {
		return c.simulate(r, nil)
	}
	fault := clubFault(rng, readKinds[rng.IntN(len(readKinds))])
	journey.fault(reading + fault.Kind)
	return c.simulate(r, &fault)
}

// The gateways wait for an article for 15 s, and it may arrive later: at most a minute after they stored its mark, of
// which they send it within 10 s.
const (
	writeTimeout = 15 * time.Second
	latestItem   = 45 * time.Second
)

// hang has an article arrive later. Its gateway gets the response if it still waits then.
func (c clubTransport) hang(r *http.Request, t *task) (*http.Response, error) {
	journey := t.journey
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	journey.fault(itemHung)
	later, recorder, arrives := r.Clone(context.Background()), httptest.NewRecorder(), journey.between(0, latestItem)
	journey.after(arrives, func() {
		later.Body = io.NopCloser(bytes.NewReader(body))
		journey.tracef("an article arrives")
		c.answer(recorder, later, nil)
	})
	t.yield(min(arrives, writeTimeout))
	switch {
	case t.dead.Load():
		return nil, errDead
	case arrives > writeTimeout:
		return nil, io.ErrUnexpectedEOF
	}
	return recorder.Result(), nil
}

// simulate returns the simulator's response, changed by a fault.
func (c clubTransport) simulate(r *http.Request, fault *clubsim.Fault) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	if !c.answer(recorder, r, fault) {
		return nil, io.ErrUnexpectedEOF
	}
	return recorder.Result(), nil
}

// answer writes the simulator's response, and reports whether there was one. Concurrent calls wait for
// each other, so that a fault hits the right call.
func (s *env) answer(w http.ResponseWriter, r *http.Request, fault *clubsim.Fault) (answered bool) {
	inner := r.Clone(r.Context())
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, "/sim")
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	if fault == nil {
		return s.deliver(w, inner)
	}
	s.oneFault.Lock()
	defer s.oneFault.Unlock()
	_, below, _ := strings.Cut(strings.TrimPrefix(inner.URL.Path, "/"), "/") // the client token
	fault.Match = clubsim.FaultMatch{Method: r.Method, Path: "/" + below}
	if err := s.sim.SetFaults([]clubsim.Fault{*fault}); err != nil {
		panic(err) // a bug in the simulation
	}
	defer s.sim.SetFaults(nil)
	switch fault.Kind {
	case "delay":
		s.Advance(4 * time.Second)
	case "hang": // ends at once if its caller has given up, so the clock advances instead
		s.Advance(8 * time.Second)
		gone, giveUp := context.WithCancel(context.Background())
		giveUp()
		inner = inner.WithContext(gone)
	}
	return s.deliver(w, inner)
}

// deliver passes a request to the simulator, and reports false if the simulator cut the connection.
func (s *env) deliver(w http.ResponseWriter, r *http.Request) (answered bool) {
	defer func() {
		if cause := recover(); cause != nil {
			if cause != http.ErrAbortHandler { //nolint:errorlint // a panic's value, not an error that was wrapped
				panic(cause)
			}
			answered = false
		}
	}()
	if f := s.current.Load(); f != nil {
		defer f.noteSettlement(r)()
	}
	s.simulator.ServeHTTP(w, r)
	return true
}

// noteSettlement finds out whether a request other than a payment settled a sale of the registration.
func (f *journey) noteSettlement(r *http.Request) func() {
	way, ok := map[string]string{"postpone_due": string(flows.Deferred), "transitions": string(flows.Free)}[path.Base(r.URL.Path)]
	if !ok || r.Method != http.MethodPost || slices.Contains(f.others, path.Dir(r.URL.Path)) {
		return func() {}
	}
	sale := path.Dir(r.URL.Path)
	before, _ := f.sim.Sale(sale)
	return func() {
		after, _ := f.sim.Sale(sale)
		if before.State != after.State {
			f.settlements = append(f.settlements, way)
		}
	}
}

// serveConnection serves the requests that have their own connection: the payments. The task that sends
// one is blocked in it, so the handler acts on its behalf.
func (s *env) serveConnection(w http.ResponseWriter, r *http.Request) {
	journey := s.current.Load()
	body, err := io.ReadAll(r.Body)
	if err == nil && journey != nil && journey.running.Load() == nil { // staff, between the tasks
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.answer(w, r, nil)
		return
	}
	if err != nil || journey == nil || journey.running.Load() == nil || journey.running.Load().dead.Load() {
		panic(http.ErrAbortHandler)
	}
	task := journey.running.Load()
	journey.fence.Add(1)
	defer journey.fence.Add(1)
	r.Body = io.NopCloser(bytes.NewReader(body))
	journey.tracef("%s: POST %s", task.gateway.name, r.URL.Path)
	if len(journey.desk) > 0 {
		journey.sentLate = max(journey.sentLate, journey.Now().Sub(journey.deskAt))
	}
	if !s.post(w, r, body, task) {
		panic(http.ErrAbortHandler)
	}
}

// post carries one payment to the club system, and reports whether a response came back.
func (s *env) post(w http.ResponseWriter, r *http.Request, body []byte, t *task) bool {
	journey := t.journey
	if t.dies(func() { s.answer(httptest.NewRecorder(), r, nil) }) {
		return false
	}
	if fault := journey.odd(journey.rng, posting); fault != nil {
		return s.answer(w, r, fault)
	}
	if !journey.chance(journey.plan.posts) {
		if journey.plan.restricts {
			journey.fault(restricted)
		}
		return s.answer(w, r, nil)
	}
	kinds := len(clubKinds)
	if !journey.plan.mixed || journey.plan.rollbacks == 0 {
		kinds += 3 // else the buyer may choose another method while Redis has lost the payment whose POST is on its way, and both settle the sale
	}
	switch which := journey.rng.IntN(kinds); which {
	case len(clubKinds), len(clubKinds) + 1:
		journey.fault(postLate)
		later := r.Clone(context.Background())
		// A payment arrives before an operator may say that it never will.
		journey.after(journey.between(time.Second, 10*time.Minute), func() {
			later.Body = io.NopCloser(bytes.NewReader(body))
			journey.tracef("a late POST arrives")
			s.answer(httptest.NewRecorder(), later, nil)
		})
		s.Advance(journey.between(time.Second, 30*time.Second))
		return false
	case len(clubKinds) + 2:
		journey.fault(postSlow)
		t.yield(journey.between(time.Second, 29*time.Second))
		return s.answer(w, r, nil) && !t.dead.Load()
	default:
		fault := clubFault(journey.rng, clubKinds[which])
		journey.fault(posting + fault.Kind)
		return s.answer(w, r, &fault)
	}
}
