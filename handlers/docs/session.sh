# The session in which the examples of this API work as they stand: bash or zsh, curl and jq.
# It speaks to a gateway in mock mode and to its simulated club; nothing here is real.
base=http://localhost:8080
api=$base/v1 sim=$base/sim/demo/_control sandbox=$base/sandbox json='Content-Type: application/json'

# A header with a fresh key: one for each thing that you want to happen.
key() { echo "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"; }

# Starts a registration with an offer in its cart: 201, which is paid by card, unless you name another one; in the world
# that a second word names, or in demo. Sets $id and $holder, the header that proves whose it is. A mobile number gets one
# code a minute, so each is a new one.
start() {
  local answer
  answer=$(curl -s $api/registrations -H "X-Frontdesk-World: ${2:-demo}" -H "$json" -H "$(key)" -d '{
    "clubId": "11", "items": [{"offerId": "'"${1:-201}"'", "startDate": "2030-01-15"}],
    "person": {"givenName": "Ada", "familyName": "Martin", "birthDate": "1990-05-17", "email": "ada@example.com",
               "mobile": "+336'"$(od -An -N4 -tu4 /dev/urandom | awk '{printf "%08d", $1 % 100000000}')"'",
               "address": {"street": "12 rue des Lilas", "postalCode": "75011", "city": "Paris", "country": "FR"}}}')
  id=$(jq -r .id <<<"$answer") holder="Authorization: Bearer $(jq -r .token <<<"$answer")"
}

# The revision of the cart: a payment names the cart that the buyer saw.
cart() { curl -s $api/registrations/$id -H "$holder" | jq -r .cart.revision; }

# The header of a contact, with a token as the club's own login signs it, valid for ten minutes:
# customer, debtor, prospect, former, banned, minor, committed, flexible. A second word names another world than demo.
login() { echo "Authorization: Bearer $(curl -s "$base/sim/${2:-demo}/_control/personas" | jq -r '.items[] | select(.key == "'"$1"'").identityToken')"; }

# The code of the latest SMS, in a world.
code() { curl -s "$base/sim/${1:-demo}/_control/sms" | jq -r '.items[-1].code'; }
