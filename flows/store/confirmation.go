package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

const (
	// maxConfirmations of one contact or one person are found: more than anyone concludes. The latest are kept, and those that a stranger
	// can make in somebody's name go first.
	maxConfirmations = 100
	// backedLater is what ranks the confirmation of a paid order, or one with a mandate, above each other one, in ms: about 300 years.
	backedLater = 10_000_000_000_000
)

// saveConfirmation stores a confirmation, once.
//
// KEYS  1 confirmation
// ARGV  1 body  2 time to live, ms
// Returns 1 when it is stored, 0 when there was one.
var saveConfirmation = redis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0
`)

// SaveConfirmation stores a confirmation, sealed, unless its registration has one, and returns the one that is stored then. It is found by
// its contact, that contact's number and its person for as long.
func (s *Store) SaveConfirmation(ctx context.Context, confirmation *flows.Confirmation, keep time.Duration) (*flows.Confirmation, error) {
	key := confirmationKey(confirmation.Registration)
	body, err := s.seal(key, confirmation)
	if err != nil {
		return nil, err
	}
	save := call{saveConfirmation, []string{key}, []any{body, keep.Milliseconds()}}
	stored, err := s.runAfter(ctx, s.indexConfirmation(confirmation, keep), save).Bool()
	if err != nil || stored {
		return confirmation, err
	}
	return s.Confirmation(ctx, confirmation.Registration)
}

// indexConfirmation returns the calls that make a confirmation found under the current key, by all that it still says of its people: their
// telephone numbers it does not.
func (s *Store) indexConfirmation(confirmation *flows.Confirmation, keep time.Duration) (calls []call) {
	names := slices.Clone(confirmation.PersonPseudonyms)
	for _, email := range []string{confirmation.Email, confirmation.GuardianEmail} {
		names = append(names, s.keys.CurrentPersonPseudonyms(confirmation.ClientToken, email, "")...)
	}
	for _, name := range confirmation.Names() {
		names = append(names, s.keys.NamePseudonyms(confirmation.ClientToken, name)[0])
	}
	if confirmation.Contact != "" {
		names = append(names, s.keys.Pseudonym("contact", string(confirmation.Contact)))
	}
	if confirmation.ContactNumber != "" {
		names = append(names, s.keys.NumberPseudonyms(confirmation.ClientToken, confirmation.ContactNumber)[0])
	}
	slices.Sort(names)
	rank := confirmation.At.UnixMilli()
	if confirmation.IsBacked() {
		rank += backedLater
	}
	for _, list := range prefixed(confirmationsPrefix, slices.Compact(names)) {
		calls = append(calls, call{indexRegistration, []string{list}, []any{confirmation.Registration, rank, keep.Milliseconds(),
			maxConfirmations}})
	}
	return calls
}

// Confirmation reads the confirmation of a registration. flows.ErrNotFound without one.
func (s *Store) Confirmation(ctx context.Context, registration string) (*flows.Confirmation, error) {
	key := confirmationKey(registration)
	body, err := s.redis.Get(ctx, key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, flows.ErrNotFound
	case err != nil:
		return nil, err
	}
	confirmation := &flows.Confirmation{}
	return confirmation, s.open(key, body, confirmation)
}

// ConfirmationsOf returns the ids of the registrations of a contact that have a confirmation. Some may have expired.
func (s *Store) ConfirmationsOf(ctx context.Context, contact club.IRI) ([]string, error) {
	return s.ConfirmationsBy(ctx, s.keys.Pseudonyms("contact", string(contact))...)
}

// ConfirmationsBy does the same by pseudonyms of the keyring: of a person, a name or a contact's number.
func (s *Store) ConfirmationsBy(ctx context.Context, names ...string) ([]string, error) {
	return s.indexed(ctx, prefixed(confirmationsPrefix, names))
}

// AwaitMail notes that the confirmation of a registration is to be mailed.
func (s *Store) AwaitMail(ctx context.Context, registration string, completed time.Time) error {
	return s.redis.ZAdd(ctx, unmailedConfirmations, redis.Z{Score: float64(completed.UnixMilli()), Member: registration}).Err()
}

// AwaitsMail reports whether the confirmation of a registration is still to be mailed.
func (s *Store) AwaitsMail(ctx context.Context, registration string) (bool, error) {
	err := s.redis.ZScore(ctx, unmailedConfirmations, registration).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// holdMail notes why a confirmation is left to operators.
//
// KEYS  1 held confirmations
// ARGV  1 registration, 2 hold, 3 1: only if there is no other reason
// Returns 1.
var holdMail = redis.NewScript(`
if ARGV[3] == '0' or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
`)

// HoldMail leaves the confirmation of a registration to operators: it is listed with those that were not mailed, until EndMail. A mail that
// lacked something hides no other reason.
func (s *Store) HoldMail(ctx context.Context, registration string, hold flows.MailHold) error {
	text, err := json.Marshal(hold) // #nosec G117 -- a client token names an organisation, and is no secret
	if err != nil {
		return err
	}
	err = s.run(ctx, holdMail, []string{heldConfirmations}, registration, text, hold.Reason == flows.WithoutContract).Err()
	if err != nil {
		return err
	}
	return s.AwaitMail(ctx, registration, hold.At)
}

// MailHold returns why the confirmation of a registration is left to operators; zero if it is not.
func (s *Store) MailHold(ctx context.Context, registration string) (hold flows.MailHold, err error) {
	text, err := s.redis.HGet(ctx, heldConfirmations, registration).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return hold, nil
	case err != nil:
		return hold, err
	}
	return hold, json.Unmarshal(text, &hold)
}

// EndMail notes that the confirmation of a registration is not to be mailed any more, and reports whether it was.
func (s *Store) EndMail(ctx context.Context, registration string) (bool, error) {
	removed, err := s.redis.ZRem(ctx, unmailedConfirmations, registration).Result()
	if err != nil {
		return false, err
	}
	return removed > 0, s.redis.HDel(ctx, heldConfirmations, registration).Err()
}

// Unmailed returns the registrations that were completed until a time and whose confirmation was not mailed, oldest first.
func (s *Store) Unmailed(ctx context.Context, until time.Time) ([]string, error) {
	by := redis.ZRangeArgs{Key: unmailedConfirmations, Start: "-inf", Stop: until.UnixMilli(), ByScore: true}
	return s.redis.ZRangeArgs(ctx, by).Result()
}

// CountUnmailed counts them.
func (s *Store) CountUnmailed(ctx context.Context, until time.Time) (int64, error) {
	return s.redis.ZCount(ctx, unmailedConfirmations, "-inf", strconv.FormatInt(until.UnixMilli(), 10)).Result()
}

// renewConfirmation replaces a sealed confirmation.
//
// KEYS  1 confirmation
// ARGV  1 as it was sealed  2 as it is sealed now
// Returns 1 when it was there, else 0.
var renewConfirmation = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
`)

