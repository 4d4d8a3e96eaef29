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
	now   *process
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
	port, err := freePort()
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
	r.now, err = start(ctx, "Ready to accept connections", nil, "redis-server", append(append(args, r.args...), more...)...)
	return err
}

// Kill ends it as a power cut would, but for what the system still writes of its files.
func (r *Redis) Kill() { r.now.kill() }

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
func (r *Redis) Client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: r.address(), DialTimeout: time.Second, ReadTimeout: 2 * time.Second, MaxRetries: -1})
}

// URL is its address for gateways.
func (r *Redis) URL() string { return "redis://" + r.address() }

func (r *Redis) address() string { return fmt.Sprintf("127.0.0.1:%d", r.Port) }
func (r *Redis) files() string   { return filepath.Join(r.dir, "now") }
func (r *Redis) copy() string    { return filepath.Join(r.dir, "copy") }
