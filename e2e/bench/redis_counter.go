package main

import (
	"regexp"
	"strings"
	"sync/atomic"

	"frontdesk/e2e/frontdesktest"
)

// redisCounter counts commands and round trips between a gateway and its Redis. A round trip is
// everything written before a response is awaited: a pipeline of ten commands is one.
type redisCounter struct {
	url             string
	commands, trips atomic.Int64
}

// respArray begins each command (RESP).
var respArray = regexp.MustCompile(`(?m)^\*\d+\r$`)

func (h *harness) redisCounter(redisURL string) *redisCounter {
	proxy, c := frontdesktest.NewMessageProxy(h, frontdesktest.Fault{}), &redisCounter{}
	proxy.OnMessage = func(message []byte) {
		c.trips.Add(1)
		c.commands.Add(int64(len(respArray.FindAllIndex(message, -1))))
	}
	c.url = "redis://" + proxy.Forward(strings.TrimPrefix(redisURL, "redis://"))
	return c
}

// take returns what was counted since the last call.
func (c *redisCounter) take() (commands, trips int) {
	return int(c.commands.Swap(0)), int(c.trips.Swap(0))
}
