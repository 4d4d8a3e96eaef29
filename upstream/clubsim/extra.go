package clubsim

// maxExtraProducts is the number of the extras: ten things in ten colours and five sizes, 17
// pages more than the demo has without them.
const maxExtraProducts = 500

// extras are the products of Settings.ExtraProducts, with numbers after a catalogue's last one: clothes in colours and sizes.
func extras(last int) (products []*product) {
	first := (last/1000 + 1) * 1000
	for _, size := range []string{"XS", "S", "M", "L", "XL"} {
		for _, colour := range []string{"black", "white", "sand", "night blue", "moss", "rust", "plum", "slate", "lemon", "coral"} {
			for _, thing := range []struct {
				name, description string
				price             int // in cents
			}{
				{"Hoodie", "Warm on the way home, with a pocket for the badge.", 4900},
				{"Leggings", "High waist, opaque, and they stay where they are.", 3900},
				{"Shorts", "Light, with a zip pocket for the locker key.", 2900},
				{"Tank Top", "Cut wide at the shoulders, for the pull-up bar.", 1900},
				{"Sports Bra", "Firm hold for everything that jumps.", 3400},
				{"Training Jacket", "Keeps the wind out between the tram and the club.", 5900},
				{"Socks", "Three pairs, reinforced where shoes rub.", 1200},
				{"Cap", "Dries quickly, adjusts at the back.", 1700},
				{"Headband", "Keeps hair and sweat out of your eyes.", 900},
				{"Wrist Wraps", "Support for heavy days.", 1400},
			} {
				number := len(products) + 1
				products = append(products, &product{
					ID:          first + number,
					extra:       number,
					Kind:        kindRegular,
					Name:        thing.name + ", " + colour + ", " + size,
					Description: thing.description,
					Offers:      []offer{{Total: thing.price}},
				})
			}
		}
	}
	return products
}
