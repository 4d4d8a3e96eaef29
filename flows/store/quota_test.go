package store_test

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

// TestQuotaByLane: while calls are scarce, each lane leaves some to those above it, and payments get the last one.
func TestQuotaByLane(t *testing.T) { onEach(t, testQuotaByLane) }

func testQuotaByLane(redis *fixture) {
	share := store.ShareCalls(redis.redis)
	minute := func(limit, remaining int) club.CallLimits {
		return club.CallLimits{Rate: club.CallLimit{Limit: limit, Remaining: remaining, Reset: time.Now().Add(time.Minute)}}
	}
	ask := func(organisation string, seen club.CallLimits, lane, wanted int) club.CallGrant {
		redis.Helper()
		request := club.CallRequest{Organisation: organisation, Seen: seen, Wanted: make([]int, len(club.Lanes))}
		request.Wanted[lane] = wanted
		grants, err := share(redis.Context(), request)
		if err != nil {
			redis.Fatal(err)
		}
		return grants[lane]
	}
	total := 0
	for lane := range slices.Backward(club.Lanes) {
		grant := ask("all", minute(100, 100), lane, 200)
		total += grant.Calls
		if least := 9; grant.Calls < least || grant.Wait <= 0 || grant.Wait > time.Minute {
			redis.Errorf("%q gets %d calls, and others after %s", club.Lanes[lane], grant.Calls, grant.Wait)
		}
	}
	if total != 100 {
		redis.Errorf("%d calls of 100 were granted", total)
	}
	if grant := ask("others", minute(100, 0), 0, 1); grant.Calls != 0 || grant.Wait < 50*time.Second {
		redis.Errorf("other users of the key have all calls, and a payment gets %+v", grant)
	}
	spike := club.CallLimits{Spike: 30, Slice: 100 * time.Millisecond}
	if grant := ask("spike", spike, 2, 40); grant.Calls != 5 || grant.Wait <= 0 || grant.Wait > 100*time.Millisecond {
		redis.Errorf("below a spike of 30, visitors get %+v", grant)
	}
	if grant := ask("spike", spike, 0, 40); grant.Calls < 5 || grant.Calls > 10 {
		redis.Errorf("after them, payments get %+v", grant)
	}
	key := quotaKey("unreadable")
	redis.redis.HSet(redis.Context(), key, "rate ends", "9e18", "rate left", "0", "rate limit", "many", "rate began", "-1", "noise", "\x00")
	if grant := ask("unreadable", minute(100, 100), 0, 1); grant.Calls != 1 {
		redis.Errorf("with an unreadable record, a payment gets %+v", grant)
	}
	redis.redis.Set(redis.Context(), quotaKey("foreign"), "of another type", 0)
	if _, err := share(redis.Context(), club.CallRequest{Organisation: "foreign", Wanted: make([]int, len(club.Lanes))}); err == nil {
		redis.Error("a key of another type is not reported")
	}
	if grant := ask("foreign", minute(100, 0), 0, 1); grant.Calls != 0 {
		redis.Errorf("a key of another type was not replaced: %+v", grant)
	}
	if grant := ask("none", club.CallLimits{}, 4, 7); grant.Calls != 7 || grant.Wait != 0 {
		redis.Errorf("without limits: %+v", grant)
	}
}

// TestWrongLimits: neither a limit that a response names by mistake, nor one that the provider raises, nor a clock that is set back, nor
// half a record stops all calls until the end that is named.
func TestWrongLimits(t *testing.T) { onEach(t, testWrongLimits) }

