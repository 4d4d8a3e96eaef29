package handlers

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"frontdesk/api"
	"frontdesk/flows"
)

// readyTTL is how long readiness is cached: probes of several load balancers cost one check, and a
// lost Redis shows within two probes.
const readyTTL = 5 * time.Second

// public are the beginnings of the paths that need no credentials besides the address.
var public = []string{"/healthz", "/readyz", "/docs", "/openapi.", "/v1/config", "/v1/clubs", "/pay/"}

// headAsGet routes HEAD as GET where load balancers, caches, link checkers and mail programs use it (RFC 9110, section 9.3.2).
// The router gets a copy, because the server leaves out the body by the method of its own request.
func headAsGet(r *http.Request) *http.Request {
	if r.Method != http.MethodHead || !slices.ContainsFunc(public, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) }) {
		return r
	}
	get := r.WithContext(r.Context())
	get.Method = http.MethodGet
	return get
}

// GetHealth serves GET /healthz: the process is alive.
func (s *Server) GetHealth(context.Context, api.GetHealthRequestObject) (api.GetHealthResponseObject, error) {
	return api.GetHealth200JSONResponse{Status: api.Ok}, nil
}

// GetReadiness serves GET /readyz: the process works and is not stopping. The response is public and
// names parts, never what is wrong with them, which is in the log.
func (s *Server) GetReadiness(ctx context.Context, _ api.GetReadinessRequestObject) (api.GetReadinessResponseObject, error) {
	select {
	case <-s.cfg.Stopping:
		return api.GetReadiness503JSONResponse{Status: api.Unavailable, Checks: &map[string]string{"process": "stopping"}}, nil
	default:
	}
	status, checks := s.readiness.check(ctx, s.cfg)
	if status == api.Unavailable {
		return api.GetReadiness503JSONResponse{Status: status, Checks: &checks}, nil
	}
	return api.GetReadiness200JSONResponse{Status: status, Checks: &checks}, nil
}

// readiness caches the result of the checks.
type readiness struct {
	mu         sync.Mutex
	until      time.Time
	checks     []flows.Check
	lastLogged string
}

// check returns the state of the gateway and of each part. Concurrent callers share one check, which
// continues when its caller has left.
func (r *readiness) check(ctx context.Context, cfg Config) (status api.HealthStatus, checks map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := cfg.Now(); !now.Before(r.until) {
		r.checks = cfg.Ready(context.WithoutCancel(ctx))
		r.until = now.Add(readyTTL)
		r.logChange(ctx, cfg)
	}
	status, checks = api.Ok, map[string]string{}
	for _, d := range r.checks {
		part, word := strings.ReplaceAll(d.Part, " ", "_"), api.Ok
		switch {
		case !d.Safe():
			word, status = api.Unavailable, api.Unavailable
		case d.Verdict == flows.Degraded:
			word = api.Degraded
		}
		if word == api.Degraded && status == api.Ok {
			status = api.Degraded
		}
		if checks[part] == "" || word == api.Unavailable || word == api.Degraded && checks[part] == string(api.Ok) {
			checks[part] = string(word)
		}
	}
	return status, checks
}

// logChange logs what is wrong and how to fix it, once for as long as the fix stays the same: a Redis
// may refuse now and hang later.
func (r *readiness) logChange(ctx context.Context, cfg Config) {
	var wrong, lines []string
	for _, check := range r.checks {
		if check.Verdict == flows.OK {
			continue
		}
		line := check.Name() + " is " + string(check.Verdict) + ": " + check.Found
		if check.Fix != "" {
			line += " (" + check.Fix + ")"
		}
		lines = append(lines, line)
		wrong = append(wrong, check.Name()+string(check.Verdict)+check.Fix)
	}
	text := strings.Join(wrong, "; ")
	if text == r.lastLogged {
		return
	}
	r.lastLogged = text
	if text == "" {
		cfg.Log.InfoContext(ctx, "ready again")
	} else {
		cfg.Log.WarnContext(ctx, "dependency check failed", "found", strings.Join(lines, "; "))
	}
}
