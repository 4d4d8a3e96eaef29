package flows

// Verdict says how something was found that a gateway stands on.
type Verdict string

// The verdicts, from good to bad.
const (
	Fine     Verdict = "ok"
	Impaired Verdict = "impaired" // works, and somebody should look at it
	Unsafe   Verdict = "unsafe"   // works, but no real money may rest on it
	Broken   Verdict = "broken"   // does not work
)

// Diagnosis is what was found of one thing that a gateway stands on. It is for
// operators: it may name addresses, and holds no secret.
type Diagnosis struct {
	Part    string  // of what, such as "redis"
	Aspect  string  // what about it, such as "eviction"; empty: that it answers at all
	Verdict Verdict // how it was found
	Seen    string  // what was found
	Remedy  string  // what to do about it; empty where it is fine
}

// Name is part and aspect together.
func (d Diagnosis) Name() string {
	if d.Aspect == "" {
		return d.Part
	}
	return d.Part + " " + d.Aspect
}

// Holds tells whether real money may rest on it.
func (d Diagnosis) Holds() bool { return d.Verdict == Fine || d.Verdict == Impaired }
