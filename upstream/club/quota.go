package club

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// CallLimit is one of the API gateway's limits, from a response; zero: the response has none.
type CallLimit struct {
	Limit, Remaining int
	Reset            time.Time // when all its calls are available again
}

// CallLimits are the limits of the API gateway in front of the club system. It counts the calls of a key, whichever gateway
// makes them.
type CallLimits struct {
	Rate, Quota CallLimit     // of a minute and of a day, usually
	Spike       int           // calls within a slice
	Slice       time.Duration // such as 100 ms
}

// known reports whether there is any limit.
func (l CallLimits) known() bool { return l.Rate.Limit > 0 || l.Quota.Limit > 0 || l.Spike > 0 }

// CallRequest asks for calls to an organisation's club system: how many each lane wants, in the order of Lanes.
type CallRequest struct {
	Organisation string
	Seen         CallLimits // by this gateway, in its latest response; without the rate and the quota once they were passed on
	Wanted       []int
}

// CallGrant is how many of these a lane may make now, and when it may have another one.
type CallGrant struct {
	Calls int
	Wait  time.Duration
}

// maxLimitWait is twice the longest window of the API gateway, a day. A later end has another unit than milliseconds, or is not
// the API gateway's; calls, payments among them, would wait for it.
const maxLimitWait = 48 * time.Hour

// maxSlice is the longest slice of a spike arrest, in milliseconds. A longer one has another unit.
const maxSlice = 60_000

// readReset reads when a limit ends. It reports false without a readable end within maxLimitWait.
func readReset(header http.Header, limit string, now time.Time) (end time.Time, ok bool) {
	milliseconds, err := strconv.ParseInt(header.Get(limit+"-Reset"), 10, 64)
	end = time.UnixMilli(milliseconds)
	return end, err == nil && !end.After(now.Add(maxLimitWait))
}

// readCallLimits returns the limits in a response, without those that lack a number or an end.
func readCallLimits(header http.Header, now time.Time) (limits CallLimits) {
	number := func(name string) int {
		n, _ := strconv.Atoi(header.Get(name)) // 0 if it is not a number
		return n
	}
	limit := func(prefix string) CallLimit {
		remaining, err := strconv.Atoi(header.Get(prefix + "-Remaining"))
		end, ok := readReset(header, prefix, now)
		found := CallLimit{number(prefix + "-Limit"), max(0, remaining), end}
		if err != nil || !ok || found.Limit <= 0 {
			return CallLimit{}
		}
		return found
	}
	limits.Rate, limits.Quota = limit("X-Rate-Limit"), limit("X-Quota")
	slice := number("X-Spike-Arrest-Slice-Period")
	if spike := number("X-Spike-Arrest-Limit"); spike > 0 && slice > 0 && slice <= maxSlice {
		limits.Spike, limits.Slice = spike, time.Duration(slice)*time.Millisecond
	}
	return limits
}

// quota keeps the calls to an organisation's club system below the API gateway's limits. Its callers wait in one queue for each
// lane; one of this gateway's goroutines at a time asks for what all of them want, so that a crowd costs few round trips. Without
// limits in the responses, no caller waits.
type quota struct {
	organisation string
	share        func(context.Context, CallRequest) ([]CallGrant, error) // Config.ShareCalls
	now          func() time.Time
	logger       *slog.Logger

	mu       sync.Mutex
	seen     CallLimits
	passedOn bool        // share has the rate and the quota that were seen, which other gateways may know better by now
	queues   [][]*caller // in the order of Lanes
	held     []int64     // callers that were refused, likewise
	asking   bool
	unshared int64 // calls that were granted while share failed
	failing  bool  // share, at the latest request
}

// caller waits for a call.
type caller struct {
	leaves  time.Time
	granted chan time.Duration // 0, or how long a refused caller has to wait
}

const (
	// maxQuotaWait is how long a caller waits for its call. It leaves most of ReadTimeout, and of a payment's claim, to the call.
	maxQuotaWait = 3 * time.Second
	// minQuotaPause and maxQuotaPause bound the pause before waiting callers ask again.
	minQuotaPause, maxQuotaPause = 20 * time.Millisecond, 100 * time.Millisecond
)

// quota returns the quota of an organisation.
func (c *Client) quota(clientToken string) *quota {
	found, ok := c.quotas.Load(clientToken)
	if !ok {
		found, _ = c.quotas.LoadOrStore(clientToken, &quota{
			organisation: clientToken,
			share:        c.cfg.ShareCalls,
			now:          c.cfg.Now,
			logger:       c.cfg.Logger,
			queues:       make([][]*caller, len(Lanes)),
			held:         make([]int64, len(Lanes)),
		})
	}
	return found.(*quota)
}

// await waits until a request may be sent. Its error is NotSent, and says when to come back.
func (c *Client) await(ctx context.Context, op, organisation string) *Error {
	wait, err := c.quota(organisation).take(ctx, c.lane(ctx))
	if err == nil && wait == 0 {
		return nil
	}
	held := notSent(op, err)
	if err == nil {
		held.Err, held.RetryAfter = ErrBusy, wait
		c.cfg.Logger.WarnContext(ctx, "call held back by the API gateway's limits", "error", held)
	}
	return held
}