func testWrongLimits(redis *fixture) {
	share := store.ShareCalls(redis.redis)
	left := func(remaining int, ends time.Duration) club.CallLimit {
		return club.CallLimit{Limit: 1000, Remaining: remaining, Reset: time.Now().Add(ends)}
	}
	payments := func(organisation string, seen club.CallLimits) int {
		redis.Helper()
		wanted := make([]int, len(club.Lanes))
		wanted[0] = 9
		grants, err := share(redis.Context(), club.CallRequest{Organisation: organisation, Seen: seen, Wanted: wanted})
		if err != nil {
			redis.Fatal(err)
		}
		return grants[0].Calls
	}
	expect := func(what string, got, want int) {
		redis.Helper()
		if got != want {
			redis.Errorf("%s: %d calls of 9 are granted, want %d", what, got, want)
		}
	}
	none, minute := club.CallLimits{}, club.CallLimits{Rate: left(900, time.Minute)}
	wrong := club.CallLimits{Rate: left(0, 40*time.Hour), Quota: left(0, 40*time.Hour)}
	expect("a response names two days for the minute", payments("rate", club.CallLimits{Rate: wrong.Rate}), 0)
	expect("the next one is right", payments("rate", minute), 9)
	if wait, err := redis.AdmitNewcomer(redis.Context(), "rate", "visitor"); err != nil || wait != 0 {
		redis.Errorf("a newcomer waits %s, %v", wait, err)
	}

	for organisation, limits := range map[string]club.CallLimits{
		"raised":   {Quota: left(500, 40*time.Hour)},
		"used up":  {Quota: left(0, 40*time.Hour)},
		"mistaken": none,
	} {
		expect(organisation+": no call is left", payments(organisation, club.CallLimits{Quota: wrong.Quota}), 0)
		redis.elapse(organisation, 3*time.Minute)
		expect(organisation+": three minutes later", payments(organisation, none), 0)
		redis.elapse(organisation, 2*time.Minute)
		expect(organisation+": after five minutes", payments(organisation, none), 1)
		expect(organisation+": at once", payments(organisation, limits), map[string]int{"raised": 9}[organisation])
		redis.elapse(organisation, 5*time.Minute)
		expect(organisation+": later", payments(organisation, none), map[string]int{"raised": 9, "used up": 1, "mistaken": 9}[organisation])
	}

	spike := club.CallLimits{Spike: 1, Slice: time.Minute}
	payments("spike", spike)
	expect("a slower spike was shown", payments("spike", spike), 0)
	fast := club.CallLimits{Spike: 30, Slice: 100 * time.Millisecond}
	payments("spike", fast)
	redis.elapse("spike", time.Second)
	expect("it was wrong", payments("spike", fast), 9)

	payments("clock", club.CallLimits{Rate: left(0, time.Minute), Spike: 1, Slice: time.Minute})
	redis.elapse("clock", -20*time.Hour)
	expect("the clock of Redis was set back", payments("clock", minute), 9)

	redis.redis.HSet(redis.Context(), quotaKey("half"), "rate ends", time.Now().Add(time.Hour).UnixMilli(), "rate limit", 7)
	if wait, err := redis.AdmitNewcomer(redis.Context(), "half", "visitor"); err != nil || wait != 0 {
		redis.Errorf("with half a record, a newcomer waits %s, %v", wait, err)
	}
	expect("half a record", payments("half", none), 9)
}

func quotaKey(organisation string) string { return "fd:{quota:" + organisation + "}:calls" }

// elapse makes what Redis knows of an organisation's limits as much older.
func (b *fixture) elapse(organisation string, d time.Duration) {
	b.Helper()
	for field, value := range b.redis.HGetAll(b.Context(), quotaKey(organisation)).Val() {
		if ms, err := strconv.ParseFloat(value, 64); err == nil && ms > 1e12 {
			b.redis.HSet(b.Context(), quotaKey(organisation), field, strconv.FormatFloat(ms-float64(d.Milliseconds()), 'f', 3, 64))
		}
	}
}

// TestNewcomersTurns: turns are in the order in which newcomers asked, as far apart as signups are affordable, and kept. That is
// so too if the first minute that the gateways see is nearly over.
func TestNewcomersTurns(t *testing.T) { onEach(t, testNewcomersTurns) }

func testNewcomersTurns(redis *fixture) {
	admit := func(organisation string, who int) time.Duration {
		redis.Helper()
		wait, err := redis.AdmitNewcomer(redis.Context(), organisation, strconv.Itoa(who))
		if err != nil {
			redis.Fatal(err)
		}
		return wait
	}
	for organisation, left := range map[string]time.Duration{"demo": time.Minute, "late": 6 * time.Second} {
		if wait := admit(organisation, 0); wait != 0 {
			redis.Errorf("without limits, a newcomer waits %s", wait)
		}
		const perMinute = 140 // of ten signups
		remaining := int(perMinute * left / time.Minute)
		_, err := store.ShareCalls(redis.redis)(redis.Context(), club.CallRequest{
			Organisation: organisation,
			Seen:         club.CallLimits{Rate: club.CallLimit{Limit: perMinute, Remaining: remaining, Reset: time.Now().Add(left)}},
			Wanted:       make([]int, len(club.Lanes)),
		})
		if err != nil {
			redis.Fatal(err)
		}
		var waits []time.Duration
		for who := 1; who <= 6; who++ {
			waits = append(waits, admit(organisation, who))
		}
		seconds := []float64{0, 0, 7.2, 14.4, 21.6, 28.8} // a fifth more than calls need
		for i, wait := range waits {
			if want := seconds[i]; math.Abs(wait.Seconds()-want) > 1.5 {
				redis.Errorf("%s: newcomer %d waits %s, want about %g s", organisation, i, wait, want)
			}
		}
		if again := admit(organisation, 1); again != 0 {
			redis.Errorf("%s: a newcomer who was admitted waits %s", organisation, again)
		}
		if again := admit(organisation, 6); again > waits[5]+time.Millisecond || again < waits[5]-5*time.Second {
			redis.Errorf("%s: the last one asks again, and waits %s instead of %s", organisation, again, waits[5])
		}
	}
}
