package clubsim

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"frontdesk/upstream/inspector"
)

// presets are faults that one click adds: the failures that an integration must survive first.
var presets = []struct {
	label string
	fault Fault
}{
	{"Next payment: done, then the connection is cut", Fault{Match: paymentRequest, Kind: "drop_after", Times: new(1)}},
	{"Next payment: done, then 500", Fault{Match: paymentRequest, Kind: "error_after", Times: new(1)}},
	{"Next payment: 503, nothing done", Fault{Match: paymentRequest, Kind: "error_before", Times: new(1)}},
	{"Next payment: done, garbage comes back", Fault{Match: paymentRequest, Kind: "malformed", Times: new(1)}},
	{"Next payment: a firewall's page with 200, nothing done", Fault{Match: paymentRequest, Kind: "foreign_page", Times: new(1)}},
	{"Catalogue: 429", Fault{Match: FaultMatch{Method: "GET", Path: "/products"}, Kind: "too_many"}},
	{"Next call: 401", Fault{Kind: "unauthorized_once"}},
	{"Everything two seconds slower", Fault{Kind: "delay", DelayMs: 2000}},
	{"Next cancellation: done, then the connection is cut", Fault{Match: cancellationRequest, Kind: "drop_after", Times: new(1)}},
}

var (
	paymentRequest      = FaultMatch{Method: "POST", Path: "/sales/*/payments"}
	cancellationRequest = FaultMatch{Method: "POST", Path: "/subscriptions/*/online_cancellation"}
)

func (w *World) serveInspector(rw http.ResponseWriter, req *httpRequest) {
	if len(req.path) == 2 { // /{world}/_control: the page's links are relative to the directory
		writeResponse(rw, httpResponse{status: http.StatusFound, header: http.Header{"Location": {"_control/"}}})
		return
	}
	problem := ""
	switch req.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		err := w.runAction(req)
		if err == nil {
			writeResponse(rw, httpResponse{status: http.StatusSeeOther, header: http.Header{"Location": {"./"}}})
			return
		}
		problem = err.Error()
	default:
		writeResponse(rw, unknownControl(""))
		return
	}
	var page bytes.Buffer
	_ = w.inspectorPage(problem).Render(&page) // a buffer accepts every write
	writeResponse(rw, httpResponse{status: http.StatusOK, body: page.Bytes(), header: http.Header{
		"Content-Type":            {"text/html; charset=utf-8"},
		"Content-Security-Policy": {inspector.ContentSecurityPolicy},
	}})
}

func (w *World) runAction(req *httpRequest) error {
	fields, err := url.ParseQuery(string(req.body))
	if err != nil {
		return err
	}
	switch fields.Get("do") {
	case "reset":
		w.Reset()
		return nil
	case "clear":
		return w.SetFaults(nil)
	case "preset":
		n, err := strconv.Atoi(fields.Get("preset"))
		if err == nil && n >= 0 && n < len(presets) {
			return w.addFault(presets[n].fault)
		}
		return fmt.Errorf("unknown preset %q", fields.Get("preset"))
	case "fault":
		f, err := parseFault(fields)
		if err != nil {
			return err
		}
		return w.addFault(f)
	case "advance":
		_, err := putClock(w, &httpRequest{body: encode(Clock{Advance: fields.Get("by")})})
		return err
	case "settings":
		return w.Configure(func(s *Settings) {
			s.ProductionMode, s.AskRepeats = fields.Get("productionMode") == "on", fields.Get("askRepeats") == "on"
			s.OnlineCancellation = fields.Get("onlineCancellation") == "on"
			s.NetworkNodeShape = fields.Get("networkNodeShape")
			s.Webhooks, s.WebhookURL = fields.Get("webhooks"), fields.Get("webhookUrl")
		})
	}
	return fmt.Errorf("unknown action %q", fields.Get("do"))
}

// parseFault reads the form of a fault.
func parseFault(fields url.Values) (Fault, error) {
	fault := Fault{Match: FaultMatch{Method: fields.Get("method"), Path: fields.Get("path")}, Kind: fields.Get("kind")}
	if fields.Get("times") != "" {
		fault.Times = new(int)
	}
	for _, number := range []struct {
		name string
		to   *int
	}{{"status", &fault.Status}, {"delayMs", &fault.DelayMs}, {"times", fault.Times}} {
		text := fields.Get(number.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return Fault{}, fmt.Errorf("%s: %q is not a number", number.name, text)
		}
		*number.to = n
	}
	return fault, nil
}
