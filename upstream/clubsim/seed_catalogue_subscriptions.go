package clubsim

import "time"

// What the registration fee of a subscription is called on its offers.
const feeName = "Registration fee"

// single is a product with one offer of the same name that is paid in full at once.
func single(id int, kind, name string, price int, behaviors []behavior, description string) *product {
	return &product{id: id, kind: kind, name: name, description: description, behaviors: behaviors, offers: []offer{{total: price}}}
}

// offered names the offer of a single product.
func (p *product) offered(name string) *product {
	p.offers[0].name = name
	return p
}

// only restricts a product.
func (p *product) only(r rule) *product {
	p.rule = r
	return p
}

// subscriptionBehavior opens the doors for a time; empty: until it is cancelled.
func subscriptionBehavior(validity string) []behavior {
	return []behavior{{kind: kindSubscription, validity: validity}}
}

// every repeats an interval without end; a recurrence has neither loop nor offset.
func every(interval string, price int) instalment {
	return instalment{offset: "P0W", interval: interval, price: price}
}

// times repeats an interval a number of times.
func times(loop int, interval string, price int) instalment {
	return instalment{offset: "P0W", interval: interval, loop: loop, price: price}
}

// during repeats an interval for a whole duration.
func during(whole, interval string, price int) instalment {
	return instalment{offset: whole, interval: interval, price: price}
}

// subscriptionProducts are paid at once and run for a fixed time.
func subscriptionProducts() []*product {
	return []*product{
		single(1, kindSubscription, "Year Pass", 45900, subscriptionBehavior("P12M"),
			"Twelve months of training whenever you like: gym floor, free weights and all changing rooms, 6 am to 11 pm. Paid once, nothing more to think about.").offered("Year Pass, paid once"),
		single(2, kindSubscription, "Quarter Pass", 14900, subscriptionBehavior("P3M"),
			"Three months to find your rhythm. Full access to the gym floor and free weights, with a programme that our coaches set up with you.").offered("Quarter Pass, paid once"),
		{id: 3, kind: kindSubscription, name: "Premium Year", behaviors: subscriptionBehavior("P12M"),
			description: "Everything under one roof for a year: all classes, the sauna and the climbing wall. Comes with your own access badge.",
			offers:      []offer{{name: "Premium Year, paid once", total: 69900, options: []int{2501}}}},
		single(4, kindSubscription, "Night Owl Year", 39900, subscriptionBehavior("P12M"),
			"The club around the clock, nights and holidays included. The staff goes home at eleven, so this one is for adults only.").offered("Night Owl Year, paid once").only(rule{minAge: 18}),
		single(5, kindSubscription, "Silver Year 60+", 34900, subscriptionBehavior("P12M"),
			"Strength, balance and company: weekday mornings with a coach on the floor, gentle classes included. For members aged 60 and over.").offered("Silver Year, paid once").only(rule{minAge: 60}),
		single(6, kindSubscription, "Junior Term", 9900, subscriptionBehavior("P4M"),
			"Supervised training for ages 14 to 17, Wednesday and Saturday afternoons and every day of the school holidays.").offered("Junior Term, paid once").only(rule{minAge: 14, maxAge: 17}),
		single(7, kindSubscription, "Student Year", 32900, subscriptionBehavior("P12M"),
			"The Year Pass at a price that leaves something for books. Bring your student card on your first visit.").offered("Student Year, paid once").only(rule{tags: []string{"student"}}),
		single(8, kindSubscription, "Summer Pass", 11900, subscriptionBehavior("P3M"),
			"June to September without a contract: gym floor, terrace workouts and open-air classes.").offered("Summer Pass, paid once").only(rule{fromMonth: time.June, throughMonth: time.August}),
		{id: 49, kind: kindSubscription, name: "Wellness Year", behaviors: subscriptionBehavior("P12M"),
			description: "Train, then sweat: a year on the gym floor, sold together with a year of sauna and steam.",
			offers:      []offer{{name: "Wellness Year, paid once", total: 42900, options: []int{1901}}}},
	}
}

