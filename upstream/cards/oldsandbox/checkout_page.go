package oldsandbox

import (
	"bytes"
	"embed"
	"math"
	"net/http"
	"net/url"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"frontdesk/upstream/cards"
)

//go:embed web/assets
var assets embed.FS

// view is what the hosted page shows of a payment: where a buyer pays, passes the bank's
// challenge, and sees the result. The page works without its script.
type view struct {
	ID        string
	Step      string // pay, challenge, done, cancelled or missing
	Headline  string
	Text      string
	Amount    string // in the visitor's language
	Language  string // of the amount
	Problem   string // why the last attempt failed; empty: it did not
	Merchant  string // the payment's description, or else the host that the buyer returns to
	ReturnURL string
}

func showPage(w http.ResponseWriter, r *http.Request, p Payment, err error) {
	v, status := viewOf(p, visitorLanguage(r), r.URL.Query().Get("problem")), http.StatusOK
	if err != nil {
		v, status = view{Step: "missing", Headline: "No such payment"}, http.StatusNotFound
		v.Text = "The link may be incomplete, or the sandbox was restarted and lost its payments."
	}
	var body bytes.Buffer
	_ = v.page().Render(&body) // a buffer accepts everything
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", contentSecurityPolicy(p.ReturnURL))
	w.Header().Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w)
}

// serveAsset serves a file of the page. Browsers revalidate it: it changes with the binary.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, assets, "web/assets/"+r.PathValue("name")) // #nosec G703 -- what is embedded is public
}

// contentSecurityPolicy allows only the page's own files. The merchant's origin is a form
// action because browsers also check the redirect after a form.
func contentSecurityPolicy(returnURL string) string {
	policy := "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
	if u, err := url.Parse(returnURL); err == nil && u.Host != "" {
		policy += " " + u.Scheme + "://" + u.Host
	}
	return policy
}

func viewOf(p Payment, visitor language.Tag, problem string) view {
	v := view{
		ID: p.ID, Step: "done", Amount: formatAmount(p.Amount, p.Currency, visitor), Language: visitor.String(),
		Merchant: p.Description, ReturnURL: p.ReturnURL,
	}
	if u, err := url.Parse(p.ReturnURL); err == nil && v.Merchant == "" {
		v.Merchant = u.Host
	}
	switch {
	case p.Processing:
		v.Headline, v.Text = "Payment in progress", "Your bank is working on it. There is nothing more to do."
	case p.Challenge:
		v.Step, v.Headline = "challenge", "Your bank asks you to confirm"
		v.Text = "This is where a bank would ask for a code or a fingerprint. In the sandbox you decide how it ends."
	case p.State == cards.RequiresAction, p.State == cards.Declined:
		v.Step, v.Headline = "pay", "Pay "+v.Amount
		v.Problem = problemText(p.DeclineCode, problem)
	case p.State == cards.Cancelled:
		v.Step, v.Headline = "cancelled", "Payment cancelled"
		v.Text = "Nothing was charged, and nothing will be."
	case p.State == cards.Refunded:
		v.Headline, v.Text = "Payment refunded", "The full amount was refunded."
	case p.Refunded > 0:
		v.Headline, v.Text = "Payment complete", "Of this, "+formatAmount(p.Refunded, p.Currency, visitor)+" was given back."
	case p.State == cards.Captured:
		v.Headline, v.Text = "Payment complete", "There is nothing more to pay."
	default:
		v.Headline, v.Text = "Payment authorised", "The amount is reserved on your card. There is nothing more to pay."
	}
	return v
}

func problemText(declineCode, problem string) string {
	if problem == codeInvalidNumber {
		return "That is not a complete card number. Check the digits, or choose a test card."
	}
	return map[string]string{
		declineCard:           "Your card was declined. Nothing was charged. Try another card.",
		declineFunds:          "This card has insufficient funds. Nothing was charged. Try another card.",
		declineAuthentication: "Your bank did not confirm the payment. Nothing was charged. Try again, or use another card.",
	}[declineCode]
}

// visitorLanguage is the first language that the browser asks for.
func visitorLanguage(r *http.Request) language.Tag {
	tags, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil || len(tags) == 0 || tags[0] == language.Und {
		return language.English
	}
	return tags[0]
}

// formatAmount writes minor units as the visitor's language does: €49.90, 49,90 €.
func formatAmount(minor int64, code string, visitor language.Tag) string {
	symbol, digits := code, 2
	printer := message.NewPrinter(visitor)
	if unit, err := currency.ParseISO(code); err == nil {
		symbol = printer.Sprint(currency.Symbol(unit))
		digits, _ = currency.Standard.Rounding(unit)
	}
	// A float64 holds the at most eight digits of an amount exactly enough to print.
	figure := printer.Sprint(number.Decimal(float64(minor)/math.Pow10(digits), number.Scale(digits)))
	const noBreak = "\u00a0"
	base, _ := visitor.Base()
	switch base.String() {
	case "en", "ja", "ko", "zh", "hi", "th", "tr":
		if symbol != code {
			return symbol + figure
		}
		fallthrough
	case "nl", "id", "ms":
		return symbol + noBreak + figure
	}
	return figure + noBreak + symbol
}
