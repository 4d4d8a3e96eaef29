package contract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/schedule"
	"frontdesk/flows/text"
	"frontdesk/upstream/mail"
)

// periods are the texts of a duration by its last letter, rhythms those of what is repeated after it, parts those of the parts of a
// price, firsts those of the payment of what is due now, relations those of a guardian's relation, and documents those of an
// agreement's documents.
var (
	periods = map[byte]text.ContractCode{'D': codePeriodDays, 'W': codePeriodWeeks, 'M': codePeriodMonths, 'Y': codePeriodYears}
	rhythms = map[byte]text.ContractCode{'D': codeEveryDays, 'W': codeEveryWeeks, 'M': codeEveryMonths, 'Y': codeEveryYears}

	parts = map[schedule.PartKind]text.ContractCode{
		schedule.Price:           codePartPrice,
		schedule.Fee:             codePartFee,
		schedule.FirstInstalment: codePartFirstInstalment,
		schedule.Prorata:         codePartProrata,
	}

	firsts = map[flows.Method]text.ContractCode{flows.ByCard: textPaidByCard, flows.InPerson: textPaidAtClub, flows.Deferred: textOwed}

	relations = map[string]text.ContractCode{"parent": codeGuardianParent, "legal_guardian": codeGuardianLegal}

	documents = map[flows.DocumentName]text.ContractCode{
		flows.DocumentTerms:                 codeDocumentTerms,
		flows.DocumentPrivacy:               codeDocumentPrivacy,
		flows.DocumentWithdrawalInformation: codeDocumentWithdrawalInformation,
		flows.DocumentEarlyStartRequest:     codeDocumentEarlyStartRequest,
		flows.DocumentMandateText:           codeDocumentMandateText,
	}
)

// writer writes a confirmation in one language.
type writer struct {
	*text.Language
	club catalogue.Details
	in   *confirmed
	at   time.Time // when the contract was concluded
	site string    // the address of the club on the signup site
}

// page is the confirmation as the buyer reads it.
func (w writer) page() mail.Page {
	page := mail.Page{Language: w.Tag, Title: w.say(textTitle, "club", w.in.Club.Name)}
	page.Blocks = []mail.Block{w.opening(), w.ordered(), w.payments(), w.agreements()}
	if w.in.Mandate != nil {
		page.Blocks = append(page.Blocks, w.mandate())
	}
	page.Blocks = append(page.Blocks, w.parties(), w.withdrawal())
	if w.in.Order.hasRight() {
		page.Blocks = append(page.Blocks, w.form())
	}
	return page
}

func (w writer) opening() mail.Block {
	block := mail.Block{
		Paragraphs: []string{w.say(textConcluded, w.instant(w.at)...), w.say(textKeep)},
		Facts:      w.buyer(),
	}
	if g := w.in.Guardian; g != nil {
		by := SignedBy(w.Language, flows.Guardian{GivenName: g.GivenName, FamilyName: g.FamilyName, Relation: g.Relation})
		block.Facts = append(block.Facts, mail.Fact{Name: w.say(textGuardian), Value: by})
	}
	block.Facts = append(known(block.Facts...), mail.Fact{Name: w.say(textRegistration), Value: w.in.RegistrationID})
	return block
}

// buyer names the buyer in full.
func (w writer) buyer() []mail.Fact {
	buyer, born, at := w.in.Buyer, "", ""
	if buyer.BirthDate != "" {
		born = w.say(textDay, "date", buyer.BirthDate)
	}
	if buyer.Address != nil {
		at = strings.Join(w.addressLines(buyer.Address), "\n")
	}
	return []mail.Fact{
		{Name: w.say(textName), Value: strings.TrimSpace(buyer.GivenName + " " + buyer.FamilyName)},
		{Name: w.say(textBirthDate), Value: born},
		{Name: w.say(textAddress), Value: at},
		{Name: w.say(textEmail), Value: buyer.Email},
		{Name: w.say(textNumber), Value: buyer.Number},
	}
}

