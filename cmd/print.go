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
		defer fmt.Fprintln(w, "Warning: Redis has not been compared with the card processor yet. Until then, payments that it lost are missing here.")
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
	for _, p := range page.Items {
		for _, earlier := range p.Repeats {
			p.Reason += "; repeats " + string(earlier)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, cmp.Or(p.Finding, p.State), instant(p.Since),
			flows.Price(p.Amount, p.Currency), p.Sale, cmp.Or(p.ContactNumber, "-"), p.Reason)
	}
	flush(table)
	if page.More {
		fmt.Fprintln(w, "There are more; select one --state.")
	}
}

func printDecision(w io.Writer, d payment.ResolutionResult) {
	fmt.Fprintf(w, "Payment %s is %s.\n", d.Payment.ID, d.Payment.State)
	if !d.Payment.State.Final() {
		fmt.Fprintf(w, "It continues automatically. How it ended: frontdesk payments show %s\n", d.Payment.ID)
	}
	for _, warning := range d.Warnings {
		fmt.Fprintln(w, "Warning: "+warning)
	}
}

func printCalibration(w io.Writer, c payment.Calibration) {
	fmt.Fprintf(w, "Read again: %d recorded payments, %d that were never paid; %d could not be read.\n", c.Recorded, c.Unpaid, c.Failed)
	for _, finding := range c.Findings {
		mark := "-"
		if finding.Discriminates {
			mark = "+"
		}
		fmt.Fprintf(w, "  %s %s: %s\n", mark, finding.Signal, finding.Text)
	}
	fmt.Fprintln(w, c.Verdict)
}

func printPayment(w io.Writer, d payment.Detail) {
	table := newTable(w)
	defer flush(table)
	fmt.Fprintf(table, "Payment\t%s\nState\t%s since %s: %s\nAmount\t%s by %s\nSale\t%s\nClub\t%s\nContact number\t%s\nAt the processor\t%s\n",
		d.ID, d.State, instant(d.Since), d.Reason, flows.Price(d.Amount, d.Currency), d.Method, d.Sale, d.Club, cmp.Or(d.ContactNumber, "-"), atProcessor(d))
	if a := d.Attribution; a != nil {
		fmt.Fprintf(table, "Campaign\t%s\n", strings.Join(slices.DeleteFunc([]string{a.Source, a.Medium, a.Campaign, a.Content}, func(name string) bool { return name == "" }), " · "))
	}
	for _, earlier := range d.Repeats {
		fmt.Fprintf(table, "Repeats\t%s\n", earlier)
	}
	fmt.Fprintln(table, "\nWhat happened")
	for _, transition := range d.History {
		fmt.Fprintf(table, "  %s\t%s\t%s%s\n", instant(transition.At), transition.State, transition.Reason, decidedBy(transition))
	}
	heading(table, "Journal at the processor (post: a claim to send the request, or to refund; release: the claim given up; "+
		"done: the club system's acceptance; op: a decision)", len(d.Journal))
	for _, entry := range d.Journal {
		at := ""
		if entry.At != nil {
			at = instant(*entry.At)
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", entry.Key, at, entry.Value)
	}
	printEvidence(table, d)
	heading(table, "Notes", len(d.Notes))
	for _, note := range d.Notes {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", instant(note.At), note.Operator, note.Text)
	}
	fmt.Fprintln(table, "\nWhat it means")
	for _, paragraph := range d.Advice {
		fmt.Fprintln(table, "  "+paragraph)
	}
	fmt.Fprintln(table, "\nWhat you can do")
	for _, command := range d.Commands {
		fmt.Fprintln(table, "  "+command)
	}
}

// printEvidence prints what was read before the capture and later, one line each.
func printEvidence(table io.Writer, d payment.Detail) {
	if d.Snapshot == nil && len(d.Readings) == 0 && d.NextReading == nil {
		return
	}
	fmt.Fprintln(table, "\nEvidence")
	fmt.Fprintln(table, "  READ\tSALE\tTOTAL\tCHECK\tCONTACT\tDEBT")
	plain := func(text string) string { return text }
	price := func(amount int64) string { return flows.Price(amount, d.Currency) }
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
	if d.Snapshot != nil {
		line(instant(d.Snapshot.At)+" before the capture", d.Snapshot)
	}
	for _, reading := range d.Readings {
		if reading.Failures > 0 {
			fmt.Fprintf(table, "  %s could not be read, %d in a row\t\t\t\t\t\n", instant(reading.At), reading.Failures) // the cells keep the columns
			continue
		}
		line(instant(reading.At), &reading.Evidence)
	}
	if d.NextReading != nil {
		fmt.Fprintf(table, "  %s next reading\n", instant(*d.NextReading))
	}
}

func known[T any](value *T, format func(T) string) string {
	if value == nil {
		return "not known"
	}
	return format(*value)
}

// decidedBy is the operator behind a transition, and their reason; empty for the machine.
func decidedBy(t flows.Transition) string {
	switch {
	case t.Operator == "":
		return ""
	case t.OperatorReason == "":
		return " (" + t.Operator + ")"
	}
	return " (" + t.Operator + ": " + t.OperatorReason + ")"
}

func atProcessor(d payment.Detail) string {
	text := cmp.Or(d.Processor, "-") + " " + d.ProcessorID
	if at := d.AtProcessor; at != nil {
		text += fmt.Sprintf(": %s, %s captured, %s refunded", at.State, flows.Price(at.Captured, d.Currency), flows.Price(at.Refunded, d.Currency))
	}
	if d.Problem != "" {
		text += "; " + d.Problem
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
		fmt.Fprintf(table, "%s\t%s\t%s: %s\n", word, cmp.Or(item.Registration, "-"), item.What, item.Why)
	}
	for _, item := range report.Unread {
		fmt.Fprintf(table, "Unread\t%s\t%s\n", cmp.Or(item.Registration, "-"), item.Why)
	}
	for _, system := range report.Elsewhere {
		fmt.Fprintf(table, "Elsewhere\t-\t%s\n", system)
	}
	flush(table)
}
