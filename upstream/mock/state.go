package mock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/gofrs/flock"
	"github.com/redis/go-redis/v9"

	"frontdesk/upstream/clubsim"
)

// record is a key of Redis with its value.
type record struct {
	Key    string    `json:"key"`
	Kind   string    `json:"kind"`           // as TYPE says
	Until  time.Time `json:"until,omitzero"` // by the world's clock; zero: for ever
	Values [][]byte  `json:"values"`         // the arguments of the command that writes it
	// Entries are those of a stream, each with so many of the values.
	Entries []entryID `json:"entries,omitempty"`
}

type entryID struct {
	ID     string `json:"id"`
	Fields int    `json:"fields"`
}

// writers are the commands that write each kind of value.
var writers = map[string]string{"string": "SET", "hash": "HSET", "list": "RPUSH", "set": "SADD", "zset": "ZADD", "stream": "XADD"}

// read returns each key with its kind, the milliseconds that are left of it, and its value. A script sees all of it at one moment.
const read = `
local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind, value = redis.call('TYPE', key)['ok'], nil
  if kind == 'string' then value = {redis.call('GET', key)}
  elseif kind == 'hash' then value = redis.call('HGETALL', key)
  elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'set' then value = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'stream' then value = redis.call('XRANGE', key, '-', '+')
  end
  all[#all + 1] = {key, kind, redis.call('PTTL', key), value}
end
return all`

// clientOf returns a client of an embedded Redis, which waits as long as a large world takes. Close it.
func clientOf(embedded *miniredis.Miniredis) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: embedded.Addr(), DisableIdentity: true, MaxRetries: -1, DialTimeout: time.Minute, ReadTimeout: -1, WriteTimeout: -1,
	})
}

// dump returns what Redis holds at one moment.
func dump(embedded *miniredis.Miniredis, now time.Time) (records []record) {
	client := clientOf(embedded)
	defer client.Close()
	all, err := client.Eval(context.Background(), read, nil).Slice()
	if err != nil {
		panic(err) // it is in this process
	}
	for _, one := range all {
		fields, _ := one.([]any)
		held := record{Key: text(fields[0]), Kind: text(fields[1])}
		if left, _ := fields[2].(int64); left >= 0 {
			held.Until = now.Add(time.Duration(left) * time.Millisecond).UTC()
		}
		if held.add(fields[3]); len(held.Values) > 0 { // a stream may be empty
			records = append(records, held)
		}
	}
	return records
}

func text(value any) string { return fmt.Sprint(value) }

// add adds what the script has read: texts, and of a stream its entries, each with its id and a list of texts.
func (r *record) add(read any) {
	list, _ := read.([]any)
	for i, one := range list {
		entry, _ := one.([]any)
		switch {
		case r.Kind == "stream":
			fields, _ := entry[1].([]any)
			r.Entries = append(r.Entries, entryID{text(entry[0]), len(fields)})
			for _, field := range fields {
				r.Values = append(r.Values, []byte(text(field)))
			}
		case r.Kind == "zset" && i%2 == 1: // ZADD takes the score first
			r.Values = slices.Insert(r.Values, i-1, []byte(text(one)))
		default:
			r.Values = append(r.Values, []byte(text(one)))
		}
	}
}

// load writes records that have not expired.
func load(embedded *miniredis.Miniredis, records []record, now time.Time) error {
	client := clientOf(embedded)
	defer client.Close()
	pipeline := client.Pipeline()
	for _, r := range records {
		if !r.Until.IsZero() && !r.Until.After(now) {
			continue
		}
		if writers[r.Kind] == "" {
			return fmt.Errorf("%s is of the unknown kind %q", r.Key, r.Kind)
		}
		for _, values := range r.writes() {
			command := []any{writers[r.Kind], r.Key}
			for _, value := range values {
				command = append(command, value)
			}
			pipeline.Do(context.Background(), command...)
		}
		if !r.Until.IsZero() {
			pipeline.PExpire(context.Background(), r.Key, r.Until.Sub(now))
		}
	}
	commands, err := pipeline.Exec(context.Background())
	for _, command := range commands {
		if command.Err() != nil {
			return fmt.Errorf("%v: %w", command.Args()[1], command.Err())
		}
	}
	return err
}

