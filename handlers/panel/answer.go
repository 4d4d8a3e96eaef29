package panel

import (
	"maps"
	"slices"
	"sync"

	"frontdesk/handlers"
)

const (
	// keptAnswers of each world are what a person scrolls through.
	keptAnswers = 100
	// keptWorlds: tests make a world each; with the answers of a hundred, the
	// whole stays below some MiB.
	keptWorlds = 100
)

// answers are the latest of each world, newest last.
type answers struct {
	mu    sync.Mutex
	known map[string][]handlers.Answer
}

func (a *answers) add(answer handlers.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string][]handlers.Answer{}
	}
	list := a.known[answer.World]
	if len(list) == keptAnswers {
		list = slices.Delete(list, 0, 1) // in place: a copy for each request would be most of mock mode's garbage
	}
	a.known[answer.World] = append(list, answer)
	if len(a.known) > keptWorlds {
		delete(a.known, a.quietest())
	}
}

// quietest is the world that has asked for nothing for the longest time.
func (a *answers) quietest() string {
	latest := func(world string) handlers.Answer { list := a.known[world]; return list[len(list)-1] }
	return slices.MinFunc(slices.Collect(maps.Keys(a.known)), func(one, other string) int {
		return latest(one).At.Compare(latest(other).At)
	})
}

func (a *answers) of(world string) []handlers.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]handlers.Answer{}, a.known[world]...)
}

func (a *answers) forget(world string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, world)
}

func (a *answers) worlds() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, slices.Sorted(maps.Keys(a.known))...)
}
