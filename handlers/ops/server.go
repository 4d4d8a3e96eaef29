// Package ops is the operators' listener: payments in doubt, statements, invitations, erasures, webhooks,
// mails and queues under /ops, and profiles under /debug/pprof. It serves no visitor. Below /ops each
// request needs an operator's token, because it decides something or reads personal data. In live
// mode /metrics has a listener of its own, so that a scraper reaches nothing else.
//
// Start reading at New for the routes, and at NewMetrics for the metrics. The alert rules are in
// docs/alerts.yaml; docs/runbook.md explains each alert.
package ops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/statements"
	"frontdesk/flows/tracing"
	"frontdesk/handlers"
)

// Config is what the operators' listener needs; every field is required unless noted.
type Config struct {
	Payments      *payment.Machine
	Registrations *registration.Service
	Background    *background.Worker
	Statements    *statements.Service
	Operators     []Operator   // may call what is below /ops
	ClientToken   string       // the organisation at the club system
	PublicURL     string       // where the links of invitations lead
	Metrics       http.Handler // answers a scrape
	// MetricsApart leaves /metrics to the listener of NewMetricsServer (live mode).
	MetricsApart bool
	Traces       trace.TracerProvider // exports the spans of requests; nil: none are exported
	Log          *slog.Logger
}

// Server is the operators' listener as an http.Handler. Below /ops it requires an operator's token,
// and it refuses web pages in operators' browsers.
type Server struct {
	cfg Config
	mux *http.ServeMux
}

// maxBody fits any decision and its reason.
const maxBody = 4 << 10

// redisDown is for operators alone: visitors do not learn of Redis.
const redisDown = "Redis does not answer or refuses to write; frontdesk doctor says which, and FRONTDESK_REDIS_URL says where it should be."

// NewMetricsServer returns a server of /metrics alone. It needs PublicURL, Metrics, Traces and Log.
func NewMetricsServer(cfg Config) *Server {
	s := newServer(cfg)
	s.mux.Handle("GET /metrics", cfg.Metrics)
	return s
}

func newServer(cfg Config) *Server {
	if cfg.Traces == nil {
		cfg.Traces = tracing.IDOnlyProvider()
	}
	return &Server{cfg: cfg, mux: http.NewServeMux()}
}

// New returns a server with all routes of operators.
func New(cfg Config) *Server {
	server := newServer(cfg)
	for pattern, handler := range map[string]handlerFunc{
		"GET /ops/payments":                            server.listPayments,
		"GET /ops/payments/{id}":                       server.showPayment,
		"POST /ops/payments/{id}/confirm-recorded":     withBody(server.confirmRecorded),
		"POST /ops/payments/{id}/confirm-not-recorded": withBody(server.confirmNotRecorded),
		"POST /ops/payments/{id}/end":                  withBody(server.endPayment),
		"POST /ops/payments/{id}/notes":                withBody(server.addNote),
		"POST /ops/payments/calibrate":                 withBody(server.calibrate),
		"POST /ops/invitations":                        withBody(server.invite),
		"POST /ops/erasures":                           withBody(server.erase),
		"GET /ops/confirmations":                       server.listConfirmations,
		"GET /ops/confirmations/{registration}":        server.showConfirmation,
		"POST /ops/confirmations/{registration}/send":  withBody(server.sendConfirmation),
		"POST /ops/confirmations/{registration}/done":  withBody(server.endConfirmation),
		"GET /ops/webhooks":                            server.listDeliveries,
		"GET /ops/webhooks/{id}":                       server.showDelivery,
		"POST /ops/webhooks/{id}/replay":               withBody(server.replayDelivery),
		"POST /ops/subscribers/{name}/replay":          withBody(server.replayDead),
		"POST /ops/subscribers/{name}/enable":          withBody(server.enableSubscriber),
		"GET /ops/queue":                               server.listQueues,
		"GET /ops/mail":                                server.listMails,
		"GET /ops/mail/{id}":                           server.showMail,
		"POST /ops/mail/{id}/replay":                   withBody(server.replayMail),
		"POST /ops/mail/replay":                        withBody(server.replayDeadMails),
		"GET /ops/statements":                          server.listStatements,
		"GET /ops/statements/{id}":                     server.showStatement,
		"POST /ops/statements/{id}/done":               withBody(server.endStatement),
		"POST /ops/statements/{id}/note":               withBody(server.noteStatement),
		"POST /ops/statements/{id}/cancelled":          server.endDoubt(true),
		"POST /ops/statements/{id}/not-cancelled":      server.endDoubt(false),
	} {
		server.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			operator, err := server.identify(r)
			if err != nil {
				w.Header().Set("WWW-Authenticate", `Bearer realm="operators"`)
				server.writeProblem(w, r, err)
				return
			}
			if err := server.checkWorld(r); err != nil {
				server.writeProblem(w, r, err)
				return
			}
			result, err := handler(r, operator)
			if err != nil {
				server.writeProblem(w, r, err)
				return
			}
			server.write(r.Context(), w, http.StatusOK, "application/json", result)
		})
	}
	if !cfg.MetricsApart {
		server.mux.Handle("GET /metrics", cfg.Metrics)
	}
	server.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	server.mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound) // the command line can hold secrets
	server.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	server.mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	server.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return server
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler, pattern := s.mux.Handler(r)
	parent := r.Header.Get(tracing.TraceHeader)
	ctx, span := tracing.StartTrace(r.Context(), s.cfg.Traces, parent, cmp.Or(pattern, "operators"), trace.SpanKindServer)
	defer span.End()
	r = r.WithContext(ctx)
	// A page can send a POST without a preflight, but not one of JSON.
	if !isAddress(r.Host) || r.Header.Get("Origin") != "" || r.Method == http.MethodPost && !isJSON(r) {
		s.writeProblem(w, r, &flows.Error{Code: flows.ForbiddenOrigin, Operator: "Only operators' tools may call this listener: " +
			"by IP address or localhost, without an Origin header, and with application/json in a POST."})
		return
	}
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	refused := &muxRefusal{header: http.Header{}}
	handler.ServeHTTP(refused, r)
	if refused.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", refused.header.Get("Allow"))
		s.writeProblem(w, r, &flows.Error{Code: flows.MethodNotAllowed})
		return
	}
	s.writeProblem(w, r, &flows.Error{Code: flows.NotFound})
}

