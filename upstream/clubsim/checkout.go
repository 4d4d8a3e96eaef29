package clubsim

// Values of Settings.Checkouts; without them, the registers of the clubs cannot be read.
const (
	checkoutsHidden        = "hidden"
	checkoutsOtherAccount  = "otherAccount"
	checkoutsOtherCurrency = "otherCurrency"
)

// The account of a club's own payments on the web is that of the processor's double, unless the settings say otherwise.
const (
	checkoutAccount = "acct_demo"
	otherAccount    = "acct_other"
	otherCurrency   = "CHF"
)

// checkout is the number of the club's register for sales on the web.
func (c *club) checkout() int { return c.ID*10 + 1 }

// checkoutAt returns the club of a register.
func (c *request) checkoutAt(id int) (*club, error) {
	for _, at := range c.w.catalogue.Clubs {
		if at.checkout() == id {
			return c.clubAt(at.ID)
		}
	}
	return nil, itemNotFound()
}

func (w *World) checkoutRecord(at *club) record {
	account, money := checkoutAccount, currency
	switch w.settings.Checkouts {
	case checkoutsOtherAccount:
		account = otherAccount
	case checkoutsOtherCurrency:
		money = otherCurrency
	}
	return w.record("Checkout", "checkouts", at.checkout(), record{
		"name":                         "Web",
		"clubId":                       w.iri("clubs", at.ID),
		"currency":                     money,
		"webPaymentProviderType":       "stripe",
		"paymentProviderConfiguration": record{"publicKey": "pk_test_demo", "accountId": account},
	})
}

// listCheckouts: GET checkouts.
func listCheckouts(c *request) (response, error) {
	listed := filter(c.w.catalogue.Clubs, func(at *club) bool { return c.listed(at.ID, nil) })
	return paginate(c, "Checkout", listed, c.w.checkoutRecord)
}

func (s Settings) hidesCheckouts() bool { return s.Checkouts == checkoutsHidden }