// RenewConfirmations seals with the current key every confirmation that an older key sealed, and makes it found under that key by its
// contact, the number, and the names and e-mail addresses of buyer and guardian. One that no key opens is kept: its key may come back.
func (s *Store) RenewConfirmations(ctx context.Context) error {
	return forEachPrimary(ctx, s.redis, func(ctx context.Context, node *redis.Client) error {
		found := node.Scan(ctx, 0, confirmationKey("*"), receiptBatch).Iterator()
		for found.Next(ctx) {
			key := found.Val()
			body, err := s.redis.Get(ctx, key).Result()
			if errors.Is(err, redis.Nil) {
				continue
			}
			if err != nil {
				return err
			}
			if err := s.renewConfirmation(ctx, key, body); err != nil {
				return err
			}
		}
		return found.Err()
	})
}

func (s *Store) renewConfirmation(ctx context.Context, key, body string) error {
	confirmation := &flows.Confirmation{}
	text, err := s.keys.Open(key, []byte(body))
	if err != nil || s.keys.Current([]byte(body)) || s.open(key, body, confirmation) != nil {
		return nil
	}
	left, err := s.redis.PTTL(ctx, key).Result()
	if err != nil || left <= 0 { // it has just expired
		return err
	}
	renewed := call{renewConfirmation, []string{key}, []any{body, s.keys.Seal(key, text)}}
	return s.runAfter(ctx, s.indexConfirmation(confirmation, left), renewed).Err()
}
