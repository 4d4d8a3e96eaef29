package contract

import "frontdesk/flows/text"

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
