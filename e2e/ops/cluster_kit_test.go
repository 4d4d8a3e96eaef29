package ops_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
)

// redisCluster is a Redis Cluster of three primaries, each with a replica.
type redisCluster struct {
	nodes []*frontdesktest.RedisServer
	buses []int // the ports on which the nodes speak to each other
}

const (
	// primaries is the minimum of a cluster. clusterReplicas is one for each.
	primaries, clusterReplicas = 3, 3
	// clusterSlots is how many there are, in every cluster.
	clusterSlots = 16384
	// nodeSilence, in ms, after which a node counts as failed: far less than in production, because tests
	// wait for it, and more than a busy machine's pauses.
	nodeSilence = 2000
)

// newRedisCluster starts six nodes until the test ends, and waits until they are a cluster.
func newRedisCluster(t *testing.T) *redisCluster {
	t.Helper()
	cluster := &redisCluster{}
	for range primaries + clusterReplicas {
		bus := frontdesktest.FreePort(t) // by default it would be 10,000 above the port
		node := frontdesktest.NewRedisServer(
			t, frontdesktest.FsyncAlways, "--maxmemory-policy", "noeviction", "--cluster-enabled", "yes", "--cluster-port",
			fmt.Sprint(bus), "--cluster-node-timeout", fmt.Sprint(nodeSilence), "--cluster-replica-validity-factor", "0",
		)
		cluster.nodes, cluster.buses = append(cluster.nodes, node), append(cluster.buses, bus)
	}
	frontdesktest.Must(t, cluster.join(t.Context()))
	return cluster
}

// join distributes the slots over the first three nodes, and makes each of the others a replica of one
// of them.
func (c *redisCluster) join(ctx context.Context) error {
	for i, node := range c.nodes {
		if err := c.do(ctx, node, "CLUSTER", "SET-CONFIG-EPOCH", i+1); err != nil {
			return err
		}
		if i < primaries {
			if err := c.do(ctx, node, "CLUSTER", "ADDSLOTSRANGE", i*clusterSlots/primaries, (i+1)*clusterSlots/primaries-1); err != nil {
				return err
			}
		}
	}
	for i, node := range c.nodes[1:] {
		first := c.nodes[0]
		if err := c.do(ctx, first, "CLUSTER", "MEET", "127.0.0.1", node.Port, c.buses[i+1]); err != nil {
			return err
		}
	}
	for i, node := range c.nodes[primaries:] {
		client := c.nodes[i].Client()
		id := client.Do(ctx, "CLUSTER", "MYID").Val()
		client.Close()
		err := frontdesktest.Within(ctx, "a replica knows its primary", frontdesktest.Patience, func() bool {
			return c.do(ctx, node, "CLUSTER", "REPLICATE", id) == nil
		})
		if err != nil {
			return err
		}
	}
	return frontdesktest.Within(ctx, "the cluster is whole", frontdesktest.Patience, func() bool { return c.Healthy(ctx) })
}

func (c *redisCluster) do(ctx context.Context, node *frontdesktest.RedisServer, command ...any) error {
	client := node.Client()
	defer client.Close()
	return client.Do(ctx, command...).Err()
}

// Healthy reports whether every node sees every slot served, and each replica has its primary's data.
func (c *redisCluster) Healthy(ctx context.Context) bool {
	return !slices.ContainsFunc(c.nodes, func(node *frontdesktest.RedisServer) bool {
		client := node.Client()
		defer client.Close()
		info, replication := client.ClusterInfo(ctx).Val(), client.Info(ctx, "replication").Val()
		return !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", len(c.nodes))) ||
			!strings.Contains(replication, "role:master") && !strings.Contains(replication, "master_link_status:up")
	})
}

// PrimaryFor returns the primary that has a key.
func (c *redisCluster) PrimaryFor(ctx context.Context, key string) *frontdesktest.RedisServer {
	for _, node := range c.nodes {
		client := node.Client()
		primary := strings.Contains(client.Info(ctx, "replication").Val(), "role:master")
		_, err := client.Exists(ctx, key).Result() // another one says where it is
		client.Close()
		if primary && err == nil {
			return node
		}
	}
	return nil
}

// Migrate moves the slot of a key to another primary while it is used, key by key.
func (c *redisCluster) Migrate(ctx context.Context, key string) error {
	from := c.PrimaryFor(ctx, key)
	if from == nil {
		return fmt.Errorf("no primary has %s", key)
	}
	to := c.nodes[(slices.Index(c.nodes, from)+1)%primaries]
	source, target := from.Client(), to.Client()
	defer source.Close()
	defer target.Close()
	slot := source.ClusterKeySlot(ctx, key).Val()
	sourceID, targetID := source.Do(ctx, "CLUSTER", "MYID").Val(), target.Do(ctx, "CLUSTER", "MYID").Val()
	if err := target.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", sourceID).Err(); err != nil {
		return err
	}
	if err := source.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", targetID).Err(); err != nil {
		return err
	}
	for {
		keys, err := source.ClusterGetKeysInSlot(ctx, int(slot), 1).Result()
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			break
		}
		if err := source.Migrate(ctx, "127.0.0.1", fmt.Sprint(to.Port), keys[0], 0, time.Second).Err(); err != nil {
			return err
		}
	}
	for _, client := range []redis.UniversalClient{target, source} { // the new owner first, so that no node is left without an owner
		if err := client.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", targetID).Err(); err != nil {
			return err
		}
	}
	return nil
}

// FailOver kills the primary that has a key, and waits until a replica has taken its place.
// The dead one is not restarted.
func (c *redisCluster) FailOver(ctx context.Context, key string) error {
	dead := c.PrimaryFor(ctx, key)
	if dead == nil {
		return fmt.Errorf("no primary has %s", key)
	}
	dead.Kill()
	return frontdesktest.Within(ctx, "a replica is promoted", frontdesktest.Patience, func() bool { return c.PrimaryFor(ctx, key) != nil })
}

// Client opens a client of all nodes, which discovers the slots.
func (c *redisCluster) Client() redis.UniversalClient {
	addresses := make([]string, len(c.nodes))
	for i, node := range c.nodes {
		addresses[i] = node.Address()
	}
	return redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses, DialTimeout: time.Second, ReadTimeout: 2 * time.Second})
}

// Nodes returns its servers, the original primaries first.
func (c *redisCluster) Nodes() []*frontdesktest.RedisServer { return c.nodes }

// URL returns its address for gateways: two nodes, which lead to the others.
func (c *redisCluster) URL() string {
	return fmt.Sprintf("redis+cluster://%s,%s", c.nodes[0].Address(), c.nodes[primaries+1].Address())
}

var _ harness.Storage = (*redisCluster)(nil)
