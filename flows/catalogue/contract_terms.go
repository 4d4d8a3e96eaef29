package catalogue

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"frontdesk/flows/schedule"
)

// ContractTerms is what a club's contracts say beyond their prices.
type ContractTerms struct {
	Renewal    Text                      `yaml:"renewal"` // what happens after the minimum term
	Notice     `yaml:",inline"`          // of products without one of their own
	Withdrawal map[string]WithdrawalRule `yaml:"withdrawal"` // by the product's type
}

// Notice is how much notice ends a contract, in words and as a period. Each may be unknown.
type Notice struct {
	Words  Text   `yaml:"notice"`
	Period string `yaml:"noticePeriod"` // ISO 8601 duration
}

// or returns the notice, or another one if nothing is known of it. Words and period stay together, because those of two contracts
// could contradict each other.
func (n Notice) or(other Notice) Notice {
	if n.Words == nil && n.Period == "" {
		return other
	}
	return n
}

// NoticeOf returns the notice that ends the contract about a product.
func (d Details) NoticeOf(productID string) Notice {
	return d.Products[productID].or(d.Contract.Notice)
}

// WithdrawalRule says whether, and from when, the buyer of a product can withdraw from the contract (Directive 2011/83/EU, articles 9
// and 16). Its zero value is the rule for services.
type WithdrawalRule struct {
	Right     *bool  `yaml:"right"`     // nil: true
	From      string `yaml:"from"`      // FromContract or FromDelivery; empty: FromContract
	Exception Text   `yaml:"exception"` // why there is no right
}

// When a withdrawal period begins.
const (
	FromContract = "contract" // the day on which the contract is made
	FromDelivery = "delivery" // the day on which the buyer gets the goods
)

// Goods is the product type of what is handed over.
const Goods = "regular"

// HasRight reports whether the buyer can withdraw.
func (r WithdrawalRule) HasRight() bool { return r.Right == nil || *r.Right }

// WithdrawalRule returns the rule for a type of product. Without one of the operator's, a period begins with the contract, and with the
// delivery of goods.
func (t ContractTerms) WithdrawalRule(productType string) WithdrawalRule {
	rule, ok := t.Withdrawal[productType]
	if !ok && productType == Goods {
		rule.From = FromDelivery
	}
	rule.From = cmp.Or(rule.From, FromContract)
	return rule
}

// or returns terms in which others replace those that are not known.
func (t ContractTerms) or(other ContractTerms) ContractTerms {
	if t.Renewal == nil {
		t.Renewal = other.Renewal
	}
	t.Notice, t.Withdrawal = t.Notice.or(other.Notice), merged(t.Withdrawal, other.Withdrawal)
	return t
}

var productTypes = regexp.MustCompile(`^[a-z_]{1,64}$`)

// maxTerms is the longest text about a contract, as in the public contract.
const maxTerms = 500

func (p *problems) checkContract(at string, terms ContractTerms) {
	p.checkTerms(at+".renewal", terms.Renewal)
	p.checkNotice(at, terms.Notice)
	for _, kind := range slices.Sorted(maps.Keys(terms.Withdrawal)) {
		rule, at := terms.Withdrawal[kind], at+".withdrawal."+kind
		p.refuse(!productTypes.MatchString(kind), at, "must be a type of product, such as subscription")
		p.refuse(rule.From != "" && rule.From != FromContract && rule.From != FromDelivery, at+".from", "%q must be %s or %s", rule.From,
			FromContract, FromDelivery)
		p.refuse(rule.From != "" && !rule.HasRight(), at+".from", "must be absent without a right")
		p.refuse(rule.HasRight() && len(rule.Exception) > 0, at+".exception", "must be absent unless right is false")
		p.refuse(!rule.HasRight() && len(rule.Exception) == 0, at+".exception", "is missing: say why buyers have no right to withdraw")
		p.checkTerms(at+".exception", rule.Exception)
	}
}

func (p *problems) checkNotice(at string, notice Notice) {
	p.checkTerms(at+".notice", notice.Words)
	months, days := schedule.ParseDuration(notice.Period)
	p.refuse(notice.Period != "" && months+days == 0, at+".noticePeriod", "%q must be a duration such as P1M or P14D", notice.Period)
}

// checkTerms checks a text about a contract. It must be in a language that every visitor can be shown.
func (p *problems) checkTerms(at string, text Text) {
	for _, tag := range slices.Sorted(maps.Keys(text)) {
		p.refuse(!tags.MatchString(tag), at, "%q must be a language such as en", tag)
		p.refuse(strings.TrimSpace(text[tag]) == "", at, "must not be empty")
		p.refuse(len([]rune(text[tag])) > maxTerms, at, "must have at most %d characters", maxTerms)
		p.refuse(strings.ContainsFunc(text[tag], func(r rune) bool { return r < ' ' || r == 0x7f }), at, "must be on one line")
	}
	p.refuse(len(text) > 1 && text["en"] == "", at, "must have en among its languages")
}
