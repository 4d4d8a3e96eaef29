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
		single(19, kindOption, "Sauna & Steam", 9900, lasts("P12M"),
			"A year of warmth after training: Finnish sauna, steam room and the quiet room.").offered("Sauna & Steam, paid once"),
		{id: 20, kind: kindOption, name: "Towel Service", behaviors: lasts(""),
			description: "A fresh towel at every visit. Travel light.",
			offers: []offer{{name: "Towel Service, every four weeks", total: 590, upfront: true, rhythm: "week4",
				recurrences: []instalment{every("P4W", 590)}}}},
		single(21, kindOption, "Drinks Station", 3900, lasts("P6M"),
			"Water with minerals and a taste of fruit, as much as you like, for six months.").offered("Drinks Station, paid once"),
		single(22, kindOption, "Training Plan", 5900, lasts("P3M"),
			"A plan made for you by a coach and adjusted every two weeks, for three months.").offered("Training Plan, paid once"),
		single(23, kindOption, "Climbing Wall", 12900, lasts("P12M"),
			"Fourteen metres of wall, routes reset every month, shoes included.").offered("Climbing Wall, paid once").only(rule{clubs: []int{13, 21}}),
		single(24, kindOption, "Pool", 14900, lasts("P12M"),
			"Four lanes of 25 metres on the lower floor, every day from seven.").offered("Pool, paid once").only(rule{clubs: []int{12, 22}}),
	}
}

// passProducts are badges, booklets, packages, countermarks and trials.
func passProducts() []*product {
	return []*product{
		single(25, kindBadge, "Access Badge", 500, []behavior{{kind: kindBadge}},
			"Opens the doors and your locker. Yours to keep."),
		single(26, kindBadge, "Access Wristband", 1200, []behavior{{kind: kindBadge}},
			"The badge for people without pockets: silicone, waterproof, four colours."),
		single(27, kindBadge, "Replacement Badge", 800, []behavior{{kind: kindBadge}},
			"Lost yours? We switch the old one off and hand you a new one.").only(rule{channels: []string{"club", "terminal"}}),

		single(28, kindCounter, "10-Visit Booklet", 9900, credits(kindCounter, 10, "P12M"),
			"Ten visits, one year to use them, no subscription needed."),
		single(29, kindCounter, "20-Visit Booklet", 17900, credits(kindCounter, 20, "P12M"),
			"Twenty visits for the price of eighteen. Share them with a friend if you like."),
		single(30, kindCounter, "5 Coaching Sessions", 22500, credits(kindCounter, 5, "P6M"),
			"Five hours one to one with the coach of your choice."),
		single(31, kindCounter, "10 Reformer Pilates Classes", 18900, credits(kindCounter, 10, "P9M"),
			"Small groups of six on the reformer, beginners welcome."),

		single(32, kindPackage, "Starter Package", 17900, []behavior{{kind: kindSubscription, validity: "P3M"}, {kind: kindBadge}, {kind: kindCounter, quantity: 2, validity: "P3M"}},
			"All you need to begin: three months of full access, your badge, and two coaching sessions to learn the machines.").only(rule{newcomers: true}),
		single(33, kindPackage, "Reboot in 8 Weeks", 34900, []behavior{{kind: kindSubscription, validity: "P8W"}, {kind: kindCounter, quantity: 8, validity: "P8W"}},
			"Eight weeks with a plan: full access, eight coaching sessions and a check-up before and after."),
		single(34, kindPackage, "New Parents Package", 13900, []behavior{{kind: kindCounter, quantity: 10, validity: "P6M"}, {kind: kindCountermark, quantity: 10}},
			"Ten visits with ten hours of childcare in our bright playroom."),

		single(35, kindCountermark, "Guest Day Ticket", 1500, credits(kindCountermark, 1, "P3M"),
			"Bring somebody along for a day."),
		single(36, kindCountermark, "Childcare Tokens", 3000, credits(kindCountermark, 5, "P6M"),
			"Five hours in the playroom while you train.").offered("Childcare Tokens, set of five"),
		single(37, kindCountermark, "Parking Tokens", 2000, credits(kindCountermark, 10, ""),
			"Ten times two hours in the garage below the club.").offered("Parking Tokens, set of ten").only(rule{clubs: []int{12, 13, 22}}),

		single(38, kindTrial, "Free Trial Session", 0, credits(kindTrial, 1, ""),
			"Come and look around: one visit with a coach who shows you everything. Free, and no strings attached.").only(rule{newcomers: true}),
		single(39, kindTrial, "Discovery Day", 1500, credits(kindTrial, 1, ""),
			"A whole day in the club, two classes and the sauna included.").only(rule{newcomers: true}),
	}
}

// shopProducts are goods.
func shopProducts() []*product {
	goods := []behavior{{kind: kindRegular}}
	atDesk := rule{channels: []string{"club", "terminal"}}
	return []*product{
		single(40, kindRegular, "Steel Bottle", 2200, goods,
			"Keeps 750 ml cold for a long day. Fits every holder in the club."),
		single(41, kindRegular, "Training Towel", 1600, goods,
			"Quick-drying, 50 × 100 cm, with a pocket for your badge."),
		single(42, kindRegular, "Locker Padlock", 900, goods,
			"Four digits, no key to lose."),
		single(43, kindRegular, "Lifting Gloves", 2400, goods,
			"Soft leather, open back, sizes S to XL."),
		single(44, kindRegular, "Resistance Band Set", 1900, goods,
			"Three strengths for the days when you train at home."),
		single(45, kindRegular, "Club T-Shirt", 2500, goods,
			"Organic cotton, cut for moving."),
		single(46, kindRegular, "Yoga Mat", 4900, goods,
			"Natural rubber, 4 mm, does not slip."),
		single(47, kindRegular, "Protein Shake", 550, goods,
			"Freshly mixed at the bar: vanilla, cocoa or berries.").only(atDesk),
		single(48, kindRegular, "Espresso", 220, goods,
			"From the machine that our coaches run on.").only(atDesk),
	}
}
