package flows

// Verdict says how something was found that a gateway stands on.
type Verdict string

// The verdicts, from good to bad.
const (
	OK       Verdict = "ok"
	Degraded Verdict = "degraded" // works, and somebody should look at it
	Unsafe   Verdict = "unsafe"   // works, but no real money may rest on it
	Failed   Verdict = "failed"   // does not work
)

// Check is what was found of one thing that a gateway stands on. It is for
// operators: it may name addresses, and holds no secret.
type Check struct {
	Part    string  // of what, such as "redis"
	Aspect  string  // what about it, such as "eviction"; empty: that it answers at all
	Verdict Verdict // how it was found
	Found   string  // what was found
	Fix     string  // what to do about it; empty where it is fine
}

// Name is part and aspect together.
func (d Check) Name() string {
	if d.Aspect == "" {
		return d.Part
	}
	return d.Part + " " + d.Aspect
}

// Safe tells whether real money may rest on it.
func (d Check) Safe() bool { return d.Verdict == OK || d.Verdict == Degraded }
