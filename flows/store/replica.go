package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// waitTime is how long replicas may take to acknowledge a write: a hundred times what they need
// in one data centre, and little to a visitor who waits.
const waitTime = 200 * time.Millisecond

// errUnacknowledged says that too few replicas have what the primary has. What was written may be
// lost with the primary, and may be there as well.
var errUnacknowledged = errors.New("store: too few replicas acknowledge what is written")

// errMoved says that another node of the cluster has a key than the one that was asked.
var errMoved = errors.New("store: the key has moved in the cluster")

// send has a script carried out once. Where replicas have to acknowledge what is written, nothing
// is written unless they have all that was before: a payment would otherwise be moved by
// somebody who is then told that it may not have been.
func (s *Store) send(ctx context.Context, script *redis.Script, keys []string, args ...any) (any, error) {
	if s.replicas == 0 {
		return script.Run(ctx, s.redis, keys, args...).Result()
	}
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
	return reply, s.found(ctx, err)
}

// eval is a way to send a script.
type eval func(ctx context.Context, to redis.Scripter, keys []string, args ...any) *redis.Cmd

// sendTo sends a script and waits for the replicas on the same connection, since WAIT is about
// what its own connection has written.
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

// primaryOf is the one server, or the node of a cluster, that has a key.
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

// found asks a cluster anew who has what, when a node says that it is not the one.
func (s *Store) found(ctx context.Context, err error) error {
	_, moved := redis.IsMovedError(err)
	_, asked := redis.IsAskError(err)
	cluster, ok := s.redis.(*redis.ClusterClient)
	if !ok || !moved && !asked {
		return err
	}
	return errors.Join(errMoved, cluster.ForEachMaster(ctx, func(context.Context, *redis.Client) error { return nil }))
}

// acknowledged asks whether so many replicas have all that a primary has.
func acknowledged(ctx context.Context, node *redis.Client, replicas int) error {
	pipe := node.Pipeline()
	pipe.Ping(ctx) // WAIT is about everything until its connection's latest command
	copies := wait(ctx, pipe, replicas)
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	if copies.Val() < int64(replicas) {
		return errUnacknowledged
	}
	return nil
}

// wait asks how many replicas have what the connection of a pipeline has written.
func wait(ctx context.Context, pipe redis.Pipeliner, replicas int) *redis.IntCmd {
	cmd := redis.NewIntCmd(ctx, "wait", replicas, waitTime.Milliseconds())
	_ = pipe.Process(ctx, cmd) // a pipeline sends nothing yet
	return cmd
}

// copies finds out whether so many replicas acknowledge what a primary writes.
func copies(ctx context.Context, node *redis.Client, replicas int) flows.Check {
	d := flows.Check{Part: "redis", Aspect: "writes", Verdict: flows.OK, Found: fmt.Sprintf("each is acknowledged by %d of its replicas", replicas)}
	_, err := repeat(ctx, func() (any, error) { return nil, acknowledged(ctx, node, replicas) }) // as often as a write would
	switch {
	case errors.Is(err, errUnacknowledged):
		d.Verdict, d.Found = flows.Failed, fmt.Sprintf("refused: fewer than %d of its replicas acknowledge them", replicas)
		d.Fix = "start the replica, or see why it lags behind; FRONTDESK_REDIS_WAIT wants it to have whatever is written"
	case err != nil:
		d.Verdict, d.Found, d.Fix = flows.Failed, "cannot be waited for: "+err.Error(), "allow WAIT to the user of FRONTDESK_REDIS_URL"
	}
	return d
}
