package main

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// redisCounter is a proxy between a gateway and its Redis that counts commands and round
// trips. A round trip is everything that is written before a response is awaited: a
// pipeline of ten commands is one.
type redisCounter struct {
	url string
	to  string // host and port of Redis

	mu    sync.Mutex
	since redisCount
}

// redisCount is what was counted.
type redisCount struct{ commands, trips int }

func (h *harness) redisCounter(redisURL string) *redisCounter {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	h.must(err)
	h.Cleanup(func() { listener.Close() })
	c := &redisCounter{url: "redis://" + listener.Addr().String(), to: strings.TrimPrefix(redisURL, "redis://")}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go c.forward(conn)
		}
	}()
	return c
}

// take returns what was counted since the last call.
func (c *redisCounter) take() redisCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	counted := c.since
	c.since = redisCount{}
	return counted
}

// forward serves one connection of the gateway. A command is an array of strings (RESP).
func (c *redisCounter) forward(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		io.Copy(from, to)
		from.Close()
	}()
	commands := bufio.NewReaderSize(io.TeeReader(from, to), 1<<20)
	for err == nil {
		newTrip := commands.Buffered() == 0
		var line string
		if line, err = commands.ReadString('\n'); err != nil {
			return
		}
		n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
		if line[0] == '$' { // a string, which is followed by n bytes
			_, err = commands.Discard(n + len("\r\n"))
			continue
		}
		c.mu.Lock()
		c.since.commands++ // an array
		if newTrip {
			c.since.trips++
		}
		c.mu.Unlock()
	}
}
