package store_test

import (
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
)

// TestBrakeScripts checks what each outcome changes, by the order in which the attempts began and ended.
func TestBrakeScripts(t *testing.T) { onEach(t, testBrakeScripts) }

func testBrakeScripts(redis *fixture) {
	start := time.UnixMilli(1_900_000_000_000)
	type outcome struct {
		payment string
		began   int // seconds after the start; it ends a second later
		result  flows.BrakeResult
		want    flows.BrakeChange
	}
	unknown := func(id string, began int, want flows.BrakeChange) outcome {
		return outcome{id, began, flows.BrakeUnknown, want}
	}
	accepted := func(began int, want flows.BrakeChange) outcome {
		return outcome{"x", began, flows.BrakeAccepted, want}
	}
	engaged := []outcome{unknown("a", 0, ""), unknown("b", 1, ""), unknown("c", 2, flows.BrakeEngaged)}
	row := func(length, began int) (outcomes []outcome) { // of unknown ones
		for n := range length {
			outcomes = append(outcomes, unknown(string(rune('a'+n)), began+n, ""))
		}
		return outcomes
	}
	crowd := func(accepted int) []outcome { // each is repeated
		return slices.Repeat([]outcome{{"x", 0, flows.BrakeAccepted, ""}}, accepted/2)
	}
	for name, test := range map[string]struct {
		outcomes []outcome
		counted  int // by a brake that holds; zero: it does not hold
	}{
		"three unknown":                    {engaged, 3},
		"an accepted one between":          {[]outcome{unknown("a", 0, ""), accepted(1, ""), unknown("c", 2, ""), unknown("d", 3, "")}, 0},
		"three after thirty accepted ones": {slices.Concat(crowd(30), row(2, 1), []outcome{unknown("z", 3, flows.BrakeEngaged)}), 3},
		"three after forty":                {slices.Concat(crowd(40), row(3, 1)), 0},
		"four after forty":                 {slices.Concat(crowd(40), row(3, 1), []outcome{unknown("z", 4, flows.BrakeEngaged)}), 4},
		"nine after a thousand":            {slices.Concat(crowd(1000), row(9, 1)), 0},
		"nine after a thousand, twice":     {slices.Concat(crowd(1000), row(9, 1), []outcome{accepted(10, "")}, row(9, 11)), 0},
		"ten after a thousand":             {slices.Concat(crowd(1000), row(9, 1), []outcome{unknown("z", 10, flows.BrakeEngaged)}), 10},
		"a minute after a thousand":        {slices.Concat(crowd(1000), row(2, 59), []outcome{unknown("z", 61, flows.BrakeEngaged)}), 3},
		"after the probe was accepted": {
			slices.Concat(engaged, []outcome{accepted(4, flows.BrakeReleased)}, row(2, 5), []outcome{unknown("z", 8, flows.BrakeEngaged)}),
			3,
		},
		"one payment three times":              {[]outcome{unknown("a", 0, ""), unknown("a", 1, ""), unknown("a", 2, "")}, 0},
		"one not sent":                         {append([]outcome{{"y", 0, flows.ProbeContinues, ""}}, engaged...), 3},
		"accepted afterwards":                  {append(slices.Clip(engaged), accepted(4, flows.BrakeReleased)), 0},
		"accepted, begun before the brake":     {append(slices.Clip(engaged), accepted(1, "")), 3},
		"unknown, begun before the acceptance": {append([]outcome{accepted(20, "")}, row(12, 0)...), 0},
		"accepted by a clock that was ahead":   {append([]outcome{accepted(90000, "")}, engaged...), 3},
	} {
		last := 0
		for _, o := range test.outcomes {
			if o.began < 1000 {
				last = max(last, o.began)
			}
			now := start.Add(time.Duration(last+1) * time.Second)
			for range 2 { // a repetition, because the first reply was lost, changes nothing but the pace
				change, err := redis.CountOutcome(redis.Context(), flows.BrakeOutcome{
					Organisation:       name,
					Payment:            flows.PaymentID(o.payment),
					Began:              start.Add(time.Duration(o.began) * time.Second),
					Now:                now,
					Result:             o.result,
					MaxUnknown:         3,
					MaxUnknownInCrowd:  10,
					AcceptedPerUnknown: 10,
				})
				if err != nil || change != o.want {
					redis.Errorf("%s: %+v: %q, %v", name, o, change, err)
				}
				o.want = ""
			}
		}
		brakes, err := redis.Brakes(redis.Context())
		i := slices.IndexFunc(brakes, func(held flows.Brake) bool { return held.Organisation == name })
		if err != nil || (i >= 0) != (test.counted > 0) || i >= 0 && brakes[i].Unknown != test.counted {
			redis.Errorf("%s: %+v, %v", name, brakes, err)
		}
	}
}

// TestProbesOfTheBrake checks who passes a brake that holds, and when.
func TestProbesOfTheBrake(t *testing.T) { onEach(t, testProbesOfTheBrake) }

func testProbesOfTheBrake(redis *fixture) {
	now := time.UnixMilli(1_900_000_000_000)
	ask := func(organisation, id string, want time.Duration) {
		redis.Helper()
		left, err := redis.AskBrake(redis.Context(), flows.BrakeRequest{
			Organisation: organisation,
			Payment:      flows.PaymentID(id),
			Now:          now,
			Lease:        2 * time.Minute,
			Pause:        time.Minute,
			MaxPause:     3 * time.Minute,
			MaxWait:      15 * time.Minute,
		})
		if err != nil || left != want {
			redis.Errorf("%s of %s waits %s instead of %s, %v", id, organisation, left, want, err)
		}
	}
	end := func(id string, result flows.BrakeResult) {
		redis.Helper()
		_, err := redis.CountOutcome(redis.Context(), flows.BrakeOutcome{
			Organisation: "demo",
			Payment:      flows.PaymentID(id),
			Began:        now,
			Now:          now,
			Result:       result,
			ProbesUntil:  now.Add(7 * time.Minute),
			MaxUnknown:   3,
		})
		if err != nil {
			redis.Fatal(err)
		}
	}
	ask("demo", "a", 0)
	for _, id := range []string{"a", "b", "c"} {
		end(id, flows.BrakeUnknown)
	}
	ask("other", "z", 0)
	ask("demo", "d", 0)
	ask("demo", "d", 0) // again, as the probe
	ask("demo", "e", 2*time.Minute)
	now = now.Add(2 * time.Minute) // the probe's gateway died
	ask("demo", "e", 0)
	end("d", flows.BrakeUnknown) // too late to count as the probe's
	ask("demo", "f", 2*time.Minute)
	end("e", flows.ProbeContinues)
	ask("demo", "f", 7*time.Minute)
	for _, pause := range []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute, 3 * time.Minute} {
		end("e", flows.BrakeUnknown)
		ask("demo", "f", pause)
		now = now.Add(pause)
		ask("demo", "e", 0)
	}
	now = now.Add(-time.Hour) // as for a gateway whose clock is right, after one whose clock was ahead
	ask("demo", "f", 0)
	end("f", flows.BrakeAccepted)
	ask("demo", "g", 0)
	ask("demo", "h", 0)
}
