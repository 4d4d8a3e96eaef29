package main

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// redisCounter stands between a gateway and its Redis, passes every byte on, and counts
// commands and round trips. A round trip is what was written before an answer was
// waited for: a pipeline of ten commands is one.
type redisCounter struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	since redisCount
}

// redisCount is what was counted.
type redisCount struct{ commands, trips int }

func newRedisCounter(to string) (*redisCounter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &redisCounter{listener: listener, to: to}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go w.pass(conn)
		}
	}()
	return w, nil
}

func (w *redisCounter) url() string { return "redis://" + w.listener.Addr().String() }

// Kill ends it.
func (w *redisCounter) Kill() { w.listener.Close() }

// take gives what was counted since it was asked last.
func (w *redisCounter) take() redisCount {
	w.mu.Lock()
	defer w.mu.Unlock()
	counted := w.since
	w.since = redisCount{}
	return counted
}

// pass serves one connection of the gateway.
func (w *redisCounter) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		io.Copy(from, to) //nolint:errcheck // the connection ends either way
		from.Close()
	}()
	commands := bufio.NewReaderSize(io.TeeReader(from, to), 1<<20)
	for {
		fresh := commands.Buffered() == 0
		if err := skipCommand(commands); err != nil {
			return
		}
		w.mu.Lock()
		if fresh {
			w.since.trips++
		}
		w.since.commands++
		w.mu.Unlock()
	}
}

// skipCommand reads an array of bulk strings (RESP).
func skipCommand(from *bufio.Reader) error {
	n, err := readLength(from)
	for ; n > 0 && err == nil; n-- {
		var length int
		if length, err = readLength(from); err == nil {
			_, err = from.Discard(length + len("\r\n"))
		}
	}
	return err
}

// readLength reads the line before an array or a string, which is a sign and a number.
func readLength(from *bufio.Reader) (int, error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}
