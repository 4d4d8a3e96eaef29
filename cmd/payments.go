package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"frontdesk/flows"
)

// This file is what operators have of Frontdesk: the listener that only they
// reach, and the command about payments that speaks to it. The one about
// invitations is in invite.go.

// defaultOpsAddr is where a gateway listens for operators that was told nothing.
const defaultOpsAddr = "127.0.0.1:9090"

// listenForOperators opens the operators' listener; nil for none. Several gateways
// on a developer's machine share the default: the first one serves.
func (cfg *Config) listenForOperators(log *slog.Logger) (net.Listener, error) {
	wanted := cfg.OpsAddr
	cfg.OpsAddr = ""
	if wanted == "off" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", wanted)
	switch {
	case err == nil:
		cfg.OpsAddr = listener.Addr().String()
		log.Info("operators are served", "address", cfg.OpsAddr)
		return listener, nil
	case cfg.Mode != "live" && wanted == defaultOpsAddr && errors.Is(err, syscall.EADDRINUSE):
		log.Warn("operators are not served by this gateway: the address is taken, set FRONTDESK_OPS_ADDR to another", "address", wanted)
		return nil, nil
	default:
		return nil, fmt.Errorf("FRONTDESK_OPS_ADDR: %w", err)
	}
}

type paymentsCommand struct {
	OpsAddr string `help:"Where the gateway serves operators." default:"127.0.0.1:9090" env:"FRONTDESK_OPS_ADDR"`
	JSON    bool   `help:"Print JSON." name:"json"`

	List               listCommand               `cmd:"" help:"List the payments that wait for a person: in doubt, or blocked."`
	Show               showCommand               `cmd:"" help:"Show all that is known of a payment, and what may be done."`
	ConfirmRecorded    confirmRecordedCommand    `cmd:"" help:"Say that the club system holds the payment: you have seen it there."`
	ConfirmNotRecorded confirmNotRecordedCommand `cmd:"" help:"Say that the club system does not hold the payment: you have made sure."`
	Note               noteCommand               `cmd:"" help:"Leave a note about a payment, in any state."`
	Calibrate          calibrateCommand          `cmd:"" help:"Find by which evidence recorded payments can be told from others, and use it from now on."`
}

type listCommand struct {
	State string `help:"Only payments in this state, such as in_doubt."`
	All   bool   `help:"Payments in every state."`
}

type showCommand struct {
	ID       string `arg:"" help:"The payment."`
	Operator string `help:"Who you are: your login name, for the commands that are printed." env:"USER" default:"${operator}"`
}

// decision is who decides, and why.
type decision struct {
	Operator string `help:"Who you are: your login name." env:"USER" default:"${operator}"`
	Reason   string `help:"Why, in a few words; no names of customers."`
}

type confirmRecordedCommand struct {
	ID string `arg:"" help:"The payment."`
	decision
}

type confirmNotRecordedCommand struct {
	ID        string `arg:"" help:"The payment."`
	SendAgain bool   `help:"Record it again, under a new claim." xor:"then" required:""`
	Refund    bool   `help:"Give the buyer the money back." xor:"then" required:""`
	Cancel    bool   `help:"Give it up; for payments without a card processor." xor:"then" required:""`
	decision
}

type noteCommand struct {
	ID       string `arg:"" help:"The payment."`
	Text     string `arg:"" help:"What you found; no names of customers."`
	Operator string `help:"Who you are: your login name." env:"USER" default:"${operator}"`
}

type calibrateCommand struct {
	Operator string `help:"Who you are: your login name." env:"USER" default:"${operator}"`
}

// Run lists payments.
func (c *listCommand) Run(ctx context.Context, all *paymentsCommand) error {
	query := url.Values{}
	if c.State != "" {
		query.Set("state", c.State)
	}
	if c.All {
		query.Set("all", "true")
	}
	return callPayments(ctx, all, http.MethodGet, "?"+query.Encode(), nil, func(w io.Writer, listed flows.Page) { printList(w, listed, c.State == "" && !c.All) })
}

