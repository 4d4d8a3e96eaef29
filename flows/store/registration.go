package store

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// saveRegistration replaces a registration by compare-and-set. It does not expire while its latest payment
// does not, because that one is open.
//
// KEYS  1 registration
// ARGV  1 expected version (0: it must not exist)  2 operation  3 body  4 payment generation
//
//	5 time to live, ms, 0 to keep it  6 prefix of its payments' keys
//
// Returns its version when saved (also by this operation before), 0 when it was changed.
var saveRegistration = redis.NewScript(nextVersion + `
local held = redis.call('HMGET', KEYS[1], 'version', 'operation')
if held[2] == ARGV[2] then return held[1] end
if (held[1] or '0') ~= ARGV[1] then return 0 end
local version = nextVersion(ARGV[1])
redis.call('HSET', KEYS[1], 'version', version, 'operation', ARGV[2], 'body', ARGV[3], 'generation', ARGV[4])
if redis.call('PTTL', ARGV[6] .. ARGV[4]) == -1 then
  redis.call('PERSIST', KEYS[1])
elseif ARGV[5] ~= '0' then
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
redis.call('PUBLISH', '` + changes + `', KEYS[1])
return version
`)

// loadRegistration reads a registration with its latest payment.
//
// KEYS  1 registration
// ARGV  1 prefix of its payments' keys
// Returns {version, body, generation, payment version, payment body, payment state}, without the
// last three without a payment; {} without a registration.
var loadRegistration = redis.NewScript(`
local r = redis.call('HMGET', KEYS[1], 'version', 'body', 'generation')
if not (r[1] or r[2]) then return {} end
if r[3] ~= '0' then
  local p = redis.call('HMGET', ARGV[1] .. (r[3] or ''), 'version', 'body', 'state')
  if p[1] or p[2] then r[4] = p[1]; r[5] = p[2]; r[6] = p[3] end
end
return r
`)

// SaveRegistration creates a registration (version 0), or replaces it if its version is still r.Version, and sets the new one. It
// restarts the record's life, which does not end while its latest payment is open. flows.ErrConflict if it was changed since it was
// read.
func (s *Store) SaveRegistration(ctx context.Context, r *flows.Registration) error {
	return s.replace(ctx, r, registrationTTL(r))
}

// AmendRegistration is SaveRegistration without restarting the record's life.
func (s *Store) AmendRegistration(ctx context.Context, r *flows.Registration) error {
	return s.replace(ctx, r, 0)
}

func (s *Store) replace(ctx context.Context, registration *flows.Registration, keep time.Duration) error {
	key := registrationKey(registration.ID)
	body, err := s.sealRegistration(registration)
	if err != nil {
		return err
	}
	var index []call
	if keep > 0 || listed(registration) != registration.Listed { // else it is indexed for as long as it is kept
		index = s.index(registration)
	}
	save := call{saveRegistration, []string{key}, []any{
		registration.Version, uuid.NewString(), body, registration.Generation, keep.Milliseconds(), paymentPrefix(registration.ID),
	}}
	version, err := written(s.runAfter(ctx, index, save))
	if err != nil {
		return err
	}
	registration.Version, registration.Listed = version, listed(registration)
	return nil
}

// listed is the contact under which a saved registration is indexed.
func listed(r *flows.Registration) club.IRI {
	if r.Contact == nil {
		return ""
	}
	return r.Contact.IRI
}

// registrationTTL keeps a registration beyond its end. It uses the registration's own instants, so
// that no clock is read here.
func registrationTTL(r *flows.Registration) time.Duration {
	return r.ExpiresAt.Sub(r.CreatedAt) + flows.KeepRegistration
}

// Registration reads a registration and its latest payment; nil: it has none. flows.ErrNotFound without a registration, else the errors
// of Payment.
func (s *Store) Registration(ctx context.Context, id string) (*flows.Registration, *flows.Payment, error) {
	key := registrationKey(id)
	var fields []any
	err := repeat(ctx, func() (err error) { // a script that changes nothing needs no acknowledgement
		fields, err = loadRegistration.Run(ctx, s.redis, []string{key}, paymentPrefix(id)).Slice()
		return err
	})
	switch {
	case err != nil:
		return nil, nil, err
	case len(fields) == 0:
		return nil, nil, flows.ErrNotFound
	}
	registration := &flows.Registration{}
	if registration.Version, err = s.record(key, fields[0], fields[1], registration); err != nil {
		return nil, nil, err
	}
	registration.Listed = listed(registration)
	if fields[2] != strconv.Itoa(registration.Generation) {
		return nil, nil, fmt.Errorf("%w: %s: its plain generation differs", flows.ErrDamaged, key)
	}
	if len(fields) < 6 {
		return registration, nil, nil
	}
	p, err := s.payment(paymentKey(flows.NewPaymentID(id, registration.Generation)), fields[3:])
	return registration, p, err
}

// record opens a record from its fields, and returns its version. ErrNotFound without fields.
func (s *Store) record(key string, version, body, record any) (int64, error) {
	if version == nil && body == nil {
		return 0, flows.ErrNotFound
	}
	digits, okVersion := version.(string)
	sealed, okBody := body.(string)
	if !okVersion || !okBody {
		return 0, fmt.Errorf("%w: %s: a field is missing", flows.ErrDamaged, key)
	}
	if err := s.open(key, sealed, record); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %s: its plain version is not a number", flows.ErrDamaged, key)
	}
	return n, nil
}

// Once reports whether this is the first call with this name within the period. After a loss in Redis it is the first one again.
func (s *Store) Once(ctx context.Context, name string, period time.Duration) (bool, error) {
	return s.redis.SetNX(ctx, onceKey(name), 1, period).Result()
}

// Happened reports whether Once was called with this name within its period.
func (s *Store) Happened(ctx context.Context, name string) (bool, error) {
	n, err := s.redis.Exists(ctx, onceKey(name)).Result()
	return n > 0, err
}

// changes is the channel to which scripts publish the key of the registration they changed.
const changes = "fd:changes"

// Changes returns the ids of registrations that any gateway changes, payments included, until the context ends. What is
// published while the connection is lost is not delivered; the client subscribes again.
func (s *Store) Changes(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		subscription := s.redis.Subscribe(ctx, changes)
		defer subscription.Close()
		messages := subscription.Channel()
		for {
			select {
			case <-ctx.Done():
				return
			case message, ok := <-messages:
				if !ok || !yield(strings.TrimSuffix(strings.TrimPrefix(message.Payload, "fd:{"), "}:registration")) {
					return
				}
			}
		}
	}
}
