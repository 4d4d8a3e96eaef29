package catalogue

import "time"

// GuardianRule says which buyers need a guardian, who concludes the contract for them.
type GuardianRule struct {
	Below int `yaml:"below"` // years of age; 0: no buyer needs one
}

func (p *problems) checkGuardian(at string, rule *GuardianRule) {
	p.refuse(rule != nil && (rule.Below < 0 || rule.Below > maxAge), at+".below", "must be from 0 to %d", maxAge)
}

// GuardianBelow is the age in years below which a buyer needs a guardian; 0: no buyer needs one.
func (d Details) GuardianBelow() int {
	if d.Guardian == nil {
		return 0
	}
	return d.Guardian.Below
}

// NeedsGuardian reports whether a buyer with a birth date, YYYY-MM-DD, needs a guardian on the club's day. An unknown one needs none.
func (d Details) NeedsGuardian(birthDate string, now time.Time) bool {
	born, err := time.Parse(time.DateOnly, birthDate)
	return err == nil && d.Today(now).Before(born.AddDate(d.GuardianBelow(), 0, 0))
}
