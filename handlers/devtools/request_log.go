package devtools

import (
	"maps"
	"slices"
	"sync"

	"frontdesk/handlers"
)

const (
	// maxRequests of each world are what a person scrolls through.
	maxRequests = 100
	// maxWorlds: tests make a world each; with the answers of a hundred, the
	// whole stays below some MiB.
	maxWorlds = 100
)

// requestLog are the latest of each world, newest last.
type requestLog struct {
	mu    sync.Mutex
	known map[string][]handlers.RequestInfo
}

func (a *requestLog) add(answer handlers.RequestInfo) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string][]handlers.RequestInfo{}
	}
	list := a.known[answer.World]
	if len(list) == maxRequests {
		list = slices.Delete(list, 0, 1) // in place: a copy for each request would be most of mock mode's garbage
	}
	a.known[answer.World] = append(list, answer)
	if len(a.known) > maxWorlds {
		delete(a.known, a.leastRecent())
	}
}

// leastRecent is the world that has asked for nothing for the longest time.
func (a *requestLog) leastRecent() string {
	latest := func(world string) handlers.RequestInfo { list := a.known[world]; return list[len(list)-1] }
	return slices.MinFunc(slices.Collect(maps.Keys(a.known)), func(one, other string) int {
		return latest(one).At.Compare(latest(other).At)
	})
}

func (a *requestLog) of(world string) []handlers.RequestInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]handlers.RequestInfo{}, a.known[world]...)
}

func (a *requestLog) clear(world string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, world)
}

func (a *requestLog) worlds() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, slices.Sorted(maps.Keys(a.known))...)
}
