package clubsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Credentials are the credentials of a world's client.
type Credentials struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	GatewayKey   string `json:"gatewayKey"`
}

// Credentials returns the client of this world alone. For the world "demo" it is the
// organisation's client, which is valid in all worlds.
func (w *World) Credentials() Credentials {
	return Credentials{ClientID: w.clientToken, ClientSecret: DemoClientSecret, GatewayKey: DemoGatewayKey}
}

// Items is a list as the control endpoints send it.
type Items[T any] struct {
	Items []T `json:"items"`
}

// Clock is the body of GET and PUT _control/clock. PUT takes one of the two.
type Clock struct {
	Now     *time.Time `json:"now,omitempty"`
	Advance string     `json:"advance,omitempty"` // ISO 8601 duration
}

// control is one control endpoint. It returns the body of the response; nil: none.
type control func(w *World, req *httpRequest) (any, error)

// controls are the endpoints below _control/, by method and name. They need no credentials.
var controls = map[string]control{
	"POST reset":        func(w *World, _ *httpRequest) (any, error) { w.Reset(); return nil, nil },
	"GET credentials":   func(w *World, _ *httpRequest) (any, error) { return w.Credentials(), nil },
	"GET personas":      func(w *World, _ *httpRequest) (any, error) { return Items[Persona]{w.Personas()}, nil },
	"GET jwks":          func(*World, *httpRequest) (any, error) { return identityKeys(), nil },
	"GET sms":           func(w *World, _ *httpRequest) (any, error) { return Items[SMS]{w.SMS()}, nil },
	"GET mail":          func(w *World, _ *httpRequest) (any, error) { return Items[Mail]{w.Mails()}, nil },
	"GET ledger":        func(w *World, _ *httpRequest) (any, error) { return Items[LedgerEntry]{w.Ledger()}, nil },
	"GET audit":         func(w *World, _ *httpRequest) (any, error) { return w.Audit(), nil },
	"GET cancellations": func(w *World, _ *httpRequest) (any, error) { return Items[Cancellation]{w.Cancellations()}, nil },
	"GET requests":      getRequests,
	"GET faults":        func(w *World, _ *httpRequest) (any, error) { return Items[Fault]{w.Faults()}, nil },
	"PUT faults":        putFaults,
	"GET settings":      func(w *World, _ *httpRequest) (any, error) { return w.Settings(), nil },
	"PUT settings":      putSettings,
	"GET catalogue":     func(w *World, _ *httpRequest) (any, error) { return w.Catalogue(), nil },
	"PUT catalogue":     putCatalogue,
	"GET clock":         func(w *World, _ *httpRequest) (any, error) { return Clock{Now: new(w.Now())}, nil },
	"PUT clock":         putClock,
	"GET events":        func(w *World, _ *httpRequest) (any, error) { return Items[Event]{w.Events()}, nil },
	"POST events":       postEvent,
	"GET state":         getState,
	"PUT state":         func(w *World, req *httpRequest) (any, error) { return nil, w.Restore(req.body) },
}

func (s *Server) serveControl(rw http.ResponseWriter, req *httpRequest) {
	world := s.World(req.path[0])
	if world == nil {
		writeResponse(rw, controlError(http.StatusNotFound,
			"There is no such world: its name must be demo, or demo- followed by letters, digits, dots, underscores and hyphens."))
		return
	}
	// Tools send neither Origin nor Sec-Fetch-Site and pass; a page of another site that
	// a developer has open does not.
	if err := http.NewCrossOriginProtection().Check(req.Request); err != nil {
		writeResponse(rw, controlError(http.StatusForbidden, err.Error()))
		return
	}
	name := strings.Join(req.path[2:], "/")
	if name == "" && req.Method == http.MethodDelete {
		s.Delete(world.clientToken)
		writeResponse(rw, httpResponse{status: http.StatusNoContent})
		return
	}
	if name == "" {
		world.serveInspector(rw, req)
		return
	}
	if len(req.path) > 3 && req.path[2] == "mail" {
		world.serveMail(rw, req)
		return
	}
	endpoint, known := controls[req.Method+" "+name]
	if !known {
		writeResponse(rw, unknownControl(name))
		return
	}
	result, err := endpoint(world, req)
	catalogue, isCatalogue := result.(*Catalogue)
	switch {
	case isCatalogue:
		header := http.Header{"Content-Type": {"application/yaml"}}
		writeResponse(rw, httpResponse{status: http.StatusOK, header: header, body: catalogue.source})
	case err != nil:
		writeResponse(rw, controlError(http.StatusBadRequest, err.Error()))
	case result == nil:
		writeResponse(rw, httpResponse{status: http.StatusNoContent})
	default:
		writeResponse(rw, jsonResponse(http.StatusOK, result))
	}
}