// debitProducts are subscriptions that are collected by direct debit, in every billing rhythm.
func debitProducts() []*product {
	return []*product{
		{id: 9, kind: kindSubscription, name: "Flex", behaviors: subscriptionBehavior(""),
			description: "Our most popular plan: full access, no commitment, cancel any month. The first month is paid today, the rest by direct debit.",
			offers: []offer{
				{name: "Flex, monthly", fee: 2900, feeName: feeName, total: 6890, upfront: true, rhythm: "monthly",
					recurrences: []instalment{every("P1M", 3990)}},
				{name: "Flex, every four weeks", fee: 2900, feeName: feeName, total: 6590, upfront: true, rhythm: "week4",
					recurrences: []instalment{every("P4W", 3690)}},
			}},
		{id: 10, kind: kindSubscription, name: "Weekly", behaviors: subscriptionBehavior(""),
			description: "Pay as you train: one small debit a week, stop with a week's notice. No registration fee.",
			offers: []offer{{name: "Weekly, every week", total: 990, upfront: true, rhythm: "week1",
				recurrences: []instalment{every("P1W", 990)}}}},
		{id: 11, kind: kindSubscription, name: "Commit 12", behaviors: subscriptionBehavior("P12M"),
			description: "Twelve months, a better price: full access and two coaching sessions to get you going. The first month is paid today.",
			offers: []offer{{name: "Commit 12, monthly", fee: 1900, feeName: feeName, total: 4890, upfront: true, rhythm: "P1M",
				occurrences: []instalment{times(12, "P1M", 2990)}}}},
		{id: 12, kind: kindSubscription, name: "Commit 52", behaviors: subscriptionBehavior("P52W"),
			description: "A whole year at our lowest weekly price, collected every four weeks: thirteen debits and you are done.",
			offers: []offer{
				{name: "Commit 52, every four weeks", fee: 1900, feeName: feeName, total: 1900, rhythm: "P4W",
					occurrences: []instalment{during("P52W", "P1W", 690)}},
				{name: "Commit 52, every week", fee: 1900, feeName: feeName, total: 1900, rhythm: "P1W",
					occurrences: []instalment{times(52, "P1W", 720)}},
			}},
		{id: 13, kind: kindSubscription, name: "Any Day Start", behaviors: subscriptionBehavior(""),
			description: "Join on any day and pay for the days that are left of the month; from the first of the next month on it is one plain monthly debit.",
			offers: []offer{{name: "Any Day Start, monthly", fee: 1500, feeName: feeName, total: 1500, prorated: true, rhythm: "monthly",
				recurrences: []instalment{every("P1M", 3790)}}}},
		{id: 14, kind: kindSubscription, name: "Smart Start 12", behaviors: subscriptionBehavior("P12M"),
			description: "Twelve calendar months. What you pay today is reduced to the days that are left of this month.",
			offers: []offer{{name: "Smart Start 12, monthly", total: 3290, upfront: true, prorated: true, rhythm: "monthly",
				occurrences: []instalment{times(12, "P1M", 3290)}}}},
		{id: 15, kind: kindSubscription, name: "Premium", behaviors: subscriptionBehavior(""),
			description: "All classes, sauna, climbing wall and a guest every Sunday. Your access badge is part of the order.",
			offers: []offer{{name: "Premium, monthly", fee: 2900, feeName: feeName, total: 8890, upfront: true, rhythm: "P1M",
				recurrences: []instalment{every("P1M", 4990), every("P1M", 1000)}, options: []int{2501}}}},
		{id: 16, kind: kindSubscription, name: "Corporate Flex", behaviors: subscriptionBehavior(""),
			description: "Flex at the price that your employer has agreed with us. No registration fee, nothing due today.",
			rule:        rule{tags: []string{"corporate"}},
			offers: []offer{{name: "Corporate Flex, monthly", total: 0, rhythm: "monthly",
				recurrences: []instalment{every("P1M", 2990)}}}},
		{id: 17, kind: kindSubscription, name: "Off-Peak", behaviors: subscriptionBehavior(""),
			description: "Weekdays from nine to five, when the club is yours. Priced by the week, collected by the month.",
			offers: []offer{{name: "Off-Peak, monthly debit", fee: 900, feeName: feeName, total: 900, rhythm: "monthly",
				recurrences: []instalment{every("P1W", 590)}}}},
		{id: 50, kind: kindSubscription, name: "Easy Start 12", behaviors: subscriptionBehavior("P12M"),
			description: "Twelve months that begin gently: three at a lower price, nine at the usual one. The first month is paid today.",
			offers: []offer{{name: "Easy Start 12, monthly", fee: 1900, feeName: feeName, total: 3890, upfront: true, rhythm: "monthly",
				occurrences: []instalment{times(3, "P1M", 1990), times(9, "P1M", 2990)}}}},
	}
}
