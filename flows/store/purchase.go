package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// claimPurchase notes what a buyer begins to pay, unless another registration has noted the same.
//
// KEYS  purchases of one buyer, under each of their names, then of those who are alike: the millisecond of each, by
// "<offer> <payment>"
// ARGV  1 registration  2 payment  3 now, ms  4 how long to keep a purchase, ms  5 number of the buyer's own names
// 6 number of known payments, then these; then the offers
// Returns "<payment> <ms> <same|alike>" for each purchase of these offers by other registrations that is not known. If
// no earlier one exists, the purchase is noted.
var claimPurchase = redis.NewScript(`
local now, keep = tonumber(ARGV[3]), tonumber(ARGV[4])
local known, offers, found = {}, {}, {}
for i = 7, 6 + ARGV[6] do known[ARGV[i]] = true end
for i = 7 + ARGV[6], #ARGV do offers[ARGV[i]] = true end
for n, key in ipairs(KEYS) do
  local who = n <= tonumber(ARGV[5]) and 'same' or 'alike'
  local noted = redis.call('HGETALL', key)
  for i = 1, #noted, 2 do
    local offer, payment = noted[i]:match('^(%S+) (%S+)$')
    if tonumber(noted[i + 1]) + keep <= now then
      redis.call('HDEL', key, noted[i])
    elseif offers[offer] and not known[payment] and payment:sub(1, #ARGV[1]) ~= ARGV[1] then
      known[payment] = true
      found[#found + 1] = payment .. ' ' .. noted[i + 1] .. ' ' .. who
    end
  end
end
if #found > 0 then return found end
for _, key in ipairs(KEYS) do
  for offer in pairs(offers) do redis.call('HSET', key, offer .. ' ' .. ARGV[2], ARGV[3]) end
  redis.call('PEXPIRE', key, ARGV[4])
end
return found
`)

// ClaimPurchase notes what a buyer begins to pay, for as long as keep. If other registrations have noted purchases of these offers that
// are not known, it returns these and notes nothing. flows.ErrDamaged if one cannot be read.
func (s *Store) ClaimPurchase(ctx context.Context, in flows.Purchase, known []flows.PaymentID,
	keep time.Duration) ([]flows.PastPurchase, error) {
	var keys []string
	for _, name := range slices.Concat(in.Buyer, in.Alike) {
		keys = append(keys, purchasesKey(name))
	}
	registration, _ := in.Payment.Split()
	args := []any{registration, string(in.Payment), in.At.UnixMilli(), keep.Milliseconds(), len(in.Buyer), len(known)}
	for _, id := range known {
		args = append(args, string(id))
	}
	for _, offer := range in.Offers {
		args = append(args, offer)
	}
	reply, err := s.run(ctx, claimPurchase, keys, args...).StringSlice()
	if err != nil {
		return nil, err
	}
	found := make([]flows.PastPurchase, len(reply))
	for i, text := range reply {
		var ms int64
		var who string
		if _, err := fmt.Sscan(text, &found[i].Payment, &ms, &who); err != nil {
			return nil, flows.ErrDamaged
		}
		found[i].At, found[i].Same = time.UnixMilli(ms), who == "same"
	}
	return found, nil
}
