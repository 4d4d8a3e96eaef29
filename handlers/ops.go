package handlers

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
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/api"
	"frontdesk/flows"
)

// OpsConfig is what the operators' edge needs; every field is required unless said.
type OpsConfig struct {
	Payments    *flows.Machine
	Contacts    *flows.Contacts
	Eraser      *flows.Eraser
	Relay       *flows.Relay
	Queue       *flows.Queue
	ClientToken string               // the organisation at the club system
	Worlds      bool                 // X-Frontdesk-World may name another demo world (mock mode)
	PublicURL   string               // where the links of invitations lead
	Metrics     http.Handler         // answers a scrape
	Traces      trace.TracerProvider // keeps the spans of requests; nil: none are kept
	Log         *slog.Logger
}

// Ops is the operators' edge: payments, invitations, webhooks and queues, to be served on a
// listener that only operators reach. It asks nobody who they are, so it defends itself against the
// one stranger on a trusted machine, a web page in a browser.
type Ops struct {
	cfg OpsConfig
	mux *http.ServeMux
}

// maxOpsBody is ample for a decision and its reason.
const maxOpsBody = 4 << 10

// operatorProblems are the meanings of the codes that operators alone meet.
var operatorProblems = map[flows.Code]problemKind{
	flows.NotDecidable: {http.StatusConflict, api.ProblemRetryNever, "The decision is not possible"},
	flows.TooEarly:     {http.StatusConflict, api.ProblemRetryAfter, "The decision is not possible yet"},
}

// redisDown is for operators; visitors are not told what stands behind.
const redisDown = "Redis does not answer; frontdesk doctor says more, and FRONTDESK_REDIS_URL says where it should be."

// NewOps puts the operators' edge together.
func NewOps(cfg OpsConfig) *Ops {
	if cfg.Traces == nil {
		cfg.Traces = flows.IDOnlyProvider()
	}
	o := &Ops{cfg: cfg, mux: http.NewServeMux()}
	for pattern, answer := range map[string]func(*http.Request) (any, error){
		"GET /ops/payments":                            o.list,
		"GET /ops/payments/{id}":                       o.show,
		"POST /ops/payments/{id}/confirm-recorded":     o.confirmRecorded,
		"POST /ops/payments/{id}/confirm-not-recorded": o.confirmNotRecorded,
		"POST /ops/payments/{id}/notes":                o.note,
		"POST /ops/payments/calibrate":                 o.calibrate,
		"POST /ops/invitations":                        o.invite,
		"POST /ops/erasures":                           o.erase,
		"GET /ops/webhooks":                            o.listDeliveries,
		"GET /ops/webhooks/{id}":                       o.showDelivery,
		"POST /ops/webhooks/{id}/replay":               o.replayDelivery,
		"POST /ops/subscribers/{name}/replay":          o.replayDead,
		"POST /ops/subscribers/{name}/enable":          o.enableSubscriber,
		"GET /ops/queue":                               o.queues,
	} {
		o.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			result, err := answer(r)
			if err != nil {
				o.problem(w, r, err)
				return
			}
			o.write(r.Context(), w, http.StatusOK, "application/json", result)
		})
	}
	o.mountDebug()
	return o
}

// ServeHTTP serves one request.
func (o *Ops) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler, pattern := o.mux.Handler(r)
	ctx, span := flows.StartTrace(r.Context(), o.cfg.Traces, r.Header.Get(flows.TraceHeader), operatorSpan(pattern), trace.SpanKindServer)
	defer span.End()
	r = r.WithContext(ctx)
	// A page can send a POST without being asked first, but not one of JSON.
	if !isAddress(r.Host) || r.Header.Get("Origin") != "" || r.Method == http.MethodPost && !isJSON(r) {
		o.problem(w, r, &flows.Error{Code: flows.ForbiddenOrigin, Detail: "This is for operators' tools, which call it by address or localhost and send application/json; a page in a browser does not."})
		return
	}
	if pattern != "" {
		o.mux.ServeHTTP(w, r)
		return
	}
	refused := &muxRefusal{header: http.Header{}}
	handler.ServeHTTP(refused, r)
	if refused.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", refused.header.Get("Allow"))
		o.problem(w, r, &flows.Error{Code: flows.MethodNotAllowed})
		return
	}
	o.problem(w, r, &flows.Error{Code: flows.NotFound})
}

