package flows

import "fmt"

// Price shows an amount in minor units to operators; every currency that clubs use has two decimals.
func Price(amount int64, currency string) string {
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, amount/100, amount%100, currency)
}
