package ops_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/mail/sink"
)

// TestFloodOfUnpaidOrders: a stranger who signs up for something free again and again with the address of another person, spelled in
// many ways, has ten confirmations a day mailed to it. Operators see the others. Paid orders and other mailboxes are not limited.
func TestFloodOfUnpaidOrders(t *testing.T) {
	t.Parallel()
	const limit, tries = 10, 12
	env, mails := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	gateway, client := env.Gateway(t, mails.Environment()...)
	records, at := frontdesktest.RedisClient(t, env.Redis), gateway.OpsAddress()
	tryOut := func(email string) string {
		t.Helper()
		person, start := frontdesktest.Person(), frontdesktest.Day(1)
		person.Email = email
		client.Token = ""
		registration := client.RegisterWith("11", person, api.NewItem{OfferId: frontdesktest.FreeTrial, StartDate: &start})
		client.RequestPayment(registration.Id, map[string]string{"method": "free"}).Into(http.StatusCreated, nil)
		client.Await(registration.Id, api.Completed)
		return registration.Id
	}
	var completed []string
	for n := range tries {
		completed = append(completed, tryOut("Victim+"+strconv.Itoa(n)+"@example.com"))
	}
	held := func() []string { return records.HKeys(t.Context(), "fd:held").Val() }
	frontdesktest.Eventually(t, "each is mailed or held", func() bool { return len(mails.Taken()) == limit && len(held()) == tries-limit })

	if to := client.Registration(completed[tries-1]).Confirmation.MailedTo; to != nil {
		t.Errorf("a buyer reads that a held confirmation goes to %v", *to)
	}
	tryOut("bystander@example.com")
	person := frontdesktest.Person()
	person.Email = "victim@example.com"
	client.Token = ""
	paid := client.RegisterWith("11", person, api.NewItem{OfferId: client.CardOffer("11").Id, StartDate: new(frontdesktest.Day(1))})
	client.Confirm(client.Pay(paid.Id), frontdesktest.ApprovedCard)
	client.Await(paid.Id, api.Completed)
	frontdesktest.Eventually(t, "the other two are mailed", func() bool { return len(mails.Taken()) == limit+2 })
	if len(held()) != tries-limit {
		t.Errorf("held are %v", held())
	}

	for _, id := range held() {
		if !slices.Contains(completed, id) {
			t.Errorf("%s is held", id)
		}
		frontdesktest.Must(t, records.ZAddXX(t.Context(), "fd:unmailed", redis.Z{Score: 1, Member: id}).Err())
	}
	for _, id := range held() {
		said := mustCommand(t, at, "confirmation", "list")
		expectAll(t, said, id, "its mailbox had ten unpaid mails in a day")
		if strings.Contains(said, paid.Id) {
			t.Errorf("operators see the paid one: %s", said)
		}
		mustCommand(t, at, "confirmation", "send", id)
	}
	frontdesktest.Eventually(t, "operators have sent the rest", func() bool { return len(mails.Taken()) == tries+2 })
	expectAll(t, mustCommand(t, at, "confirmation", "list"), "Every confirmation was mailed.")
	if len(held()) != 0 {
		t.Errorf("still held: %v", held())
	}
}

// TestFloodHoldsNoOtherMail: ten acknowledgements and ten unpaid orders of a stranger leave a mailbox no place for another order's
// confirmation, but the acknowledgements alone do; and who else gets that confirmation gets it.
func TestFloodHoldsNoOtherMail(t *testing.T) {
	t.Parallel()
	env, mails := frontdesktest.NewEnv(t), frontdesktest.NewMailServer(t, sink.Config{})
	_, client := env.Gateway(t, mails.Environment()...)
	records, email := frontdesktest.RedisClient(t, env.Redis), "victim@example.com"
	for range 10 {
		var stated api.Statement
		body := api.NewWithdrawal{Name: new("Ada"), Email: &email}
		client.Do("POST", "/v1/withdrawals", body, frontdesktest.Key("")).Into(http.StatusCreated, &stated)
		client.Do("POST", "/v1/withdrawals/"+stated.Id+"/confirm", nil).Into(http.StatusOK, nil)
	}
	frontdesktest.Eventually(t, "ten acknowledgements are mailed", func() bool { return len(mails.Taken()) == 10 })
	tryOut := func(n int) string {
		t.Helper()
		person, start := frontdesktest.Person(), frontdesktest.Day(1)
		person.Email = "buyer" + strconv.Itoa(n) + "@example.com"
		person.Guardian = &api.Guardian{GivenName: "Anne", FamilyName: "Garnier", Relation: api.Parent, Phone: "+33687654321", Email: &email}
		client.Token = ""
		registration := client.RegisterWith("11", person, api.NewItem{OfferId: frontdesktest.FreeTrial, StartDate: &start})
		client.RequestPayment(registration.Id, map[string]string{"method": "free"}).Into(http.StatusCreated, nil)
		client.Await(registration.Id, api.Completed)
		return registration.Id
	}
	for n := range 10 {
		tryOut(n)
	}
	frontdesktest.Eventually(t, "all are mailed", func() bool { return len(mails.Taken()) == 30 })
	if held := records.HKeys(t.Context(), "fd:held").Val(); len(held) != 0 {
		t.Errorf("held are %v", held)
	}
	last := tryOut(10)
	frontdesktest.Eventually(t, "the buyer gets it, and operators see that the guardian did not", func() bool {
		return len(mails.Taken()) == 31 && records.HLen(t.Context(), "fd:held").Val() == 1
	})
	if mail := mails.Taken()[30]; mail.To != "buyer10@example.com" {
		t.Errorf("it went to %v", mail.To)
	}
	if to := client.Registration(last).Confirmation.MailedTo; !slices.Equal(frontdesktest.Value(to), []string{"b•••@example.com"}) {
		t.Errorf("the buyer reads that it goes to %v", to)
	}
}