// take returns 0 once the caller may make a call, or how long it has to wait if that is too long to wait here.
func (q *quota) take(ctx context.Context, lane Lane) (time.Duration, error) {
	rank := slices.Index(Lanes, lane)
	me := &caller{leaves: q.now().Add(maxQuotaWait), granted: make(chan time.Duration, 1)}
	q.mu.Lock()
	if !q.seen.known() || q.share == nil {
		q.mu.Unlock()
		return 0, nil
	}
	q.queues[rank] = append(q.queues[rank], me)
	if !q.asking {
		q.asking = true
		go q.ask(context.WithoutCancel(ctx)) // others wait for it as well
	}
	q.mu.Unlock()
	select {
	case wait := <-me.granted:
		return wait, nil
	case <-ctx.Done():
		q.mu.Lock()
		defer q.mu.Unlock()
		q.queues[rank] = slices.DeleteFunc(q.queues[rank], func(other *caller) bool { return other == me })
		return 0, ctx.Err()
	}
}

// ask serves the queues until they are empty.
func (q *quota) ask(ctx context.Context) {
	for {
		request, waiting := q.next()
		if !waiting {
			return
		}
		grants, err := q.share(ctx, request)
		if err != nil {
			grants = q.alone(ctx, request, err)
		} else {
			q.tell(request.Seen)
		}
		q.failing = err != nil
		if pause := q.serve(grants); pause > 0 {
			<-time.After(pause)
		}
	}
}

// next returns what all callers want. Without any, the goroutine that asks for them must end.
func (q *quota) next() (request CallRequest, waiting bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	request = CallRequest{Organisation: q.organisation, Seen: q.seen, Wanted: make([]int, len(Lanes))}
	if q.passedOn {
		request.Seen.Rate, request.Seen.Quota = CallLimit{}, CallLimit{}
	}
	for rank, queue := range q.queues {
		request.Wanted[rank] = len(queue)
		waiting = waiting || len(queue) > 0
	}
	q.asking = waiting
	return request, waiting
}

// tell notes that share has what was seen, unless a response has shown something else meanwhile.
func (q *quota) tell(seen CallLimits) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.passedOn = q.passedOn || q.seen == seen
}

// serve gives callers their calls, those first who came first, and refuses those that would have to wait too long. It returns the
// pause before the others ask.
func (q *quota) serve(grants []CallGrant) (pause time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for rank, grant := range grants {
		queue := q.queues[rank]
		served := min(grant.Calls, len(queue)) // some may have left
		for _, caller := range queue[:served] {
			caller.granted <- 0
		}
		q.queues[rank] = slices.DeleteFunc(queue[served:], func(caller *caller) bool {
			refused := now.Add(grant.Wait).After(caller.leaves)
			if refused {
				caller.granted <- max(grant.Wait, time.Second)
				q.held[rank]++
			}
			return refused
		})
		if len(q.queues[rank]) > 0 && (pause == 0 || grant.Wait < pause) {
			pause = min(max(grant.Wait, minQuotaPause), maxQuotaPause)
		}
	}
	return pause
}

// alone grants calls while Redis does not, by what this gateway saw last: payments get what is left, and other lanes half
// of a limit, because other gateways have seen the same.
func (q *quota) alone(ctx context.Context, request CallRequest, cause error) (grants []CallGrant) {
	if !q.failing {
		q.logger.WarnContext(ctx, "calls to the club system not shared with the other gateways; this one counts its own", "error", cause)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for rank, wanted := range request.Wanted {
		grant := CallGrant{Calls: wanted}
		for _, limit := range []CallLimit{q.seen.Rate, q.seen.Quota} {
			left := limit.Remaining
			if Lanes[rank] != Payers {
				left -= limit.Limit / 2
			}
			if wait := limit.Reset.Sub(q.now()); wait > 0 && left < grant.Calls {
				grant = CallGrant{Calls: max(0, left), Wait: wait}
			}
		}
		q.seen.Rate.Remaining -= grant.Calls
		q.seen.Quota.Remaining -= grant.Calls
		q.unshared += int64(grant.Calls)
		grants = append(grants, grant)
	}
	return grants
}

// see keeps the limits in a response. A response without limits ends the quota, unless a limit has not ended yet.
func (q *quota) see(latest CallLimits) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	if latest.known() || !q.seen.Rate.Reset.After(now) && !q.seen.Quota.Reset.After(now) {
		q.seen, q.passedOn = latest, false
	}
}

// CallLimits returns the limits of an organisation's calls that the latest response showed, how many calls of each lane were
// held back, and how many were made without Config.ShareCalls because it failed.
func (c *Client) CallLimits(organisation string) (seen CallLimits, held map[Lane]int64, unshared int64) {
	q := c.quota(organisation)
	q.mu.Lock()
	defer q.mu.Unlock()
	held = map[Lane]int64{}
	for rank, lane := range Lanes {
		held[cmp.Or(lane, "visitors")] = q.held[rank]
	}
	return q.seen, held, q.unshared
}
