package devtools

import (
	"maps"
	"slices"
	"sync"

	"frontdesk/handlers"
)

const (
	maxRequests = 100 // of each world: as many as a person scrolls through
	maxWorlds   = 100 // each test has its own; a hundred take a few MiB
)

// requestLog keeps the latest requests of each world, newest last.
type requestLog struct {
	mu      sync.Mutex
	byWorld map[string][]handlers.RequestInfo
}

func (l *requestLog) add(request handlers.RequestInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byWorld == nil {
		l.byWorld = map[string][]handlers.RequestInfo{}
	}
	list := l.byWorld[request.World]
	if len(list) == maxRequests {
		list = slices.Delete(list, 0, 1) // in place: a copy for each request would be most of mock mode's garbage
	}
	l.byWorld[request.World] = append(list, request)
	if len(l.byWorld) > maxWorlds {
		delete(l.byWorld, l.leastRecent())
	}
}

func (l *requestLog) leastRecent() string {
	latest := func(world string) handlers.RequestInfo { list := l.byWorld[world]; return list[len(list)-1] }
	return slices.MinFunc(slices.Collect(maps.Keys(l.byWorld)), func(one, other string) int {
		return latest(one).At.Compare(latest(other).At)
	})
}

func (l *requestLog) of(world string) []handlers.RequestInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]handlers.RequestInfo{}, l.byWorld[world]...)
}

func (l *requestLog) clear(world string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byWorld, world)
}

func (l *requestLog) worlds() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, slices.Sorted(maps.Keys(l.byWorld))...)
}
