package cmd

import (
	"net"
	"syscall"
	"time"
)

// userTimeout is how long a peer may leave what was sent unacknowledged. Linux alone would repeat it for a quarter of an
// hour: for that long, an event stream would stay open for a phone that has left its network.
const userTimeout = 45 * time.Second

// endWithPeer closes a connection whose peer has vanished, after userTimeout.
func endWithPeer(connection net.Conn) {
	tcp, ok := connection.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // it is closed already
	}
	const tcpUserTimeout = 0x12 // TCP_USER_TIMEOUT of tcp(7), which package syscall lacks
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(userTimeout.Milliseconds())) // #nosec G115 -- a descriptor
	})
}
