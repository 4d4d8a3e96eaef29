package contract

import "frontdesk/flows/text"

// The texts of a confirmation, with their parameters.
const (
	textTitle     text.ContractCode = "confirmation_title"     // club
	textConcluded text.ContractCode = "confirmation_concluded" // date, time, zone
	textKeep      text.ContractCode = "confirmation_keep"

	textRegistration text.ContractCode = "confirmation_registration"
	textNumber       text.ContractCode = "confirmation_number"
	textName         text.ContractCode = "confirmation_name"
	textBirthDate    text.ContractCode = "confirmation_birth_date"
	textAddress      text.ContractCode = "confirmation_address"
	textGuardian     text.ContractCode = "confirmation_guardian"

	textOrdered      text.ContractCode = "confirmation_ordered"
	textPriceNow     text.ContractCode = "confirmation_price_now"  // price
	textPriceAtClub  text.ContractCode = "confirmation_price_club" // price
	textHandedOver   text.ContractCode = "handed_over"             // place
	textStarts       text.ContractCode = "confirmation_starts"     // date
	textCommitment   text.ContractCode = "confirmation_commitment" // period
	textItemRuns     text.ContractCode = "confirmation_item_runs"  // period
	textPersonalised text.ContractCode = "confirmation_personalised"

	textPayments   text.ContractCode = "confirmation_payments"
	textPaid       text.ContractCode = "confirmation_paid"        // date
	textPaidByCard text.ContractCode = "confirmation_paid_card"   // date
	textPaidAtClub text.ContractCode = "confirmation_paid_club"   // date
	textOwed       text.ContractCode = "confirmation_owed"        // date
	textLater      text.ContractCode = "confirmation_later"       //
	textTotal      text.ContractCode = "confirmation_total"       //
	textMinimum    text.ContractCode = "confirmation_minimum"     //
	textRuns       text.ContractCode = "confirmation_runs"        //
	textRenewal    text.ContractCode = "confirmation_renewal"     //
	textAbout      text.ContractCode = "about"                    // names, words
	textNotice     text.ContractCode = "confirmation_notice"      //
	textNotExact   text.ContractCode = "confirmation_not_exact"   //
	textUnknownSum text.ContractCode = "confirmation_unknown_sum" //

	textAgreements   text.ContractCode = "confirmation_agreements"
	textAgreed       text.ContractCode = "confirmation_agreed"       // version, date, time, zone, hash
	textAcknowledged text.ContractCode = "confirmation_acknowledged" // version, date, time, zone, hash
	textNoneAgreed   text.ContractCode = "confirmation_none_agreed"

	textParties   text.ContractCode = "confirmation_parties"
	textDetail    text.ContractCode = "confirmation_detail" // name, value
	textClub      text.ContractCode = "confirmation_club"
	textTrader    text.ContractCode = "confirmation_trader"
	textRegister  text.ContractCode = "confirmation_register"
	textVAT       text.ContractCode = "confirmation_vat"
	textPhone     text.ContractCode = "confirmation_phone"
	textEmail     text.ContractCode = "confirmation_email"
	textMediator  text.ContractCode = "confirmation_mediator"
	textMediation text.ContractCode = "confirmation_mediation"

	textWithdrawal  text.ContractCode = "confirmation_withdrawal"
	textUntil       text.ContractCode = "withdrawal_until" // date
	textAfterGoods  text.ContractCode = "withdrawal_of_goods"
	textNoRight     text.ContractCode = "no_withdrawal"                   // reason
	textHow         text.ContractCode = "confirmation_withdrawal_how"     // url, to
	textEffects     text.ContractCode = "confirmation_withdrawal_effects" //
	textForm        text.ContractCode = "confirmation_form"
	textFormUse     text.ContractCode = "confirmation_form_use"
	textFormTo      text.ContractCode = "confirmation_form_to" // to
	textFormNotice  text.ContractCode = "confirmation_form_notice"
	textFormOrdered text.ContractCode = "confirmation_form_ordered" // date
	textFormLines   text.ContractCode = "confirmation_form_lines"
)

// The texts about the legal guarantee, as the card page has them.
const (
	pageGuarantee      text.PageCode = "guarantee"
	pageGuaranteeWords text.PageCode = "guarantee_words"
)

// The codes of the texts that tables name.
const (
	codePeriodDays                    text.ContractCode = "period_days"
	codePeriodWeeks                   text.ContractCode = "period_weeks"
	codePeriodMonths                  text.ContractCode = "period_months"
	codePeriodYears                   text.ContractCode = "period_years"
	codeEveryDays                     text.ContractCode = "every_days"
	codeEveryWeeks                    text.ContractCode = "every_weeks"
	codeEveryMonths                   text.ContractCode = "every_months"
	codeEveryYears                    text.ContractCode = "every_years"
	codePartPrice                     text.ContractCode = "part_price"            // price
	codePartFee                       text.ContractCode = "part_registration_fee" // price
	codePartFirstInstalment           text.ContractCode = "part_first_instalment" // price
	codePartProrata                   text.ContractCode = "part_prorata"          // price
	codeDocumentTerms                 text.ContractCode = "document_terms"
	codeDocumentPrivacy               text.ContractCode = "document_privacy"
	codeDocumentWithdrawalInformation text.ContractCode = "document_withdrawal_information"
	codeDocumentEarlyStartRequest     text.ContractCode = "document_early_start_request"
	codeDocumentMandateText           text.ContractCode = "document_mandate_text"
	codeWithdrawal                    text.ContractCode = "withdrawal_start"
	codeCancellation                  text.ContractCode = "cancellation_start"
	codeGuardianParent                text.ContractCode = "guardian_parent"         // name
	codeGuardianLegal                 text.ContractCode = "guardian_legal_guardian" // name
)
