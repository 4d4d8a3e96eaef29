package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is one redis-server with its files, which outlive it.
type Redis struct {
	Port  int
	fsync string
	dir   string // of this server; the files are below it
	args  []string
	now   *Process
}

// How a Redis keeps what it acknowledges.
const (
	FsyncAlways   = "always"   // every write is on the disk before it is acknowledged
	FsyncEverySec = "everysec" // a second of acknowledged writes may be lost with the machine
)

// NewRedis starts a redis-server whose files are in a folder of its own below dir.
func NewRedis(ctx context.Context, dir, fsync string, args ...string) (*Redis, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, errors.New("the campaigns need redis-server: apt-get install redis-server, or the like")
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	r := &Redis{Port: port, fsync: fsync, dir: filepath.Join(dir, fmt.Sprintf("redis-%d", port)), args: args}
	return r, r.Start(ctx)
}

// Start starts it on what its files hold, with more arguments than usual if there are any.
func (r *Redis) Start(ctx context.Context, more ...string) (err error) {
	if err := os.MkdirAll(r.files(), 0o700); err != nil {
		return err
	}
	args := []string{"--port", fmt.Sprint(r.Port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", r.fsync,
		"--dir", r.files(), "--repl-diskless-sync-delay", "0"}
	whole := append([]string{"-c", ignoreXFSZ, "redis-server"}, append(append(args, r.args...), more...)...)
	r.now, err = Start(ctx, "Ready to accept connections", nil, "sh", whole...)
	return err
}

// ignoreXFSZ runs a program that is told by an error when it may not write, as on a disk that is
// full, and not by a signal that ends it.
const ignoreXFSZ = `trap "" XFSZ; exec "$0" "$@"`

// FillDisk has its disk full from now on: what it writes to any file fails.
func (r *Redis) FillDisk() error { return r.limitFiles("1:") }

// FreeDisk gives it room again, if it has outlived that.
func (r *Redis) FreeDisk() error { return r.limitFiles("unlimited:") }

// limitFiles sets how long its files may get.
func (r *Redis) limitFiles(limit string) error {
	said, err := exec.Command("prlimit", "--pid", fmt.Sprint(r.now.cmd.Process.Pid), "--fsize="+limit).CombinedOutput()
	if err != nil {
		return fmt.Errorf("prlimit, of Debian's util-linux: %w: %s", err, said)
	}
	return nil
}

// Ended is closed when it is gone, by its own doing or another's.
func (r *Redis) Ended() <-chan struct{} { return r.now.ended }

// Log is the end of what the present or last process has said.
func (r *Redis) Log() string { return r.now.log.String() }

// Kill ends it as a power cut would, but for what the system still writes of its files.
func (r *Redis) Kill() { r.now.Kill() }

// Copy keeps a copy of its files as they are now.
func (r *Redis) Copy() error {
	if err := os.RemoveAll(r.copy()); err != nil {
		return err
	}
	return os.CopyFS(r.copy(), os.DirFS(r.files()))
}

// Restore puts the copy in the place of the files. It has to be dead.
func (r *Redis) Restore() error {
	if err := r.Empty(); err != nil {
		return err
	}
	return os.CopyFS(r.files(), os.DirFS(r.copy()))
}

// Empty removes its files. It has to be dead.
func (r *Redis) Empty() error { return os.RemoveAll(r.files()) }

// Client makes a hand in it, which does not wait long.
func (r *Redis) Client() redis.UniversalClient {
	return redis.NewClient(&redis.Options{Addr: r.address(), DialTimeout: time.Second, ReadTimeout: 2 * time.Second, MaxRetries: -1})
}

// URL is its address for gateways.
func (r *Redis) URL() string { return "redis://" + r.address() }

func (r *Redis) address() string { return fmt.Sprintf("127.0.0.1:%d", r.Port) }
func (r *Redis) files() string   { return filepath.Join(r.dir, "now") }
func (r *Redis) copy() string    { return filepath.Join(r.dir, "copy") }