// check refuses records that a Redis does not hold as they are. It tries it with a spare one.
func check(records []record) error {
	spare := miniredis.NewMiniRedis()
	if err := spare.Start(); err != nil {
		return err
	}
	defer spare.Close()
	if err := load(spare, records, time.Time{}); err != nil {
		return err
	}
	held := map[string]record{}
	for _, r := range dump(spare, time.Time{}) {
		held[r.Key] = r
	}
	for _, r := range records {
		got := held[r.Key]
		if len(got.Values) == 0 || len(got.Values) != len(r.Values) || !slices.Equal(got.Entries, r.Entries) {
			return fmt.Errorf("%s does not have the values of a %s", r.Key, r.Kind)
		}
		delete(held, r.Key) // another record of the same key is one too many
	}
	return nil
}

// writes returns the arguments of each command that writes the record: of a stream one for each of its entries.
func (r record) writes() [][][]byte {
	if r.Kind != "stream" {
		return [][][]byte{r.Values}
	}
	var all [][][]byte
	left := r.Values
	for _, entry := range r.Entries {
		fields := max(0, min(entry.Fields, len(left))) // other values are refused later, see check
		all = append(all, append([][]byte{[]byte(entry.ID)}, left[:fields]...))
		left = left[fields:]
	}
	return all
}

// moment is longer than any lock or pause in Redis that a gateway waits for.
const moment = 5 * time.Minute

// moved returns records for a clock that was moved. The queues of jobs have the real clock, so what they wait for comes nearer. What ends
// within a moment still does when the clock goes back: a lock would be there for as long.
func moved(records []record, from, to time.Time) []record {
	by := to.Sub(from)
	for place, r := range records {
		if by < 0 && !r.Until.IsZero() && r.Until.Sub(from) <= moment {
			records[place].Until = r.Until.Add(by)
		}
		if !strings.HasPrefix(r.Key, "asynq:{") || !strings.HasSuffix(r.Key, ":scheduled") && !strings.HasSuffix(r.Key, ":retry") {
			continue
		}
		for i := 0; i < len(r.Values); i += 2 {
			if at, err := strconv.ParseFloat(string(r.Values[i]), 64); err == nil {
				r.Values[i] = strconv.AppendFloat(nil, at-by.Seconds(), 'f', -1, 64)
			}
		}
	}
	return records
}

// rest is what a snapshot of the simulator has beside the club system.
type rest struct {
	Processor json.RawMessage `json:"processor"`
	Gateway   []record        `json:"gateway,omitempty"`
}

