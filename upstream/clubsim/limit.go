package clubsim

import (
	"net/http"
	"strconv"
	"time"
)

// CallLimits are the limits of the API gateway in front of the club system. It counts the calls of a world's key: those for
// tokens too, and not those that it refuses. Zero: no such limit.
type CallLimits struct {
	PerMinute int `json:"perMinute"` // from the first call on: X-Rate-Limit
	PerDay    int `json:"perDay"`    // likewise: X-Quota
	PerSlice  int `json:"perSlice"`  // of SliceMs: X-Spike-Arrest
	SliceMs   int `json:"sliceMs"`
}

// callWindow counts the calls of one limit until it ends.
type callWindow struct {
	ends  time.Time
	calls int
}

// callWindows are those of the minute, the day and the slice.
type callWindows struct{ minute, day, slice callWindow }

// open begins the next window if the last one is over, and reports whether there are calls left.
func (w *callWindow) open(now time.Time, limit int, length time.Duration) bool {
	if !now.Before(w.ends) {
		*w = callWindow{ends: now.Add(length)}
	}
	return limit == 0 || w.calls < limit
}

// show writes the headers of a limit. Remaining is left out of those of a spike arrest.
func (w *callWindow) show(header http.Header, name string, limit int, remaining bool) {
	if limit == 0 {
		return
	}
	header.Set(name+"-Limit", strconv.Itoa(limit))
	header.Set(name+"-Reset", strconv.FormatInt(w.ends.UnixMilli(), 10))
	if remaining {
		header.Set(name+"-Remaining", strconv.Itoa(max(0, limit-w.calls)))
	}
}

// overLimit is the kind of the fault that a call meets at a limit. It cannot be set as one.
const overLimit = "over_limit"

// disturb returns what happens to a request, and writes the headers of the limits: what the API gateway does not pass on meets
// no other fault. A nil world has neither limits nor faults.
func (w *World) disturb(header http.Header, method, callPath string) Fault {
	if w != nil && !w.admitCall(header) {
		return Fault{Kind: overLimit, Status: http.StatusTooManyRequests}
	}
	return w.takeFault(func(f *Fault) bool { return f.Match.hitsCall(method, callPath) })
}

// admitCall counts a call, writes the headers of all limits, and reports whether the API gateway passes the call on.
func (w *World) admitCall(header http.Header) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	limits, windows, now := w.settings.CallLimits, &w.calls, w.callersNow()
	slice := time.Duration(limits.SliceMs) * time.Millisecond
	minute := windows.minute.open(now, limits.PerMinute, time.Minute)
	day := windows.day.open(now, limits.PerDay, 24*time.Hour)
	passed := windows.slice.open(now, limits.PerSlice, slice) && minute && day
	for _, window := range []*callWindow{&windows.minute, &windows.day, &windows.slice} {
		if passed {
			window.calls++
		}
	}
	windows.minute.show(header, "X-Rate-Limit", limits.PerMinute, true)
	windows.day.show(header, "X-Quota", limits.PerDay, true)
	if windows.slice.show(header, "X-Spike-Arrest", limits.PerSlice, false); limits.PerSlice > 0 {
		header.Set("X-Spike-Arrest-Slice-Period", strconv.Itoa(limits.SliceMs))
	}
	return passed
}
