package catalogue

import (
	"cmp"
	"time"
)

// CancellationTerms are what a club says about cancellations.
type CancellationTerms struct {
	Effects Text   `yaml:"effects"` // what a cancellation does, and until when
	Motive  string `yaml:"motive"`  // the club system's, with which members leave online; empty: one that says nothing about why, or none
}

// Proofs is where members send proofs of their reason for an extraordinary cancellation.
type Proofs struct {
	Email string `yaml:"email"`
}

// LocalTime returns an instant in the time zone of the club, in UTC if it is not known.
func (d Details) LocalTime(at time.Time) time.Time { return at.In(cmp.Or(d.zone, time.UTC)) }

// EndOf returns when a day, YYYY-MM-DD, ends at the club, in the last time zone if its own is not known; zero for no day.
func (d Details) EndOf(day string) time.Time {
	midnight, err := time.ParseInLocation(time.DateOnly, day, cmp.Or(d.zone, lastTimeZone))
	if err != nil {
		return time.Time{}
	}
	return midnight.AddDate(0, 0, 1)
}

// orStatements returns details with what acknowledgements say, where they lack it, from others.
func (d Details) orStatements(other Details) Details {
	if d.Cancellation.Effects == nil {
		d.Cancellation.Effects = other.Cancellation.Effects
	}
	d.Cancellation.Motive = cmp.Or(d.Cancellation.Motive, other.Cancellation.Motive)
	d.Proofs.Email = cmp.Or(d.Proofs.Email, other.Proofs.Email)
	return d
}

// maxEffects bounds what a cancellation does, in characters.
const maxEffects = 2000

func (p *problems) checkStatements(at string, details Details) {
	for tag, effects := range details.Cancellation.Effects {
		at := at + ".cancellation.effects"
		p.checkForm(at, tag, tags, "a language such as en")
		p.refuse(effects == "" || len([]rune(effects)) > maxEffects, at, "must have 1 to %d characters", maxEffects)
	}
	p.refuse(len(details.Cancellation.Effects) > 1 && details.Cancellation.Effects["en"] == "", at+".cancellation.effects",
		"must have en among its languages")
	p.checkContact(at+".proofs", "", details.Proofs.Email)
}
