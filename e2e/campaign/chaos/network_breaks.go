package chaos

import (
	"io"
	"net"
	"sync"
	"time"
)

// How far into a direction a break can happen: a little further than its messages
// are long, so that the last byte is among them. With TLS the handshake comes first.
const (
	requestBytes = 1300
	answerBytes  = 1300
	// handshakeBytes is about what each side of a TLS handshake says.
	handshakeBytes = 1600
)

// The paces of a slow network: one that is done within the time of a POST, and one that
// is not.
const (
	slowPiece, slowPause  = 64, 2 * time.Millisecond
	crawlPiece, crawlStop = 96, 40 * time.Millisecond
)

// breaks are all ways to break a connection.
var breaks = []fault{
	{"reset in the request", requestBytes, func(x *exchange) { x.inRequest(reset, reset) }},
	{"closed in the request", requestBytes, func(x *exchange) { x.inRequest(hangUp, hangUp) }},
	{"reset for the client alone, in the request", requestBytes, func(x *exchange) { x.inRequest(reset, nothing) }},
	{"half closed in the request", requestBytes, func(x *exchange) { x.inRequest(nothing, half) }},
	{"reset in the answer", answerBytes, func(x *exchange) { x.inAnswer(reset, reset) }},
	{"closed in the answer", answerBytes, func(x *exchange) { x.inAnswer(hangUp, hangUp) }},
	{"half closed in the answer", answerBytes, func(x *exchange) { x.inAnswer(half, nothing) }},
	{"request swallowed", 0, (*exchange).swallowRequest},
	{"request swallowed from a byte on", requestBytes, func(x *exchange) { x.inRequest(nothing, nothing) }},
	{"answer swallowed", 0, func(x *exchange) { x.swallowAnswer(nil) }},
	{"answer swallowed from a byte on", answerBytes, func(x *exchange) { x.inAnswer(nothing, nothing) }},
	{"slow request", 0, func(x *exchange) { x.slowly(slowPiece, slowPause, 0, 0) }},
	{"slow answer", 0, func(x *exchange) { x.slowly(0, 0, slowPiece, slowPause) }},
	{"request too slow", 0, func(x *exchange) { x.slowly(crawlPiece, crawlStop, 0, 0) }},
	{"answer too slow", 0, func(x *exchange) { x.slowly(0, 0, crawlPiece, crawlStop) }},
	{"garbage for an answer", 0, func(x *exchange) { x.swallowAnswer([]byte("\x16\x03\x00 no language \xff of ours\r\n\r\n")) }},
	{"garbage after the status", 0, func(x *exchange) { x.swallowAnswer([]byte("HTTP/1.1 503 \xff\xfe\r\nContent-Length: x\r\n: \r\n\r\n")) }},
	{"garbage before the request", 0, (*exchange).garble},
}

// An end is what becomes of one side of a connection.
type end func(*net.TCPConn)

func reset(c *net.TCPConn) {
	c.SetLinger(0)
	c.Close()
}

func hangUp(c *net.TCPConn) { c.Close() }
func half(c *net.TCPConn)   { c.CloseWrite() }
func nothing(*net.TCPConn)  {}

// inRequest passes the request up to a byte and then ends the sides. The answer passes
// while it can.
func (x *exchange) inRequest(client, server end) {
	var back sync.WaitGroup
	back.Go(func() { x.answer(-1, 0, 0); x.client.CloseWrite() })
	if x.request(x.plan.at, 0, 0) {
		x.plan.broke.Store(true)
		client(x.client)
		server(x.server)
		x.drain(x.client)
	}
	x.server.CloseWrite()
	back.Wait()
}

// inAnswer passes the request, and the answer up to a byte.
func (x *exchange) inAnswer(client, server end) {
	left := x.untilLeft()
	if x.answer(x.plan.at, 0, 0) {
		x.plan.broke.Store(true)
		client(x.client)
		server(x.server)
		x.drain(x.server)
	} else {
		x.client.CloseWrite()
	}
	left.Wait()
}

// untilLeft passes the request for as long as the client is there, and then lets the
// server know.
func (x *exchange) untilLeft() *sync.WaitGroup {
	left := &sync.WaitGroup{}
	left.Go(func() {
		x.request(-1, 0, 0)
		x.server.Close()
	})
	return left
}

// swallowRequest takes everything and passes nothing.
func (x *exchange) swallowRequest() {
	x.plan.broke.Store(true)
	shovel(io.Discard, x.client, -1, 0, 0, func(n int) {
		if !x.line.secure {
			x.line.seen.Add(int64(n))
		}
	})
}

// swallowAnswer passes the request, and something else or nothing for an answer.
func (x *exchange) swallowAnswer(instead []byte) {
	left := x.untilLeft()
	first := make([]byte, 1)
	if _, err := x.server.Read(first); err == nil {
		x.plan.broke.Store(true)
		if instead != nil {
			x.client.Write(instead)
			x.client.CloseWrite()
		}
		x.drain(x.server)
	}
	left.Wait()
}

// slowly passes everything in pieces.
func (x *exchange) slowly(there int, pauseThere time.Duration, back int, pauseBack time.Duration) {
	x.plan.broke.Store(true)
	var both sync.WaitGroup
	both.Go(func() { x.request(-1, there, pauseThere); x.server.CloseWrite() })
	both.Go(func() { x.answer(-1, back, pauseBack); x.client.Close() })
	both.Wait()
}

// garble puts something before the request that makes it none.
func (x *exchange) garble() {
	x.plan.broke.Store(true)
	x.server.Write([]byte("\x00\x01 GARBAGE\r\n\r\n"))
	x.pass()
}

// drain takes what still comes on one side, so that its sender notices nothing.
func (x *exchange) drain(side io.Reader) { io.Copy(io.Discard, side) }
