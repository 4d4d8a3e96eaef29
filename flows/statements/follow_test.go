package statements_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/flowstest"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
	"frontdesk/flows/keyring"
	"frontdesk/flows/statements"
)

// ordered is an item with its right of withdrawal.
func ordered(right bool, until string) contract.Ordering {
	return contract.Ordering{Name: "Flex", Price: flows.Money{Amount: 6890, Currency: "EUR"},
		Withdrawal: contract.WithdrawalPeriod{Right: right, Until: until}}
}

// confirmed keeps the confirmation of a registration of which nothing else is left, and returns the registration's id.
func confirmed(world *flowstest.World, keys *keyring.Keyring, name, email, number string, items ...contract.Ordering) string {
	world.Helper()
	document, err := json.Marshal(map[string]contract.Ordered{"order": {Items: items}})
	if err != nil {
		world.Fatal(err)
	}
	confirmation := &flows.Confirmation{
		Registration:     uuid.NewString(),
		ClientToken:      "demo",
		ClubID:           "13",
		ContactNumber:    number,
		Email:            email,
		PersonPseudonyms: keys.NamePseudonyms("demo", name)[:1],
		At:               world.Clock.Now().Add(-3 * 24 * time.Hour),
		Amount:           6890,
		Currency:         "EUR",
		Document:         document,
	}
	keep(world, keys, confirmation)
	return confirmation.Registration
}

func keep(world *flowstest.World, keys *keyring.Keyring, confirmation *flows.Confirmation) {
	world.Helper()
	store := world.Gateway(flowstest.Options{Keys: keys}).Store
	if _, err := store.SaveConfirmation(world.Context(), confirmation, flowstest.ProofsKept); err != nil {
		world.Fatal(err)
	}
}

// withdrawn has a person withdraw, and returns what operators see of it.
func (d *desk) withdrawn(declared flows.Declaration) statements.Detail {
	d.world.Helper()
	declared.Language = "en"
	_, secret, err := d.State(d.world.Context(), statements.Request{Kind: flows.Withdrawal, ClientToken: "demo", Declared: declared})
	if err != nil {
		d.world.Fatal(err)
	}
	received := d.confirm(flows.Withdrawal, secret)
	d.followUp()
	return flowstest.Must(d.world, func() (statements.Detail, error) { return d.Show(d.world.Context(), received.ID) })
}

// TestContractsAreFound: long after a registration was deleted, the contract is found by what its person declares. A stranger's statement
// finds none, and a name that two people have decides nothing.
func TestContractsAreFound(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	keys := flowstest.NewKeyring(t, "one")
	d := newDesk(world, keys)
	until := world.Clock.Now().AddDate(0, 0, 11).Format(time.DateOnly)
	ada := confirmed(world, keys, "Ada Martin", "ada@example.com", "11-001007", ordered(true, until))
	confirmed(world, keys, "Grace Durand", "grace@example.com", "11-001008", ordered(true, until))
	confirmed(world, keys, "Grace Durand", "gd@example.com", "11-001009", ordered(true, until))
	for name, test := range map[string]struct {
		declared flows.Declaration
		by       flows.FoundBy // empty: Ada's contract is not found
		found    int
	}{
		"e-mail, spelled otherwise": {flows.Declaration{Name: "A. M.", Email: "ADA@Example.com"}, flows.ByEmail, 1},
		"number in a sentence":      {flows.Declaration{Name: "A. M.", Email: "a@b.example", Contract: "member 11001007."}, flows.ByNumber, 1},
		"number with spaces":        {flows.Declaration{Name: "A. M.", Email: "a@b.example", Contract: "11 - 001007"}, flows.ByNumber, 1},
		"id of the registration":    {flows.Declaration{Name: "A. M.", Email: "a@b.example", Contract: "order " + ada}, flows.ByRegistration, 1},
		"name, the other way round": {flows.Declaration{Name: "MARTIN ada", Email: "a@b.example"}, flows.ByName, 1},
		"a stranger":                {flows.Declaration{Name: "Bob", Email: "bob@example.com", Contract: "12-001007"}, "", 0},
		"a name that two have":      {flows.Declaration{Name: "Grace Durand", Email: "a@b.example"}, "", 2},
	} {
		shown := d.withdrawn(test.declared)
		if len(shown.Contracts) != test.found {
			t.Errorf("%s: found %+v", name, shown.Contracts)
		}
		if test.by == "" {
			if shown.Period != flows.PeriodUnknown || shown.AtStake != nil {
				t.Errorf("%s: it is %s, with %+v at stake", name, shown.Period, shown.AtStake)
			}
			continue
		}
		if len(shown.Contracts) == 1 && (shown.Contracts[0].Registration != ada || shown.Contracts[0].By != test.by) {
			t.Errorf("%s: found %+v", name, shown.Contracts[0])
		}
		if shown.Period != flows.WithinPeriod || shown.AtStake == nil || shown.AtStake.Amount != 6890 {
			t.Errorf("%s: it is %s, with %+v at stake", name, shown.Period, shown.AtStake)
		}
	}
}