// checkWorld refuses a request for a world that is not this gateway's: it would act on another organisation.
func (s *Server) checkWorld(r *http.Request) error {
	if world := r.Header.Get("X-Frontdesk-World"); world != "" && world != s.cfg.ClientToken {
		return &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: flows.InHeader + "X-Frontdesk-World",
			Message: "Worlds exist only in mock mode; the name must be demo, or demo- followed by letters, digits, dots, underscores and hyphens."}}}
	}
	return nil
}

// muxRefusal takes the mux's own response, which is not a problem document.
type muxRefusal struct {
	header http.Header
	status int
}

func (f *muxRefusal) Header() http.Header         { return f.header }
func (f *muxRefusal) WriteHeader(status int)      { f.status = status }
func (f *muxRefusal) Write(b []byte) (int, error) { return len(b), nil }

// isAddress reports whether a host is an IP address or localhost. A web page can make any other
// name lead here.
func isAddress(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")) != nil
}

func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// handlerFunc returns a JSON response, or an error for a problem document. operator is the name of
// the caller.
type handlerFunc func(r *http.Request, operator string) (any, error)

// withBody decodes the whole body of a request. Unknown members are an error.
func withBody[T any](handle func(r *http.Request, operator string, in T) (any, error)) handlerFunc {
	return func(r *http.Request, operator string) (any, error) {
		var in T
		body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, flows.BodyTooLarge(tooLarge.Limit >> 10)
		}
		if err != nil {
			return nil, &flows.Error{Code: flows.MalformedRequest, Err: err}
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&in); err != nil {
			return nil, &flows.Error{Code: flows.MalformedRequest, Operator: "The body must be a JSON object with known members only.", Err: err}
		}
		if decoder.More() {
			return nil, &flows.Error{Code: flows.MalformedRequest, Operator: "The body must end after its JSON object."}
		}
		return handle(r, operator, in)
	}
}

func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	problem, retryAfter := handlers.ProblemOf(err, tracing.TraceID(r.Context()))
	problem.Type = s.cfg.PublicURL + problem.Type // this listener has no such page
	switch known, ok := errors.AsType[*flows.Error](err); {
	case ok && known.Operator != "":
		problem.Detail = &known.Operator
	case string(problem.Code) == string(flows.StorageUnavailable) && problem.Detail == nil:
		problem.Detail = new(redisDown)
	}
	if problem.Status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		level := handlers.FailureLevel(problem.Code)
		s.cfg.Log.Log(r.Context(), level, "operator's request failed", "path", r.Pattern, "code", problem.Code, "error", err)
	}
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	s.write(r.Context(), w, problem.Status, "application/problem+json", problem)
}

// write encodes a body before it writes the status.
func (s *Server) write(ctx context.Context, w http.ResponseWriter, status int, kind string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "response not encoded", "error", err)
		status, kind = http.StatusInternalServerError, "application/problem+json"
		text = []byte(`{"title":"Something went wrong","status":500,"code":"internal"}`)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		s.cfg.Log.DebugContext(ctx, "response not delivered", "error", err)
	}
}