// operatorSpan names a request in its trace: the route, or that it is none.
func operatorSpan(pattern string) string { return cmp.Or(pattern, "operators") }

// muxRefusal takes the mux's own answer, which is not a problem document.
type muxRefusal struct {
	header http.Header
	status int
}

func (f *muxRefusal) Header() http.Header         { return f.header }
func (f *muxRefusal) WriteHeader(status int)      { f.status = status }
func (f *muxRefusal) Write(b []byte) (int, error) { return len(b), nil }

// isAddress tells whether a host is an address or localhost: a name could be one
// that a web page has made to lead here.
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

// decision is what every POST says; each has members of its own beside it.
type decision struct {
	By string `json:"by"`
}

func (o *Ops) list(r *http.Request) (any, error) {
	query := r.URL.Query()
	in := flows.ListOptions{State: flows.PaymentState(query.Get("state"))}
	if all := query.Get("all"); all != "" {
		var err error
		if in.All, err = strconv.ParseBool(all); err != nil {
			return nil, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/all", Message: "true or false."}}}
		}
	}
	return o.cfg.Payments.List(r.Context(), in)
}

func (o *Ops) show(r *http.Request) (any, error) {
	return o.cfg.Payments.Show(r.Context(), flows.PaymentID(r.PathValue("id")))
}

func (o *Ops) confirmRecorded(r *http.Request) (any, error) {
	var in struct {
		decision
		Why string `json:"why"`
	}
	if err := bind(r, &in); err != nil {
		return nil, err
	}
	return o.cfg.Payments.ConfirmRecorded(r.Context(), flows.PaymentID(r.PathValue("id")), flows.Decision{Operator: in.By, Reason: in.Why})
}

func (o *Ops) confirmNotRecorded(r *http.Request) (any, error) {
	var in struct {
		decision
		Then flows.Resolution `json:"then"`
		Why  string           `json:"why"`
	}
	if err := bind(r, &in); err != nil {
		return nil, err
	}
	return o.cfg.Payments.ConfirmNotRecorded(r.Context(), flows.PaymentID(r.PathValue("id")), in.Then, flows.Decision{Operator: in.By, Reason: in.Why})
}

func (o *Ops) note(r *http.Request) (any, error) {
	var in struct {
		decision
		Text string `json:"text"`
	}
	if err := bind(r, &in); err != nil {
		return nil, err
	}
	return o.cfg.Payments.AddNote(r.Context(), flows.PaymentID(r.PathValue("id")), in.By, in.Text)
}

func (o *Ops) calibrate(r *http.Request) (any, error) {
	var in decision
	if err := bind(r, &in); err != nil {
		return nil, err
	}
	return o.cfg.Payments.Calibrate(r.Context(), in.By)
}

// bind reads a body, the whole of it and nothing unknown.
func bind(r *http.Request, into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxOpsBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &flows.Error{Code: flows.TooLarge, Detail: "At most 4 KiB are taken.", Err: err}
	case err != nil:
		return &flows.Error{Code: flows.MalformedRequest, Err: err}
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return &flows.Error{Code: flows.MalformedRequest, Detail: "The body is not a JSON object with the members that are known here.", Err: err}
	}
	if decoder.More() {
		return &flows.Error{Code: flows.MalformedRequest, Detail: "The body goes on behind its object."}
	}
	return nil
}

func (o *Ops) problem(w http.ResponseWriter, r *http.Request, err error) {
	problem, retryAfter := problemOf(err, flows.TraceID(r.Context()))
	problem.Type = o.cfg.PublicURL + problem.Type // this listener has no such page
	if problem.Code == api.StorageUnavailable && problem.Detail == nil {
		detail := redisDown
		problem.Detail = &detail
	}
	if problem.Status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		o.cfg.Log.ErrorContext(r.Context(), "operator's request failed", "path", r.Pattern, "code", problem.Code, "error", err)
	}
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	o.write(r.Context(), w, problem.Status, "application/problem+json", problem)
}

// write encodes before it says how it went.
func (o *Ops) write(ctx context.Context, w http.ResponseWriter, status int, kind string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		o.cfg.Log.ErrorContext(ctx, "answer not encoded", "error", err)
		status, kind, text = http.StatusInternalServerError, "application/problem+json", []byte(`{"title":"Something went wrong","status":500,"code":"internal"}`)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		o.cfg.Log.DebugContext(ctx, "answer not delivered", "error", err)
	}
}