// TestPeriodAsAgreed: whether a withdrawal arrived in time follows from what was agreed for each item, not from the date alone.
func TestPeriodAsAgreed(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	keys := flowstest.NewKeyring(t, "one")
	d := newDesk(world, keys)
	day := func(after int) string { return world.Clock.Now().UTC().AddDate(0, 0, after).Format(time.DateOnly) }
	for name, test := range map[string]struct {
		items []contract.Ordering
		want  flows.Period
	}{
		"the last day":                   {[]contract.Ordering{ordered(true, day(0))}, flows.WithinPeriod},
		"two days after the last day":    {[]contract.Ordering{ordered(true, day(-2))}, flows.OutsidePeriod},
		"on a fixed date":                {[]contract.Ordering{ordered(false, "")}, flows.NoRight},
		"goods":                          {[]contract.Ordering{ordered(true, "")}, flows.PeriodUnknown},
		"goods, and an expired period":   {[]contract.Ordering{ordered(true, day(-2)), ordered(true, "")}, flows.PeriodUnknown},
		"one with a right and one none":  {[]contract.Ordering{ordered(false, ""), ordered(true, day(5))}, flows.WithinPeriod},
		"one too late, and one no right": {[]contract.Ordering{ordered(false, ""), ordered(true, day(-2))}, flows.OutsidePeriod},
		"an order that is not known":     {nil, flows.PeriodUnknown},
	} {
		email := uuid.NewString() + "@example.com"
		confirmed(world, keys, uuid.NewString(), email, "", test.items...)
		if shown := d.withdrawn(flows.Declaration{Name: "Ada", Email: email}); shown.Period != test.want {
			t.Errorf("%s: it is %s, not %s", name, shown.Period, test.want)
		}
	}
}

// TestGuardianWithdraws: the guardian who concluded a minor's contract withdraws from it by their own name or e-mail address, and operators
// see the contract, within its period.
func TestGuardianWithdraws(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	keys := flowstest.NewKeyring(t, "one")
	d, at := newDesk(world, keys), world.Clock.Now()
	order, err := json.Marshal(contract.Ordered{Items: []contract.Ordering{ordered(true, at.Format(time.DateOnly))}})
	if err != nil {
		t.Fatal(err)
	}
	id := uuid.NewString()
	confirmation, err := contract.Confirm(&flows.Registration{
		ID:            id,
		ClientToken:   "demo",
		ClubID:        "12",
		NamePseudonym: keys.NamePseudonyms("demo", "Lou Garnier")[0],
		Guardian:      flows.Guardian{GivenName: "Anne", FamilyName: "Garnier", Relation: "parent", Email: "anne@example.com"},
		GuardianName:  keys.NamePseudonyms("demo", "Anne Garnier")[0],
		Contact:       &flows.Contact{Number: "12-001007", GivenName: "Lou", Entered: "lou@example.com"},
		Ordered:       &flows.Ordered{Language: "en", Order: order},
	}, &flows.Payment{Amount: 6890, Currency: "EUR", State: flows.Recorded, UpdatedAt: at}, catalogue.Details{}, "https://club.example")
	if err != nil {
		t.Fatal(err)
	}
	keep(world, keys, confirmation)
	for by, declared := range map[flows.FoundBy]flows.Declaration{
		flows.ByEmail: {Name: "A. G.", Email: "Anne@example.com"},
		flows.ByName:  {Name: "Anne Garnier", Email: "ag@work.example"},
	} {
		shown := d.withdrawn(declared)
		if len(shown.Contracts) != 1 || shown.Contracts[0].Registration != id || shown.Contracts[0].By != by {
			t.Errorf("%s finds %+v", by, shown.Contracts)
		}
		if shown.Period != flows.WithinPeriod || shown.AtStake == nil || shown.AtStake.Amount != 6890 {
			t.Errorf("by %s, it is %s, with %+v at stake", by, shown.Period, shown.AtStake)
		}
	}
}

// TestContractsOutliveKeys: once a gateway with a new key has started, contracts are found without the old one, by what is about the buyer
// and by what is about the guardian.
func TestContractsOutliveKeys(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	old, id := flowstest.NewKeyring(t, "one"), uuid.NewString()
	keep(world, old, &flows.Confirmation{
		Registration:     id,
		ClientToken:      "demo",
		ContactNumber:    "11-001007",
		Email:            "ada@example.com",
		GuardianEmail:    "anne@example.com",
		PersonPseudonyms: slices.Concat(old.NamePseudonyms("demo", "Ada Martin"), old.NamePseudonyms("demo", "Anne Garnier")),
		At:               world.Clock.Now(),
		Document: []byte(`{"buyer":{"number":"11-001007","givenName":"Ada","familyName":"Martin"},` +
			`"guardian":{"givenName":"Anne","familyName":"Garnier","relation":"parent"},"order":{"items":[]}}`),
	})
	both, alone := flowstest.NewKeyring(t, "two", "one"), flowstest.NewKeyring(t, "two")
	if err := world.Gateway(flowstest.Options{Keys: both}).Store.RenewConfirmations(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := newDesk(world, alone)
	for _, declared := range []flows.Declaration{
		{Name: "A", Email: "ada@example.com"},
		{Name: "A", Email: "a@b.example", Contract: "11-001007"},
		{Name: "Ada Martin", Email: "a@b.example"},
		{Name: "A", Email: "anne@example.com"},
		{Name: "Garnier Anne", Email: "a@b.example"},
	} {
		if found := d.withdrawn(declared).Contracts; len(found) != 1 || found[0].Registration != id {
			t.Errorf("by %+v: %+v", declared, found)
		}
	}
}
