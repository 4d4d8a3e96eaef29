package store

import (
	"cmp"
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

const (
	dialTimeout = 500 * time.Millisecond // a visitor waits: a Redis that takes longer counts as down
	callTimeout = time.Second            // with fsync on every write the slowest step takes a few milliseconds
	// slotsEvery is how old a cluster's map of slots may be. A node that redirects makes the client
	// reload it; a primary that failed does not, and would be dialled until the map is replaced.
	slotsEvery = time.Second
	// buffer holds a registration or a payment, which are a few KB; longer values bypass it. The
	// client's default is eight times as much for each connection.
	buffer = 4 << 10
	// connections to a node, at most. A step holds one while Redis syncs its disk. The client's
	// default of ten per core makes a dozen visitors wait on a small machine.
	connections = 64
)

// Connect returns a client, which does not dial yet. The URL is one of
//
//	redis://[[user]:password@]host[:port][/db]
//	redis+sentinel://[[user]:password@]host[:port],…/primary[?db=N&sentinel_username=…&sentinel_password=…]
//	redis+cluster://[[user]:password@]host[:port],…
//
// and rediss instead of redis uses TLS. The hosts of the second form are Sentinels, which know the
// current primary of that name; those of the third are any nodes of the cluster. An error never
// contains the URL, because it may hold a password.
func Connect(address string) (redis.UniversalClient, error) {
	options, err := parse(address)
	if err != nil {
		return nil, err
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = dialTimeout, callTimeout, callTimeout
	options.ContextTimeoutEnabled = true
	options.ReadBufferSize, options.WriteBufferSize = buffer, buffer
	options.PoolSize = connections
	options.DisableIdentity = true                    // works without the right to CLIENT
	options.MaxRetries, options.DialerRetries = -1, 1 // see resends
	if !options.IsClusterMode {
		return redis.NewUniversalClient(options), nil
	}
	clustered := options.Cluster()
	clustered.ClusterStateReloadInterval = slotsEvery
	return redis.NewClusterClient(clustered), nil
}

// CheckURL returns what is wrong with the URL of a Redis; nil if Connect accepts it.
func CheckURL(address string) error {
	_, err := parse(address)
	return err
}

// IsProtected reports whether strangers on the network cannot read and change what a client of the
// URL sends: it uses TLS, or its one server is on this machine. Sentinels and cluster nodes name
// other hosts, so that their own address proves nothing.
func IsProtected(address string) bool {
	options, err := parse(address)
	if err != nil {
		return false
	}
	host, _, _ := net.SplitHostPort(options.Addrs[0]) // parse has joined them
	local := host == "localhost" || net.ParseIP(host).IsLoopback()
	return options.TLSConfig != nil || local && options.MasterName == "" && !options.IsClusterMode
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
	query, path := parts.Query(), strings.TrimPrefix(parts.Path, "/")
	database, port, known := path, "6379", []string(nil) // the default ports are Redis's own
	switch kind {
	case "":
		if len(hosts) > 1 {
			return nil, errors.New("several hosts need redis+sentinel:// or redis+cluster://")
		}
	case "sentinel":
		if path == "" || strings.Contains(path, "/") {
			return nil, errors.New("the primary's name is missing: redis+sentinel://host:26379/name, as in the Sentinels' configuration")
		}
		options.MasterName, options.SentinelUsername, options.SentinelPassword = path, query.Get("sentinel_username"),
			query.Get("sentinel_password")
		database, port, known = query.Get("db"), "26379", []string{"db", "sentinel_username", "sentinel_password"}
	case "cluster":
		options.IsClusterMode = true // even with one host
		if database = strings.Trim(path, "/"); database != "" {
			return nil, errors.New("a cluster has no databases: remove what follows the hosts")
		}
	default:
		return nil, fmt.Errorf("%s+%s:// is unknown: after the plus, use sentinel or cluster", security, kind)
	}
	if options.DB, err = strconv.Atoi(cmp.Or(database, "0")); err != nil || options.DB < 0 {
		return nil, errors.New("the database must be a number")
	}
	if err := refuseUnknown(parts.RawQuery, known); err != nil {
		return nil, err
	}
	options.Addrs, err = addresses(hosts, port)
	return options, err
}

// split separates the list of hosts from the rest, because a URL has only one host.
func split(rest string) (hosts []string, parts *url.URL, err error) {
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	at := strings.LastIndexByte(authority, '@') + 1
	parts, err = url.Parse("redis://" + authority[:at] + "host" + path)
	if err != nil {
		return nil, nil, errors.New("the user, the password or the part after the hosts cannot be read: special characters must be " +
			"percent-encoded")
	}
	if parts.Fragment != "" {
		return nil, nil, errors.New("# must be written %23 in a password, and is not allowed elsewhere")
	}
	return strings.Split(authority[at:], ","), parts, nil
}

func refuseUnknown(raw string, known []string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return errors.New("the parameters after the question mark cannot be read")
	}
	for _, name := range known {
		query.Del(name)
	}
	if len(query) > 0 {
		return fmt.Errorf("unknown parameter: the known ones are %q", known)
	}
	return nil
}

func addresses(hosts []string, usual string) (addrs []string, err error) {
	for _, host := range hosts {
		name, port, err := net.SplitHostPort(host)
		if err != nil {
			name, port = strings.Trim(host, "[]"), usual
			if strings.Contains(name, ":") && !strings.HasPrefix(host, "[") {
				return nil, errors.New("a host cannot be read: it must be host:port, with an IPv6 address in brackets")
			}
		}
		number, err := strconv.ParseUint(port, 10, 16)
		if name == "" || err != nil || number == 0 {
			return nil, errors.New("a host is missing, or its port is not between 1 and 65535")
		}
		addrs = append(addrs, net.JoinHostPort(name, port))
	}
	return addrs, nil
}
