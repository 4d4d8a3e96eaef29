package cmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
)

// This file prints payments and erasures as text.

func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// flush prints a table. A reader that has closed its end is not an error.
func flush(table *tabwriter.Writer) { _ = table.Flush() }

// heading begins a part of a table, unless the part has no lines.
func heading(table io.Writer, text string, lines int) {
	if lines > 0 {
		fmt.Fprintln(table, "\n"+text)
	}
}

func instant(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05Z") }

func printPayments(w io.Writer, page payment.Page, state string, all bool) {
	if page.Incomplete {
		defer fmt.Fprintln(w, "Warning: Redis has not been compared with the card processor yet. "+
			"Until then, payments that it lost are missing here.")
	}
	if page.Halted != "" {
		fmt.Fprintf(w, "This gateway advances no payment: %s.\n\n", page.Halted)
	}
	for _, brake := range page.Brakes {
		fmt.Fprintf(w, "The brake of %s has held since %s: %d payments in a row were refused, have an unknown outcome or settled no sale.\n"+
			"Other buyers are not charged: their payments wait (frontdesk payments list --state authorised) and are cancelled after an hour.\n"+
			"Call the club system's provider. One payment at a time is let through, and the first that is recorded releases the brake.\n\n",
			brake.Organisation, instant(brake.Since), brake.Unknown)
	}
	if len(page.Items) == 0 {
		switch {
		case state != "":
			fmt.Fprintf(w, "No payment is in state %s.\n", state)
		case all:
			fmt.Fprintln(w, "There are no payments.")
		default:
			fmt.Fprintln(w, "No payment waits for an operator.")
		}
		return
	}
	table := newTable(w)
	fmt.Fprintln(table, "PAYMENT\tSTATE\tSINCE\tAMOUNT\tSALE\tCONTACT\tREASON")
	for _, listed := range page.Items {
		for _, earlier := range listed.Repeats {
			listed.Reason += "; repeats " + string(earlier)
		}
		if listed.EmailInUse {
			listed.Reason += "; another contact has the buyer's e-mail address"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", listed.ID, cmp.Or(listed.Finding, listed.State), instant(listed.Since),
			flows.Price(listed.Amount, listed.Currency), listed.Sale, cmp.Or(listed.ContactNumber, "-"), listed.Reason)
	}
	flush(table)
	if page.More {
		fmt.Fprintln(w, "There are more; select one --state.")
	}
}

func printDecision(w io.Writer, detail payment.ResolutionResult) {
	fmt.Fprintf(w, "Payment %s is %s.\n", detail.Payment.ID, detail.Payment.State)
	if !detail.Payment.State.Final() {
		fmt.Fprintf(w, "It continues automatically. How it ended: frontdesk payments show %s\n", detail.Payment.ID)
	}
	for _, warning := range detail.Warnings {
		fmt.Fprintln(w, "Warning: "+warning)
	}
}

func printCalibration(w io.Writer, calibration payment.Calibration) {
	fmt.Fprintf(w, "Read again: %d recorded payments, %d that were never paid; %d could not be read.\n",
		calibration.Recorded, calibration.Unpaid, calibration.Failed)
	for _, finding := range calibration.Findings {
		mark := "-"
		if finding.Discriminates {
			mark = "+"
		}
		fmt.Fprintf(w, "  %s %s: %s\n", mark, finding.Signal, finding.Text)
	}
	fmt.Fprintln(w, calibration.Verdict)
}

func printPayment(w io.Writer, detail payment.Detail) {
	table := newTable(w)
	defer flush(table)
	fmt.Fprintf(table, "Payment\t%s\nState\t%s since %s: %s\nAmount\t%s by %s\nSale\t%s\nClub\t%s\nContact number\t%s\nAt the processor\t%s\n",
		detail.ID, detail.State, instant(detail.Since), detail.Reason, flows.Price(detail.Amount, detail.Currency), detail.Method,
		detail.Sale, detail.Club, cmp.Or(detail.ContactNumber, "-"), atProcessor(detail))
	if from := detail.Attribution; from != nil {
		names := []string{from.Source, from.Medium, from.Campaign, from.Content}
		names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
		fmt.Fprintf(table, "Campaign\t%s\n", strings.Join(names, " · "))
	}
	for _, earlier := range detail.Repeats {
		fmt.Fprintf(table, "Repeats\t%s\n", earlier)
	}
	fmt.Fprintln(table, "\nWhat happened")
	for _, transition := range detail.History {
		fmt.Fprintf(table, "  %s\t%s\t%s%s\n", instant(transition.At), transition.State, transition.Reason, decidedBy(transition))
	}
	heading(table, "Journal at the processor (post: a claim to send the request, or to refund; release: the claim given up; "+
		"done: the club system's acceptance; op: a decision)", len(detail.Journal))
	for _, entry := range detail.Journal {
		at := ""
		if entry.At != nil {
			at = instant(*entry.At)
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", entry.Key, at, entry.Value)
	}
	printEvidence(table, detail)
	heading(table, "Notes", len(detail.Notes))
	for _, note := range detail.Notes {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", instant(note.At), note.Operator, note.Text)
	}
	fmt.Fprintln(table, "\nWhat it means")
	for _, paragraph := range detail.Advice {
		fmt.Fprintln(table, "  "+paragraph)
	}
	fmt.Fprintln(table, "\nWhat you can do")
	for _, command := range detail.Commands {
		fmt.Fprintln(table, "  "+command)
	}
}

// printEvidence prints what was read before the capture and later, one line each.
func printEvidence(table io.Writer, detail payment.Detail) {
	if detail.Snapshot == nil && len(detail.Readings) == 0 && detail.NextReading == nil {
		return
	}
	fmt.Fprintln(table, "\nEvidence")
	fmt.Fprintln(table, "  READ\tSALE\tTOTAL\tCHECK\tCONTACT\tDEBT")
	plain := func(text string) string { return text }
	price := func(amount int64) string { return flows.Price(amount, detail.Currency) }
	validity := func(valid bool) string {
		if valid {
			return "valid"
		}
		return "invalid"
	}
	line := func(when string, e *flows.Evidence) {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%s\n", when, known(e.SaleState, plain), known(e.Total, price), known(e.Valid, validity),
			known(e.ContactStatus, plain), known(e.Debt, price))
	}
	if detail.Snapshot != nil {
		line(instant(detail.Snapshot.At)+" before the capture", detail.Snapshot)
	}
	for _, reading := range detail.Readings {
		if reading.Failures > 0 {
			// The empty cells keep the columns.
			fmt.Fprintf(table, "  %s could not be read, %d in a row\t\t\t\t\t\n", instant(reading.At), reading.Failures)
			continue
		}
		line(instant(reading.At), &reading.Evidence)
	}
	if detail.NextReading != nil {
		fmt.Fprintf(table, "  %s next reading\n", instant(*detail.NextReading))
	}
}

func known[T any](value *T, format func(T) string) string {
	if value == nil {
		return "not known"
	}
	return format(*value)
}

// decidedBy is the operator behind a transition, and their reason; empty for the machine.
func decidedBy(transition flows.Transition) string {
	switch {
	case transition.Operator == "":
		return ""
	case transition.OperatorReason == "":
		return " (" + transition.Operator + ")"
	}
	return " (" + transition.Operator + ": " + transition.OperatorReason + ")"
}

func atProcessor(detail payment.Detail) string {
	text := cmp.Or(detail.Processor, "-") + " " + detail.ProcessorID
	if at := detail.AtProcessor; at != nil {
		captured, refunded := flows.Price(at.Captured, detail.Currency), flows.Price(at.Refunded, detail.Currency)
		text += fmt.Sprintf(": %s, %s captured, %s refunded", at.State, captured, refunded)
	}
	if detail.Problem != "" {
		text += "; " + detail.Problem
	}
	return text
}

func printErasure(w io.Writer, report registration.ErasureReport) {
	table := newTable(w)
	if len(report.Erased) == 0 {
		fmt.Fprintln(table, "Nothing was found that could be erased.")
	}
	for _, item := range report.Erased {
		fmt.Fprintf(table, "Erased\t%s\t%s\n", cmp.Or(item.Registration, "-"), item.What)
	}
	for _, item := range report.Kept {
		word := "Kept"
		if item.Deferred {
			word = "Deferred"
		}
		fmt.Fprintf(table, "%s\t%s\t%s: %s\n", word, cmp.Or(item.Registration, item.Statement, "-"), item.What, item.Why)
	}
	for _, item := range report.Unread {
		fmt.Fprintf(table, "Unread\t%s\t%s\n", cmp.Or(item.Registration, "-"), item.Why)
	}
	for _, system := range report.Elsewhere {
		fmt.Fprintf(table, "Elsewhere\t-\t%s\n", system)
	}
	flush(table)
}