func (w writer) addressLines(at *address) []string {
	lines := []string{at.Street, strings.Trim(strings.TrimSpace(at.PostalCode+" "+at.City)+", "+at.Country, ", ")}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

func (w writer) ordered() mail.Block {
	block := mail.Block{Heading: w.say(textOrdered)}
	order, price, term := w.in.Order, textPriceNow, textItemRuns
	if w.in.Payment.Method == flows.Deferred {
		price = textPriceAtClub
	}
	if order.mayContinue() {
		term = textCommitment
	}
	for _, item := range order.Items {
		lines := []string{w.say(price, "price", w.money(item.Price))}
		for _, part := range item.Parts {
			lines = append(lines, w.say(parts[part.Kind], "price", w.money(part.Price)))
		}
		if item.StartDate != "" {
			lines = append(lines, w.say(textStarts, "date", item.StartDate))
		}
		if item.Type == catalogue.Goods {
			lines = append(lines, HandedOver(w.Language, w.in.Club.Name, w.club.Address))
		}
		if item.Commitment != "" && item.Commitment != order.MinimumTerm { // which is below, among the payments
			lines = append(lines, w.say(term, "period", w.period(item.Commitment)))
		}
		if item.Personalised {
			lines = append(lines, w.say(textPersonalised))
		}
		block.Facts = append(block.Facts, mail.Fact{Name: item.Name, Value: strings.Join(lines, "\n")})
	}
	if slices.ContainsFunc(order.Items, func(item Ordering) bool { return item.Type == catalogue.Goods }) {
		block.Facts = append(block.Facts, mail.Fact{Name: w.Page[pageGuarantee], Value: w.Page[pageGuaranteeWords]})
	}
	return block
}

func (w writer) payments() mail.Block {
	order := w.in.Order
	today, first := w.club.LocalTime(w.at).Format(time.DateOnly), cmp.Or(firsts[w.in.Payment.Method], textPaid)
	if w.in.Payment.Method == flows.Deferred {
		today = cmp.Or(w.in.Payment.DueDate, today)
	}
	block := mail.Block{Heading: w.say(textPayments), Paragraphs: []string{w.say(textTaxesIncluded)}}
	if w.in.Payment.Total.Amount > 0 {
		lines := []string{w.money(w.in.Payment.Total)}
		if len(order.Taxes) > 0 {
			lines = append(lines, order.TaxesIncluded(w.Language)...)
		}
		block.Facts = append(block.Facts, mail.Fact{Name: w.say(first, "date", today), Value: strings.Join(lines, "\n")})
	}
	var later []string
	for i := range order.Debits { // each with its day
		later = append(later, w.debits(order.Debits[i:i+1]))
	}
	later = append(later, w.endless(order.Endless)...)
	total := ""
	if order.Total != nil {
		total = w.basedOn(order.Basis, w.money(*order.Total))
	}
	minimum, term := "", textRuns
	if order.MinimumTerm != "" {
		minimum = w.period(order.MinimumTerm)
	}
	if order.mayContinue() {
		term = textMinimum
	}
	block.Facts = append(block.Facts, known(
		mail.Fact{Name: w.say(textLater), Value: strings.Join(later, "\n")},
		mail.Fact{Name: w.say(textTotal), Value: total},
		mail.Fact{Name: w.say(term), Value: minimum},
		mail.Fact{Name: w.say(textRenewal), Value: order.Renewal},
		mail.Fact{Name: w.say(textNotice), Value: strings.Join(order.Notices(w.Language), "\n")},
	)...)
	switch order.Basis {
	case schedule.Estimated:
		block.Paragraphs = append(block.Paragraphs, w.say(textNotExact))
	case schedule.Unknown:
		block.Paragraphs = append(block.Paragraphs, w.say(textUnknownSum))
	}
	if order.hasDebits() || order.MinimumTerm != "" {
		block.Link = &mail.Link{Text: w.say(codeCancellation), URL: w.site + "&statement=cancellation"}
	}
	return block
}

func (w writer) agreements() mail.Block {
	block := mail.Block{Heading: w.say(textAgreements)}
	for _, agreement := range w.in.Agreements {
		params := append(w.instant(agreement.At), "version", agreement.Version, "hash", agreement.SHA256)
		name := cmp.Or(w.say(documents[agreement.Document]), string(agreement.Document))
		how := textAgreed
		if agreement.Document == flows.DocumentPrivacy || agreement.Document == flows.DocumentWithdrawalInformation { // information
			how = textAcknowledged
		}
		block.Facts = append(block.Facts, mail.Fact{Name: name, Value: w.say(how, params...)})
	}
	if len(block.Facts) == 0 {
		block.Paragraphs = append(block.Paragraphs, w.say(textNoneAgreed))
	}
	return block
}

func (w writer) parties() mail.Block {
	block := mail.Block{Heading: w.say(textParties), Facts: []mail.Fact{{Name: w.say(textClub), Value: w.contactOf(w.in.Club)}}}
	if w.in.Trader != nil {
		block.Facts = append(block.Facts, mail.Fact{Name: w.say(textTrader), Value: w.contactOf(*w.in.Trader)})
	}
	if m := w.in.Mediator; m != nil {
		block.Paragraphs = []string{w.say(textMediation)}
		block.Facts = append(block.Facts, mail.Fact{Name: w.say(textMediator), Value: m.Name + "\n" + m.URL})
	}
	return block
}

// contactOf is a party with what is known of it, each on a line.
func (w writer) contactOf(p party) string {
	lines := []string{strings.TrimSpace(p.Name + " " + p.LegalForm)}
	if p.Address != nil {
		lines = append(lines, w.addressLines(p.Address)...)
	}
	for _, fact := range known(
		mail.Fact{Name: w.say(textRegister), Value: p.RegistrationNumber},
		mail.Fact{Name: w.say(textVAT), Value: p.VATID},
		mail.Fact{Name: w.say(textPhone), Value: p.Phone},
		mail.Fact{Name: w.say(textEmail), Value: p.Email},
	) {
		lines = append(lines, w.say(textDetail, "name", fact.Name, "value", fact.Value))
	}
	return strings.Join(lines, "\n")
}

func (w writer) withdrawal() mail.Block {
	block := mail.Block{Heading: w.say(textWithdrawal)}
	for _, item := range w.in.Order.Items {
		block.Facts = append(block.Facts, mail.Fact{Name: item.Name, Value: item.Withdrawal.say(w.Language)})
	}
	if w.in.Order.hasRight() {
		at := w.site + "&statement=withdrawal"
		block.Paragraphs = []string{w.say(textHow, "url", at, "to", w.addressee()), w.say(textEffects)}
		block.Link = &mail.Link{Text: w.say(codeWithdrawal), URL: at}
		w.in.Withdrawal.Text = strings.Join(block.Paragraphs, "\n\n")
	}
	return block
}

// form is the model withdrawal form.
func (w writer) form() mail.Block {
	day := w.club.LocalTime(w.at).Format(time.DateOnly)
	block := mail.Block{Heading: w.say(textForm), Paragraphs: []string{
		w.say(textFormUse), w.say(textFormTo, "to", w.addressee()), w.say(textFormNotice), w.say(textFormOrdered, "date", day),
		w.say(textFormLines),
	}}
	w.in.Withdrawal.Form = strings.Join(block.Paragraphs, "\n\n")
	return block
}

// HandedOver says where goods are handed over: at a club, with its address as far as it is known.
func HandedOver(in *text.Language, club string, at catalogue.Address) string {
	parts := []string{club, at.Street, strings.TrimSpace(at.PostalCode + " " + at.City)}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return writer{Language: in}.say(textHandedOver, "place", strings.Join(parts, ", "))
}

// SignedBy names a guardian as the party to a contract, with the relation to the member.
func SignedBy(in *text.Language, guardian flows.Guardian) string {
	name := flows.SingleLine(guardian.Name(), maxWords)
	return in.Fill(in.Contract[relations[guardian.Relation]], map[string]string{"name": name})
}

// addressee is the party to which a withdrawal is declared, on one line: the trader, or else the club.
func (w writer) addressee() string {
	to := w.in.Club
	if w.in.Trader != nil {
		to = *w.in.Trader
		to.Email, to.Phone = cmp.Or(to.Email, w.in.Club.Email), cmp.Or(to.Phone, w.in.Club.Phone)
	}
	parts := []string{strings.TrimSpace(to.Name + " " + to.LegalForm)}
	if to.Address != nil {
		parts = append(parts, to.Address.Street, to.Address.PostalCode+" "+to.Address.City, to.Address.Country)
	}
	parts = append(parts, to.Email, to.Phone)
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// say writes a text with its parameters, names and values in turn.
func (w writer) say(code text.ContractCode, params ...string) string {
	named := map[string]string{}
	for i := 0; i+1 < len(params); i += 2 {
		named[params[i]] = params[i+1]
	}
	return w.Fill(w.Contract[code], named)
}

// instant returns the parameters date, time and zone of an instant at the club.
func (w writer) instant(at time.Time) []string {
	at = w.club.LocalTime(at)
	return []string{"date", at.Format(time.DateOnly), "time", at.Format(time.TimeOnly), "zone", "UTC" + at.Format("-07:00")}
}

// period writes an ISO 8601 duration such as P1M: 1 month.
func (w writer) period(duration string) string { return w.duration(duration, periods) }

// duration writes an ISO 8601 duration such as P1M by the text of its unit; others stay as they are.
func (w writer) duration(duration string, units map[byte]text.ContractCode) string {
	number, unit := strings.TrimPrefix(duration, "P"), byte(0)
	if last := len(number) - 1; last > 0 {
		number, unit = number[:last], number[last]
	}
	code, known := units[unit]
	if _, err := strconv.Atoi(number); err != nil || !known {
		return duration
	}
	return w.say(code, "number", number)
}

func (w writer) money(amount flows.Money) string { return w.Money(amount.Amount, amount.Currency) }

// known returns the facts that have a value.
func known(facts ...mail.Fact) []mail.Fact {
	return slices.DeleteFunc(facts, func(fact mail.Fact) bool { return fact.Value == "" })
}
