package flows

import "strings"

// Verdict is the result of a check of something that a gateway depends on.
type Verdict string

// The verdicts, from good to bad.
const (
	OK       Verdict = "ok"
	Degraded Verdict = "degraded" // works, but needs attention
	Unsafe   Verdict = "unsafe"   // works, but not safely enough for real money
	Failed   Verdict = "failed"   // does not work
)

// Check is what was found about one dependency of a gateway. It is for operators: it may name
// addresses and holds no secret.
type Check struct {
	Part    string // such as "redis"
	Aspect  string // such as "eviction"; empty: that it answers at all
	Verdict Verdict
	Found   string
	Fix     string // what to do; empty if nothing
}

// Name is part and aspect together.
func (c Check) Name() string { return strings.TrimSpace(c.Part + " " + c.Aspect) }

// Safe reports whether real money may depend on it.
func (c Check) Safe() bool { return c.Verdict == OK || c.Verdict == Degraded }