// Run shows a payment.
func (c *showCommand) Run(ctx context.Context, all *paymentsCommand) error {
	return callPayments(ctx, all, http.MethodGet, "/"+url.PathEscape(c.ID), nil, func(w io.Writer, d flows.PaymentDetail) { printDossier(w, d, c.Operator) })
}

// Run says that a payment is recorded.
func (c *confirmRecordedCommand) Run(ctx context.Context, all *paymentsCommand) error {
	return callPayments(ctx, all, http.MethodPost, "/"+url.PathEscape(c.ID)+"/confirm-recorded", map[string]string{"by": c.Operator, "why": c.Reason}, printDecided)
}

// Run says that a payment is not recorded.
func (c *confirmNotRecordedCommand) Run(ctx context.Context, all *paymentsCommand) error {
	then := flows.SendAgain
	switch {
	case c.Refund:
		then = flows.Refund
	case c.Cancel:
		then = flows.GiveUp
	}
	return callPayments(ctx, all, http.MethodPost, "/"+url.PathEscape(c.ID)+"/confirm-not-recorded",
		map[string]string{"by": c.Operator, "why": c.Reason, "then": string(then)}, printDecided)
}

// Run leaves a note.
func (c *noteCommand) Run(ctx context.Context, all *paymentsCommand) error {
	return callPayments(ctx, all, http.MethodPost, "/"+url.PathEscape(c.ID)+"/notes", map[string]string{"by": c.Operator, "text": c.Text},
		func(w io.Writer, note flows.Note) { fmt.Fprintf(w, "Noted at %s.\n", instant(note.At)) })
}

// Run calibrates.
func (c *calibrateCommand) Run(ctx context.Context, all *paymentsCommand) error {
	return callPayments(ctx, all, http.MethodPost, "/calibrate", map[string]string{"by": c.Operator}, printCalibration)
}

// opsTimeout is above the longest answer, that of the calibration.
const opsTimeout = 100 * time.Second

// callPayments calls the gateway about payments, and prints the answer for people or as it is.
func callPayments[T any](ctx context.Context, c *paymentsCommand, method, path string, body any, show func(io.Writer, T)) error {
	return callOps(ctx, c.OpsAddr, c.JSON, method, "/ops/payments"+path, body, show)
}

// requestOps calls the operators' edge of a running gateway.
func requestOps(ctx context.Context, opsAddr, method, path string, body any, headers ...[2]string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, opsTimeout)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+reachable(opsAddr)+path, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("FRONTDESK_OPS_ADDR: %q is no address and port", opsAddr)
	}
	for _, header := range headers {
		request.Header.Set(header[0], header[1])
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request) // no proxy stands before one's own machine
	if err != nil {
		if method == http.MethodGet || errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("no Frontdesk at %s: is it running? (FRONTDESK_OPS_ADDR or --ops-addr says where)", opsAddr)
		}
		return nil, fmt.Errorf("no answer from Frontdesk at %s: find out what came of it before you try again", opsAddr)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer of Frontdesk at %s broke off", opsAddr)
	case response.StatusCode != http.StatusOK:
		return nil, problemError(opsAddr, answer)
	}
	return answer, nil
}

// reachable completes the address of a listener that listens everywhere.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// problemError puts a problem document into a line or a few.
func problemError(address string, body []byte) error {
	var problem struct {
		Title, Detail string
		Errors        []struct{ Pointer, Message string }
	}
	if json.Unmarshal(body, &problem) != nil || problem.Title == "" {
		return fmt.Errorf("what answers at %s is no Frontdesk", address)
	}
	text := problem.Title
	if problem.Detail != "" {
		text += ": " + problem.Detail
	}
	for _, field := range problem.Errors {
		text += "\n  " + strings.TrimPrefix(field.Pointer, "/") + ": " + field.Message
	}
	return errors.New(text)
}
