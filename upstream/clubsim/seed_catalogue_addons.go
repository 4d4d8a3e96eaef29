package clubsim

// credits grants a number of visits, or of small goods.
func credits(kind string, quantity int, validity string) []behavior {
	return []behavior{{kind: kind, quantity: quantity, validity: validity}}
}

// optionProducts go with a subscription.
func optionProducts() []*product {
	lasts := func(validity string) []behavior { return []behavior{{kind: kindOption, validity: validity}} }
	return []*product{
		{id: 18, kind: kindOption, name: "All Classes", behaviors: lasts(""),
			description: "Unlimited places in more than sixty classes a week, from early yoga to late boxing.",
			offers: []offer{{name: "All Classes, monthly", total: 1200, upfront: true, rhythm: "monthly",
				recurrences: []instalment{every("P1M", 1200)}}}},
		{id: 19, kind: kindOption, name: "Sauna & Steam", behaviors: lasts("P12M"),
			description: "A year of warmth after training: Finnish sauna, steam room and the quiet room.",
			offers:      []offer{paidOnce("Sauna & Steam, paid once", 9900)}},
		{id: 20, kind: kindOption, name: "Towel Service", behaviors: lasts(""),
			description: "A fresh towel at every visit. Travel light.",
			offers: []offer{{name: "Towel Service, every four weeks", total: 590, upfront: true, rhythm: "week4",
				recurrences: []instalment{every("P4W", 590)}}}},
		{id: 21, kind: kindOption, name: "Drinks Station", behaviors: lasts("P6M"),
			description: "Water with minerals and a taste of fruit, as much as you like, for six months.",
			offers:      []offer{paidOnce("Drinks Station, paid once", 3900)}},
		{id: 22, kind: kindOption, name: "Training Plan", behaviors: lasts("P3M"),
			description: "A plan made for you by a coach and adjusted every two weeks, for three months.",
			offers:      []offer{paidOnce("Training Plan, paid once", 5900)}},
		{id: 23, kind: kindOption, name: "Climbing Wall", behaviors: lasts("P12M"),
			description: "Fourteen metres of wall, routes reset every month, shoes included.",
			rule:        rule{clubs: []int{13, 21}},
			offers:      []offer{paidOnce("Climbing Wall, paid once", 12900)}},
		{id: 24, kind: kindOption, name: "Pool", behaviors: lasts("P12M"),
			description: "Four lanes of 25 metres on the lower floor, every day from seven.",
			rule:        rule{clubs: []int{12, 22}},
			offers:      []offer{paidOnce("Pool, paid once", 14900)}},
	}
}

