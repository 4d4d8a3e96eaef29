package clubsim

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// GatewayOperation is an operation of the gateway in front of the simulator, at which faults can be set.
type GatewayOperation struct {
	Method string
	Path   string   // as in the gateway's contract, such as /v1/clubs/{clubId}
	Codes  []string // of the problems that it can answer
}

const (
	problemKind   = "problem"         // the kind of fault that only the gateway has
	gatewayPrefix = "/v1/"            // begins the paths of the gateway
	allOfGateway  = "/v1/**"          // matches all of them
	tokenRequest  = "/oauth/v2/token" // #nosec G101 -- a path, no credential
)

// gatewayKinds are the kinds of faults at the gateway.
var gatewayKinds = []string{"delay", "drop_after", "hang", problemKind}

// bracedSegment is a parameter as contracts write it.
var bracedSegment = regexp.MustCompile(`\{[^/{}]*\}`)

// pattern is the path of a match in the form that path.Match reads; empty for any call of the club system.
func (m FaultMatch) pattern() string {
	if m.Path == "" || m.Path == "*" {
		return ""
	}
	return "/" + strings.TrimPrefix(bracedSegment.ReplaceAllString(m.Path, "*"), "/")
}

func (m FaultMatch) atGateway() bool { return strings.HasPrefix(m.pattern(), gatewayPrefix) }

// hitsCall reports whether the match selects a call of the club system, or a request to the gateway.
func (m FaultMatch) hitsCall(method, callPath string) bool {
	if m.Method != "" && !strings.EqualFold(m.Method, method) {
		return false
	}
	switch pattern := m.pattern(); pattern {
	case "":
		return !strings.HasPrefix(callPath, gatewayPrefix)
	case allOfGateway:
		return strings.HasPrefix(callPath, gatewayPrefix)
	default:
		matched, _ := path.Match(pattern, callPath) // verifyFault refused bad patterns
		return matched
	}
}

// covers reports whether a match can select requests of an operation. numbered: its parameters are numbers.
func (m FaultMatch) covers(method, operationPath string, numbered bool) bool {
	pattern := m.pattern()
	if m.Method != "" && !strings.EqualFold(m.Method, method) {
		return false
	}
	if pattern == "" || pattern == allOfGateway {
		return true
	}
	given, wanted := strings.Split(pattern, "/"), strings.Split(operationPath, "/")
	if len(given) != len(wanted) {
		return false
	}
	for i, segment := range given {
		matched, _ := path.Match(segment, wanted[i])
		isParameter := strings.HasPrefix(wanted[i], "{")
		isWild := strings.ContainsAny(segment, "*?[")
		if !matched && (!isParameter || segment == "" || numbered && !isWild && parseID(segment) == 0) {
			return false
		}
	}
	return true
}

// verifyFault says what is wrong with a fault, and names the nearest right value.
func (w *World) verifyFault(f Fault) error {
	first, _, _ := strings.Cut(strings.TrimPrefix(f.Match.Path, "/"), "/")
	if IsWorld(first) || first == "{client_token}" {
		return errors.New("match.path: leave out the client token, as in /sales/*/payments")
	}
	if _, err := path.Match(f.Match.pattern(), "/"); err != nil {
		return fmt.Errorf("match.path: %w", err)
	}
	if err := f.verify(); err != nil {
		return err
	}
	if f.Match.atGateway() {
		return w.verifyGatewayFault(f)
	}
	if f.Kind == problemKind || f.Code != "" {
		return fmt.Errorf("kind %s and code are for paths of the gateway, such as /v1/registrations/*/payment", problemKind)
	}
	known := map[string]bool{"POST " + tokenRequest: f.Match.covers("POST", tokenRequest, true)}
	for _, op := range operations {
		known[op.method+" /"+bracedSegment.ReplaceAllString(op.pattern, "*")] = f.Match.covers(op.method, "/"+op.pattern, true)
	}
	return f.Match.verifyIn(known)
}

func (w *World) verifyGatewayFault(f Fault) error {
	if w.server.cfg.Gateway == nil {
		return fmt.Errorf("match.path: %s is the gateway's own, whose faults are set in mock mode alone", f.Match.Path)
	}
	if !slices.Contains(gatewayKinds, f.Kind) {
		return fmt.Errorf("kind: %q is not one of the gateway's: %s", f.Kind, strings.Join(gatewayKinds, ", "))
	}
	known, all, here := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, op := range w.server.cfg.Gateway() {
		covered := f.Match.covers(op.Method, op.Path, false)
		known[op.Method+" "+bracedSegment.ReplaceAllString(op.Path, "*")] = covered
		for _, code := range op.Codes {
			all[code], here[code] = true, here[code] || covered
		}
	}
	if err := f.Match.verifyIn(known); err != nil {
		return err
	}
	switch {
	case f.Status != 0 || f.Limit != "" || f.Body != nil:
		return errors.New("status, limit and body are for calls of the club system; a problem has its own status")
	case (f.Kind == problemKind) != (f.Code != ""):
		return errors.New("code: a fault of the kind problem has one, and no other")
	case f.Code != "" && !all[f.Code]:
		return fmt.Errorf("code: %q is not a problem code of the gateway%s", f.Code, suggestion(nearest(f.Code, all)))
	case f.Code != "" && !here[f.Code]:
		maps.DeleteFunc(here, func(_ string, can bool) bool { return !can })
		return fmt.Errorf("code: what matches cannot answer %s, only %s", f.Code, strings.Join(slices.Sorted(maps.Keys(here)), ", "))
	}
	return nil
}

// verifyIn refuses a match that selects no operation; known are all of them, with whether it selects them.
func (m FaultMatch) verifyIn(known map[string]bool) error {
	for _, covered := range known {
		if covered {
			return nil
		}
	}
	if m.Method != "" {
		wanted := strings.ToUpper(m.Method) + " " + m.pattern()
		return fmt.Errorf("match: %s is not an operation%s", wanted, suggestion(nearest(wanted, known)))
	}
	paths := map[string]bool{}
	for name := range known {
		_, at, _ := strings.Cut(name, " ")
		paths[at] = true
	}
	return fmt.Errorf("match.path: %s is not an operation%s", m.pattern(), suggestion(nearest(m.pattern(), paths)))
}

// TakeGatewayFault returns the fault that a request to the gateway must suffer in a world, and counts it; one without a kind for none.
// The route is the path as in the contract.
func (s *Server) TakeGatewayFault(world, method, route, requestPath string) Fault {
	return s.existingWorld(world).takeFault(func(f *Fault) bool {
		return f.Match.hitsCall(method, requestPath) && (f.Code == "" || slices.ContainsFunc(s.cfg.Gateway(), func(op GatewayOperation) bool {
			return op.Method == method && op.Path == route && slices.Contains(op.Codes, f.Code)
		}))
	})
}
