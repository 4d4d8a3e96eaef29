package cmd

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"frontdesk/flows"
)

// This file prints for people what the operators' edge answers.

func printList(w io.Writer, listed flows.Page, waiting bool) {
	if len(listed.Items) == 0 {
		if waiting {
			fmt.Fprintln(w, "No payment waits for a person.")
		} else {
			fmt.Fprintln(w, "There is no such payment.")
		}
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PAYMENT\tSTATE\tSINCE\tAMOUNT\tSALE\tCONTACT\tREASON")
	for _, p := range listed.Items {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.State, instant(p.Since), flows.Price(p.Amount, p.Currency), p.Sale, or(p.ContactNumber, "-"), p.Reason)
	}
	flush(table)
	if listed.More {
		fmt.Fprintln(w, "There are more; ask for one --state.")
	}
}

func printDecided(w io.Writer, d flows.ResolutionResult) {
	fmt.Fprintf(w, "Payment %s is %s.\n", d.Payment.ID, d.Payment.State)
	for _, warning := range d.Warnings {
		fmt.Fprintln(w, "Warning: "+warning)
	}
}

func printCalibration(w io.Writer, c flows.Calibration) {
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

// printDossier prints what is known of a payment, and what may be done by whoever asks.
func printDossier(w io.Writer, d flows.PaymentDetail, by string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "Payment\t%s\nState\t%s since %s: %s\nAmount\t%s by %s\nSale\t%s\nClub\t%s\nContact number\t%s\nAt the processor\t%s\n",
		d.ID, d.State, instant(d.Since), d.Reason, flows.Price(d.Amount, d.Currency), d.Method, d.Sale, d.Club, or(d.ContactNumber, "-"), atProcessor(d))
	flush(table)
	fmt.Fprintln(w, "\nWhat happened")
	for _, passage := range d.History {
		fmt.Fprintf(table, "  %s\t%s\t%s%s\n", instant(passage.At), passage.State, passage.Reason, decided(passage))
	}
	flush(table)
	if len(d.Journal) > 0 {
		fmt.Fprintln(w, "\nJournal at the processor")
		for _, entry := range d.Journal {
			at := ""
			if entry.At != nil {
				at = instant(*entry.At)
			}
			fmt.Fprintf(table, "  %s\t%s\t%s\n", entry.Key, at, entry.Value)
		}
		flush(table)
	}
	printEvidence(table, d)
	for i, note := range d.Notes {
		if i == 0 {
			fmt.Fprintln(w, "\nNotes")
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", instant(note.At), note.Operator, note.Text)
	}
	flush(table)
	fmt.Fprintln(w, "\nWhat it means")
	for _, paragraph := range d.Advice {
		fmt.Fprintln(w, "  "+paragraph)
	}
	fmt.Fprintln(w, "\nWhat you can do")
	for _, command := range d.Commands {
		fmt.Fprintln(w, "  "+command+" --operator "+by)
	}
}

// printEvidence puts what was seen before the capture and later side by side.
func printEvidence(table *tabwriter.Writer, d flows.PaymentDetail) {
	if d.Snapshot == nil && len(d.Readings) == 0 && d.NextReading == nil {
		return
	}
	fmt.Fprintln(table, "\nEvidence")
	fmt.Fprintln(table, "  READ\tSALE\tTOTAL\tCHECK\tCONTACT\tDEBT")
	line := func(when string, e *flows.Evidence) {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%s\n", when, known(e.SaleState, plain), known(e.Total, amount(d)), known(e.Valid, validity),
			known(e.ContactStatus, plain), known(e.Debt, amount(d)))
	}
	if d.Snapshot != nil {
		line(instant(d.Snapshot.At)+" before the capture", d.Snapshot)
	}
	for _, reading := range d.Readings {
		if reading.Failures > 0 {
			fmt.Fprintf(table, "  %s could not be read, %d in a row\n", instant(reading.At), reading.Failures)
			continue
		}
		line(instant(reading.At), &reading.Evidence)
	}
	if d.NextReading != nil {
		fmt.Fprintf(table, "  %s is the next time\n", instant(*d.NextReading))
	}
	flush(table)
}

// flush prints a table. That nobody reads any more is no reason to complain.
func flush(table *tabwriter.Writer) { _ = table.Flush() }

// known puts a value into words, if there is one.
func known[T any](value *T, text func(T) string) string {
	if value == nil {
		return "not known"
	}
	return text(*value)
}

func plain(text string) string { return text }

func validity(valid bool) string {
	if valid {
		return "valid"
	}
	return "invalid"
}

func amount(d flows.PaymentDetail) func(int64) string {
	return func(of int64) string { return flows.Price(of, d.Currency) }
}

func decided(passage flows.Transition) string {
	text := ""
	if passage.Operator != "" {
		text = " (" + passage.Operator
		if passage.OperatorReason != "" {
			text += ": " + passage.OperatorReason
		}
		text += ")"
	}
	return text
}

func atProcessor(d flows.PaymentDetail) string {
	text := or(d.Processor, "-") + " " + d.ProcessorID
	if at := d.AtProcessor; at != nil {
		text += fmt.Sprintf(": %s, %s taken, %s given back", at.State, flows.Price(at.Captured, d.Currency), flows.Price(at.Refunded, d.Currency))
	}
	if d.Problem != "" {
		text += "; " + d.Problem
	}
	return text
}

func instant(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05Z") }

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