// passProducts are badges, booklets, packages, countermarks and trials.
func passProducts() []*product {
	return []*product{
		{id: 25, kind: kindBadge, name: "Access Badge", behaviors: []behavior{{kind: kindBadge}},
			description: "Opens the doors and your locker. Yours to keep.",
			offers:      []offer{paidOnce("Access Badge", 500)}},
		{id: 26, kind: kindBadge, name: "Access Wristband", behaviors: []behavior{{kind: kindBadge}},
			description: "The badge for people without pockets: silicone, waterproof, four colours.",
			offers:      []offer{paidOnce("Access Wristband", 1200)}},
		{id: 27, kind: kindBadge, name: "Replacement Badge", behaviors: []behavior{{kind: kindBadge}},
			description: "Lost yours? We switch the old one off and hand you a new one.",
			rule:        rule{channels: []string{"club", "terminal"}},
			offers:      []offer{paidOnce("Replacement Badge", 800)}},

		{id: 28, kind: kindCounter, name: "10-Visit Booklet", behaviors: credits(kindCounter, 10, "P12M"),
			description: "Ten visits, one year to use them, no subscription needed.",
			offers:      []offer{paidOnce("10-Visit Booklet", 9900)}},
		{id: 29, kind: kindCounter, name: "20-Visit Booklet", behaviors: credits(kindCounter, 20, "P12M"),
			description: "Twenty visits for the price of eighteen. Share them with a friend if you like.",
			offers:      []offer{paidOnce("20-Visit Booklet", 17900)}},
		{id: 30, kind: kindCounter, name: "5 Coaching Sessions", behaviors: credits(kindCounter, 5, "P6M"),
			description: "Five hours one to one with the coach of your choice.",
			offers:      []offer{paidOnce("5 Coaching Sessions", 22500)}},
		{id: 31, kind: kindCounter, name: "10 Reformer Pilates Classes", behaviors: credits(kindCounter, 10, "P9M"),
			description: "Small groups of six on the reformer, beginners welcome.",
			offers:      []offer{paidOnce("10 Reformer Pilates Classes", 18900)}},

		{id: 32, kind: kindPackage, name: "Starter Package",
			description: "All you need to begin: three months of full access, your badge, and two coaching sessions to learn the machines.",
			behaviors:   []behavior{{kind: kindSubscription, validity: "P3M"}, {kind: kindBadge}, {kind: kindCounter, quantity: 2, validity: "P3M"}},
			rule:        rule{newcomers: true},
			offers:      []offer{paidOnce("Starter Package", 17900)}},
		{id: 33, kind: kindPackage, name: "Reboot in 8 Weeks",
			description: "Eight weeks with a plan: full access, eight coaching sessions and a check-up before and after.",
			behaviors:   []behavior{{kind: kindSubscription, validity: "P8W"}, {kind: kindCounter, quantity: 8, validity: "P8W"}},
			offers:      []offer{paidOnce("Reboot in 8 Weeks", 34900)}},
		{id: 34, kind: kindPackage, name: "New Parents Package",
			description: "Ten visits with ten hours of childcare in our bright playroom.",
			behaviors:   []behavior{{kind: kindCounter, quantity: 10, validity: "P6M"}, {kind: kindCountermark, quantity: 10}},
			offers:      []offer{paidOnce("New Parents Package", 13900)}},

		{id: 35, kind: kindCountermark, name: "Guest Day Ticket", behaviors: credits(kindCountermark, 1, "P3M"),
			description: "Bring somebody along for a day.",
			offers:      []offer{paidOnce("Guest Day Ticket", 1500)}},
		{id: 36, kind: kindCountermark, name: "Childcare Tokens", behaviors: credits(kindCountermark, 5, "P6M"),
			description: "Five hours in the playroom while you train.",
			offers:      []offer{paidOnce("Childcare Tokens, set of five", 3000)}},
		{id: 37, kind: kindCountermark, name: "Parking Tokens", behaviors: credits(kindCountermark, 10, ""),
			description: "Ten times two hours in the garage below the club.",
			rule:        rule{clubs: []int{12, 13, 22}},
			offers:      []offer{paidOnce("Parking Tokens, set of ten", 2000)}},

		{id: 38, kind: kindTrial, name: "Free Trial Session", behaviors: credits(kindTrial, 1, ""),
			description: "Come and look around: one visit with a coach who shows you everything. Free, and no strings attached.",
			rule:        rule{newcomers: true},
			offers:      []offer{paidOnce("Free Trial Session", 0)}},
		{id: 39, kind: kindTrial, name: "Discovery Day", behaviors: credits(kindTrial, 1, ""),
			description: "A whole day in the club, two classes and the sauna included.",
			rule:        rule{newcomers: true},
			offers:      []offer{paidOnce("Discovery Day", 1500)}},
	}
}

// shopProducts are goods.
func shopProducts() []*product {
	goods := []behavior{{kind: kindRegular}}
	atDesk := rule{channels: []string{"club", "terminal"}}
	return []*product{
		{id: 40, kind: kindRegular, name: "Steel Bottle", behaviors: goods,
			description: "Keeps 750 ml cold for a long day. Fits every holder in the club.", offers: []offer{paidOnce("Steel Bottle", 2200)}},
		{id: 41, kind: kindRegular, name: "Training Towel", behaviors: goods,
			description: "Quick-drying, 50 × 100 cm, with a pocket for your badge.", offers: []offer{paidOnce("Training Towel", 1600)}},
		{id: 42, kind: kindRegular, name: "Locker Padlock", behaviors: goods,
			description: "Four digits, no key to lose.", offers: []offer{paidOnce("Locker Padlock", 900)}},
		{id: 43, kind: kindRegular, name: "Lifting Gloves", behaviors: goods,
			description: "Soft leather, open back, sizes S to XL.", offers: []offer{paidOnce("Lifting Gloves", 2400)}},
		{id: 44, kind: kindRegular, name: "Resistance Band Set", behaviors: goods,
			description: "Three strengths for the days when you train at home.", offers: []offer{paidOnce("Resistance Band Set", 1900)}},
		{id: 45, kind: kindRegular, name: "Club T-Shirt", behaviors: goods,
			description: "Organic cotton, cut for moving.", offers: []offer{paidOnce("Club T-Shirt", 2500)}},
		{id: 46, kind: kindRegular, name: "Yoga Mat", behaviors: goods,
			description: "Natural rubber, 4 mm, does not slip.", offers: []offer{paidOnce("Yoga Mat", 4900)}},
		{id: 47, kind: kindRegular, name: "Protein Shake", behaviors: goods, rule: atDesk,
			description: "Freshly mixed at the bar: vanilla, cocoa or berries.", offers: []offer{paidOnce("Protein Shake", 550)}},
		{id: 48, kind: kindRegular, name: "Espresso", behaviors: goods, rule: atDesk,
			description: "From the machine that our coaches run on.", offers: []offer{paidOnce("Espresso", 220)}},
	}
}
