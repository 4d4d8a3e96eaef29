package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// waitTime is how long replicas may take to acknowledge a write: a hundred times what they need
// in one data centre, and still short for a visitor who waits.
const waitTime = 200 * time.Millisecond

// errUnacknowledged: too few replicas have what the primary has. The write may survive the
// primary or be lost with it.
var errUnacknowledged = errors.New("store: too few replicas acknowledged the write")

// errMoved: the key is on another node of the cluster than the one asked.
var errMoved = errors.New("store: the key has moved in the cluster")

// send executes a script once.
func (s *Store) send(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	if s.replicas == 0 {
		return script.Run(ctx, s.redis, keys, args...)
	}
	return redis.NewCmdResult(s.sendAcknowledged(ctx, script, keys, args))
}

// sendAcknowledged executes a script that the replicas acknowledge. Nothing is written unless
// they have everything written before: otherwise a payment could advance although its caller reads
// that it may not have.
func (s *Store) sendAcknowledged(ctx context.Context, script *redis.Script, keys []string, args []any) (any, error) {
	node, err := primaryOf(ctx, s.redis, keys[0])
	if err != nil {
		return nil, err
	}
	if err := acknowledged(ctx, node, s.replicas); err != nil {
		return nil, err
	}
	reply, err := s.sendTo(ctx, node, script.EvalSha, keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		reply, err = s.sendTo(ctx, node, script.Eval, keys, args)
	}
	return reply, s.reloadSlots(ctx, err)
}

// eval is a way to send a script.
type eval func(ctx context.Context, to redis.Scripter, keys []string, args ...any) *redis.Cmd

// sendTo sends a script and waits for the replicas on the same connection, because WAIT covers
// only what its own connection has written.
func (s *Store) sendTo(ctx context.Context, node *redis.Client, eval eval, keys []string, args []any) (any, error) {
	pipe := node.Pipeline()
	sent, copies := eval(ctx, pipe, keys, args...), wait(ctx, pipe, s.replicas)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, errors.Join(sent.Err(), copies.Err())
	}
	if copies.Val() < int64(s.replicas) {
		return nil, errUnacknowledged
	}
	return sent.Val(), nil
}

// primaryOf returns the single server, or the cluster node that has a key.
func primaryOf(ctx context.Context, connection redis.UniversalClient, key string) (*redis.Client, error) {
	switch connection := connection.(type) {
	case *redis.ClusterClient:
		return connection.MasterForKey(ctx, key)
	case *redis.Client:
		return connection, nil
	default:
		return nil, fmt.Errorf("store: replicas cannot be asked through %T", connection)
	}
}

// forEachPrimary calls do with the single server, or concurrently with each primary of a cluster.
func forEachPrimary(ctx context.Context, connection redis.UniversalClient, do func(context.Context, *redis.Client) error) error {
	if cluster, ok := connection.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, do)
	}
	node, err := primaryOf(ctx, connection, "")
	if err != nil {
		return err
	}
	return do(ctx, node)
}

// reloadSlots reloads the cluster's map of slots when a node redirects to another one.
func (s *Store) reloadSlots(ctx context.Context, err error) error {
	_, moved := redis.IsMovedError(err)
	_, asked := redis.IsAskError(err)
	cluster, ok := s.redis.(*redis.ClusterClient)
	if !ok || !moved && !asked {
		return err
	}
	return errors.Join(errMoved, cluster.ForEachMaster(ctx, func(context.Context, *redis.Client) error { return nil }))
}

// acknowledged returns errUnacknowledged unless enough replicas have everything of a primary.
func acknowledged(ctx context.Context, node *redis.Client, replicas int) error {
	pipe := node.Pipeline()
	pipe.Ping(ctx) // WAIT covers everything up to its connection's latest command
	copies := wait(ctx, pipe, replicas)
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	if copies.Val() < int64(replicas) {
		return errUnacknowledged
	}
	return nil
}

// wait adds WAIT to a pipeline: how many replicas have what its connection has written.
func wait(ctx context.Context, pipe redis.Pipeliner, replicas int) *redis.IntCmd {
	cmd := redis.NewIntCmd(ctx, "wait", replicas, waitTime.Milliseconds())
	_ = pipe.Process(ctx, cmd) // a pipeline sends nothing yet
	return cmd
}
