package clubsim

import "fmt"

// maxExtraProducts is the number of the products below: ten things in ten colours and five
// sizes, 17 pages more than the catalogue has without them.
const maxExtraProducts = 500

// extraProducts are in the shop of a world whose settings ask for a long catalogue.
func extraProducts() []*product {
	things := []struct {
		name, description string
		price             int
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
	}
	colours := []string{"black", "white", "sand", "night blue", "moss", "rust", "plum", "slate", "lemon", "coral"}
	sizes := []string{"XS", "S", "M", "L", "XL"}
	var products []*product
	for _, size := range sizes {
		for _, colour := range colours {
			for _, thing := range things {
				number := len(products) + 1
				name := fmt.Sprintf("%s, %s, %s", thing.name, colour, size)
				p := single(1000+number, kindRegular, name, thing.price, []behavior{{kind: kindRegular}}, thing.description)
				p.extra = number
				products = append(products, p)
			}
		}
	}
	return products
}
