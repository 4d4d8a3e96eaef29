package store

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The figures of the connection.
const (
	dialTimeout = 500 * time.Millisecond // a Redis that does not answer sooner is down for a waiting visitor
	callTimeout = time.Second            // the slowest step seen with fsync on every write is a few milliseconds
	// slotsEvery: how old a cluster's map of slots may be. The client asks for a new one by
	// itself when a node sends it elsewhere; a primary that died says nothing, and would be
	// dialled until the map is old, long after a replica has taken its place.
	slotsEvery = time.Second
	// buffer holds a registration or a payment with room to spare, which are a few KB; what is
	// longer goes around it. The client's own default holds eight times as much for each connection.
	buffer = 4 << 10
	// connections to a node, at most; they are made as they are needed. A step holds one while the
	// disk of Redis writes. The client's own default is ten for each core, for which a dozen
	// visitors of a small machine wait in line while Redis has hardly anything to do.
	connections = 64
)

// The ports that an address without one means; Redis's own defaults.
const (
	redisPort    = "6379"
	sentinelPort = "26379"
)

// Connect makes a client. It does not dial yet. The URL is one of
//
//	redis://[[user]:password@]host[:port][/db]
//	redis+sentinel://[[user]:password@]host[:port],…/primary[?db=N&sentinel_username=…&sentinel_password=…]
//	redis+cluster://[[user]:password@]host[:port],…
//
// and rediss in the place of redis asks for TLS. The hosts of the second form are
// the Sentinels, who know where the primary of that name is at present; those of
// the third are any nodes of the cluster, one is enough. An error never repeats the
// URL, since it may hold a password.
func Connect(address string) (redis.UniversalClient, error) {
	options, err := parse(address)
	if err != nil {
		return nil, err
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = dialTimeout, callTimeout, callTimeout
	options.ContextTimeoutEnabled = true
	options.ReadBufferSize, options.WriteBufferSize = buffer, buffer
	options.PoolSize = connections
	options.DisableIdentity = true                    // a user with the least rights need not be granted CLIENT for it
	options.MaxRetries, options.DialerRetries = -1, 1 // see resends: who repeats a script has to know what it is
	if !options.IsClusterMode {
		return redis.NewUniversalClient(options), nil
	}
	clustered := options.Cluster()
	clustered.ClusterStateReloadInterval = slotsEvery
	return redis.NewClusterClient(clustered), nil
}

// parse reads the three forms.
func parse(address string) (*redis.UniversalOptions, error) {
	scheme, rest, ok := strings.Cut(address, "://")
	security, kind, _ := strings.Cut(scheme, "+")
	if !ok || security != "redis" && security != "rediss" {
		return nil, errors.New("not a redis://, rediss://, redis+sentinel:// or redis+cluster:// URL")
	}
	hosts, parts, err := split(rest)
	if err != nil {
		return nil, err
	}
	options := &redis.UniversalOptions{Username: parts.User.Username()}
	options.Password, _ = parts.User.Password()
	if security == "rediss" {
		options.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	switch kind {
	case "":
		return options, standalone(options, hosts, parts)
	case "sentinel":
		return options, sentinel(options, hosts, parts)
	case "cluster":
		return options, cluster(options, hosts, parts)
	default:
		return nil, fmt.Errorf("%s+%s:// is not known: it is sentinel, cluster or nothing that follows the plus", security, kind)
	}
}

// split takes the list of hosts out of a URL, which would not be one with it.
func split(rest string) (hosts []string, parts *url.URL, err error) {
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	at := strings.LastIndexByte(authority, '@') + 1
	parts, err = url.Parse("redis://" + authority[:at] + "host" + path)
	if err != nil {
		return nil, nil, errors.New("the user, the password or what follows the hosts cannot be read: special characters have to be percent-encoded")
	}
	if parts.Fragment != "" {
		return nil, nil, errors.New("what follows a # means nothing here; in a password it is written %23")
	}
	return strings.Split(authority[at:], ","), parts, nil
}

// standalone reads what is special to a single Redis.
func standalone(options *redis.UniversalOptions, hosts []string, parts *url.URL) (err error) {
	if len(hosts) > 1 {
		return errors.New("several hosts need redis+sentinel:// or redis+cluster://")
	}
	if options.DB, err = database(strings.TrimPrefix(parts.Path, "/")); err != nil {
		return err
	}
	if err := only(parts); err != nil {
		return err
	}
	return locate(options, hosts, redisPort)
}

// sentinel reads what is special to a primary that Sentinels watch.
func sentinel(options *redis.UniversalOptions, hosts []string, parts *url.URL) (err error) {
	options.MasterName = strings.TrimPrefix(parts.Path, "/")
	if options.MasterName == "" || strings.Contains(options.MasterName, "/") {
		return errors.New("the primary's name is missing: redis+sentinel://host:26379/name, as in the Sentinels' configuration")
	}
	if err := only(parts, "db", "sentinel_username", "sentinel_password"); err != nil {
		return err
	}
	query := parts.Query()
	options.SentinelUsername, options.SentinelPassword = query.Get("sentinel_username"), query.Get("sentinel_password")
	if options.DB, err = database(query.Get("db")); err != nil {
		return err
	}
	return locate(options, hosts, sentinelPort)
}

// cluster reads what is special to a cluster.
func cluster(options *redis.UniversalOptions, hosts []string, parts *url.URL) error {
	options.IsClusterMode = true // also with one host
	if strings.Trim(parts.Path, "/") != "" {
		return errors.New("a cluster has no databases: nothing follows its hosts")
	}
	if err := only(parts); err != nil {
		return err
	}
	return locate(options, hosts, redisPort)
}

// locate takes the hosts over, with the usual port where there is none.
func locate(options *redis.UniversalOptions, hosts []string, usual string) error {
	for _, host := range hosts {
		name, port, err := net.SplitHostPort(host)
		if err != nil {
			name, port = strings.Trim(host, "[]"), usual
			if strings.Contains(name, ":") && !strings.HasPrefix(host, "[") {
				return errors.New("a host cannot be read: it is host:port, and an IPv6 address stands in brackets")
			}
		}
		number, err := strconv.ParseUint(port, 10, 16)
		if name == "" || err != nil || number == 0 {
			return errors.New("a host is missing, or its port is not a number from 1 to 65535")
		}
		options.Addrs = append(options.Addrs, net.JoinHostPort(name, port))
	}
	return nil
}

// database reads the number of a database; empty is 0.
func database(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return 0, errors.New("the database is not a number")
	}
	return number, nil
}

// only refuses parameters that would mean nothing.
func only(parts *url.URL, known ...string) error {
	query, err := url.ParseQuery(parts.RawQuery)
	if err != nil {
		return errors.New("what follows the question mark cannot be read")
	}
	for _, name := range known {
		query.Del(name)
	}
	if len(query) > 0 {
		return fmt.Errorf("only these parameters are known here: %q", known)
	}
	return nil
}