func controlError(status int, message string) httpResponse {
	return jsonResponse(status, record{"status": status, "message": message})
}

func unknownControl(name string) httpResponse {
	var allowed []string
	for endpoint := range controls {
		if method, of, _ := strings.Cut(endpoint, " "); of == name {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		return controlError(http.StatusNotFound, "The control endpoint does not exist.")
	}
	slices.Sort(allowed)
	a := controlError(http.StatusMethodNotAllowed, "Method Not Allowed")
	a.header.Set("Allow", strings.Join(allowed, ", "))
	return a
}

// getState refuses a snapshot that PUT would not take.
func getState(world *World, _ *httpRequest) (any, error) {
	taken := world.Snapshot()
	if len(taken) > maxSnapshot {
		return nil, fmt.Errorf("the world is too large for a snapshot: it has %d MiB, and %d can be restored", len(taken)>>20, maxSnapshot>>20)
	}
	return json.RawMessage(taken), nil
}

// putFaults takes a plain array of faults, or the object in which they are listed.
func putFaults(world *World, req *httpRequest) (any, error) {
	faults := []Fault{}
	if bytes.HasPrefix(bytes.TrimSpace(req.body), []byte("{")) {
		var listed Items[Fault]
		if err := decodeStrict(req.body, &listed); err != nil {
			return nil, err
		}
		faults = listed.Items
	} else if err := decodeStrict(req.body, &faults); err != nil {
		return nil, err
	}
	if err := world.SetFaults(faults); err != nil {
		return nil, err
	}
	return Items[Fault]{world.Faults()}, nil
}

func putSettings(world *World, req *httpRequest) (any, error) {
	if err := decodeStrict(req.body, &Settings{}); err != nil { // before a part of it can apply
		return nil, err
	}
	err := world.Configure(func(s *Settings) { _ = decodeStrict(req.body, s) })
	return world.Settings(), err
}

// putCatalogue restores the seed with another catalogue: YAML or JSON.
func putCatalogue(world *World, req *httpRequest) (any, error) {
	catalogue, err := ParseCatalogue(req.body)
	if err != nil {
		return nil, err
	}
	world.SetCatalogue(catalogue)
	return nil, nil
}

func putClock(world *World, req *httpRequest) (any, error) {
	var to Clock
	if err := decodeStrict(req.body, &to); err != nil {
		return nil, err
	}
	switch {
	case (to.Now == nil) == (to.Advance == ""):
		return nil, errors.New(`either "now" or "advance" is needed`)
	case to.Now == nil:
		p, err := parsePeriod(to.Advance)
		if err != nil {
			return nil, err
		}
		to.Now = new(p.after(world.Now()))
	}
	offset := to.Now.Sub(world.server.cfg.Now())
	if offset.Abs() > maxOffset {
		return nil, errors.New("the clock must stay within a hundred years from today")
	}
	world.moveTo(offset)
	return Clock{Now: new(world.now())}, nil
}

// manualEvent is the body of POST events: the object alone, or within data as it is sent.
type manualEvent struct {
	Event  string            `json:"event"`
	Object map[string]string `json:"object"`
	Data   struct {
		Object map[string]string `json:"object"`
	} `json:"data"`
}

func postEvent(world *World, req *httpRequest) (any, error) {
	var by manualEvent
	if err := decodeStrict(req.body, &by); err != nil {
		return nil, err
	}
	if by.Object == nil {
		by.Object = by.Data.Object
	}
	return world.Emit(by.Event, by.Object)
}
