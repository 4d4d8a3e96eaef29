package registration

import (
	"context"
	"slices"

	"frontdesk/flows"
)

// CheckCountry returns MobileUnreachable for a number that a stranger gave, of a country without codes. A club
// without a country gets codes for all numbers, unless countries are configured. Codes of staff, and of gateways
// without limits, are not checked.
func (c *CodeSender) CheckCountry(ctx context.Context, mobile, home string) error {
	if c.cfg.Budget == nil || ctx.Value(networksKey{}) == nil {
		return nil
	}
	allowed := c.cfg.Budget.cfg.Countries
	if len(allowed) == 0 {
		allowed = []string{home}
	}
	isAllowed := func(country string) bool { return slices.Contains(allowed, country) }
	if mobile == "" || allowed[0] == "" || slices.ContainsFunc(flows.PhoneCountries(mobile, home), isAllowed) {
		return nil
	}
	return &flows.Error{Code: flows.MobileUnreachable, Detail: "The club sends no codes to mobile numbers of this country. Please enter another number, or ask its staff."}
}