// snapshot is clubsim.Rest's. Nothing changes at the club system and the processor while Redis is read, so what a gateway has noted of them
// is in the snapshot; what it was about to do, it does again, as after a crash.
func (s *Server) snapshot(name string, take func(rest func() json.RawMessage) []byte) []byte {
	w := s.world(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	return take(func() json.RawMessage {
		taken := rest{Gateway: w.kept}
		taken.Processor = s.cards.Snapshot(name, func() {
			if w.run != nil {
				taken.Gateway = dump(w.run.redis, s.club.World(name).Now())
			}
		})
		body, err := json.Marshal(taken)
		if err != nil {
			panic(err) // it has only texts
		}
		return body
	})
}

// restore is clubsim.Rest's.
func (s *Server) restore(name string, body json.RawMessage, apply func()) error {
	var restored rest
	if len(body) > 0 {
		if err := json.Unmarshal(body, &restored); err != nil {
			return err
		}
	}
	if err := check(restored.Gateway); err != nil {
		return fmt.Errorf("the gateway's records cannot be read: %w", err)
	}
	payments, err := s.cards.Restore(name, restored.Processor)
	if err != nil {
		return err
	}
	s.exchange(name, 0, func(w *world) {
		apply()
		payments()
		if s.cfg.Gateway != nil {
			w.kept = restored.Gateway
		}
	})
	return nil
}

// stored is what the folder State holds of a world.
type stored struct {
	content []byte
	at      time.Time // when it was last compared
	next    time.Time // when it is compared again at the earliest: a tenth of the time goes into it
}

// settle is how long after a change a world is still kept at each tick: what the change has caused is kept too.
const settle = 2 * time.Second

func (w *world) path() string { return filepath.Join(w.server.cfg.State, fileOf(w.name)) }

// fileOf returns the name of a world's file. A number says where capital letters are: some file systems do not tell them from small ones.
func fileOf(world string) string {
	var capitals big.Int
	for i, letter := range []byte(world) {
		if letter >= 'A' && letter <= 'Z' {
			capitals.SetBit(&capitals, i, 1)
		}
	}
	if capitals.Sign() == 0 {
		return world + ".json"
	}
	return strings.ToLower(world) + "+" + capitals.Text(36) + ".json"
}

// worldOfFile returns the world that a file is of; ok is false for another file.
func worldOfFile(file string) (world string, ok bool) {
	var capitals big.Int
	lower, places, _ := strings.Cut(strings.TrimSuffix(file, ".json"), "+")
	capitals.SetString(places, 36)
	letters := []byte(lower)
	for i := range letters {
		if capitals.Bit(i) == 1 {
			letters[i] = strings.ToUpper(lower)[i]
		}
	}
	world = string(letters)
	return world, clubsim.IsWorld(world) && fileOf(world) == file
}

// keep writes the file of a world if something may have changed since it was written; with the time zero in any case.
func (s *Server) keep(w *world, now time.Time) {
	w.files.Lock()
	defer w.files.Unlock()
	wrote := time.Unix(0, w.wrote.Load())
	if s.cfg.State == "" || w.wrote.Load() == 0 || !now.IsZero() && (w.file.at.After(wrote.Add(settle)) || now.Before(w.file.next)) {
		return
	}
	defer func(began time.Time) { w.file.next = s.cfg.Now().Add(9 * s.cfg.Now().Sub(began)) }(s.cfg.Now())
	if w.isGone() { // a snapshot would make it again
		return
	}
	content := s.club.World(w.name).Snapshot()
	if w.isGone() {
		return
	}
	if bytes.Equal(content, w.file.content) {
		w.file.at = now
		return
	}
	if err := ReplaceFile(w.path(), content); err != nil {
		s.cfg.Log.Error("the world is not kept", "world", w.name, "error", err)
		return // the next tick tries again
	}
	w.file.content, w.file.at = content, now
}

// newFile begins the names of files that are being written.
const newFile = ".new-"

// ReplaceFile writes a file so that a crash leaves the former or the new one.
func ReplaceFile(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), newFile+"*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

func (w *world) isGone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

func (w *world) forgetFile() {
	w.files.Lock()
	defer w.files.Unlock()
	if w.server.cfg.State == "" {
		return
	}
	if err := os.Remove(w.path()); err != nil && !errors.Is(err, os.ErrNotExist) {
		w.server.cfg.Log.Error("the file of the world is not removed", "world", w.name, "error", err)
	}
}

// Load reads the worlds that State keeps, in a folder that no other process has. It fails with the name of a file that cannot be read, and
// changes no such file. A world that nobody uses goes a day later: the file's time tells when it changed, not when it was used.
func (s *Server) Load() error {
	if s.cfg.State == "" {
		return nil
	}
	if err := os.MkdirAll(s.cfg.State, 0o700); err != nil {
		return err
	}
	if err := s.lockState(); err != nil {
		return err
	}
	probe := filepath.Join(s.cfg.State, ".writable")
	if err := errors.Join(ReplaceFile(probe, nil), os.Remove(probe)); err != nil {
		return err
	}
	files, err := os.ReadDir(s.cfg.State)
	if err != nil {
		return err
	}
	for _, file := range files {
		path := filepath.Join(s.cfg.State, file.Name())
		if strings.HasPrefix(file.Name(), newFile) {
			_ = os.Remove(path) // it takes room, and the next start tries again
		}
		name, isWorld := worldOfFile(file.Name())
		if !isWorld {
			continue
		}
		if err := s.load(name); err != nil {
			return fmt.Errorf("%s: %w; move or delete the file to start without it", path, err)
		}
	}
	return nil
}

// lockState takes the folder until Close: two processes would overwrite each other's worlds.
func (s *Server) lockState() error {
	lock := flock.New(filepath.Join(s.cfg.State, ".lock"))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return fmt.Errorf("%s cannot be locked: %w", s.cfg.State, err)
	case !locked:
		return fmt.Errorf("another mock mode has the folder %s: stop that one, or give this one a folder of its own", s.cfg.State)
	}
	s.lock = lock
	return nil
}

func (s *Server) load(name string) error {
	w := s.world(name)
	content, err := os.ReadFile(w.path())
	if err != nil {
		return err
	}
	err = s.club.World(name).Restore(content)
	w.wrote.Store(0) // the file has it
	return err
}
