package flows

// DetailCode names the sentence that explains an error to a visitor; empty: the title says it all. It is not part of the
// public API; package text has the texts in each language.
type DetailCode string

// The details of requests that the gateway does not accept, with the parameters of their texts.
const (
	DetailNothingHere     DetailCode = "nothing_here"
	DetailNoOperation     DetailCode = "no_operation"
	DetailMethodsAccepted DetailCode = "methods_accepted" // methods
	DetailContentType     DetailCode = "content_type"
	DetailBodyIncomplete  DetailCode = "body_incomplete"
	DetailBodyMissing     DetailCode = "body_missing"
	DetailBodyTooLarge    DetailCode = "body_too_large" // kibibytes
	DetailNoBodyAccepted  DetailCode = "no_body_accepted"
	DetailNotJSON         DetailCode = "not_json"
	DetailJSONEnded       DetailCode = "json_ended"
	DetailJSONUnexpected  DetailCode = "json_unexpected" // character, byte
	DetailBodyAmbiguous   DetailCode = "body_ambiguous"
	DetailCardNumbers     DetailCode = "card_numbers"
	DetailIdempotencyKey  DetailCode = "idempotency_key"
	DetailWorld           DetailCode = "world"
	DetailSeveralFields   DetailCode = "several_fields" // count, one
	DetailItem            DetailCode = "item"           // item, detail
)

// The details about callers and limits.
const (
	DetailTokenRequired         DetailCode = "token_required"
	DetailNoRegistration        DetailCode = "no_registration"
	DetailSessionOrigin         DetailCode = "session_origin"
	DetailLoginKeysUnread       DetailCode = "login_keys_unread"
	DetailLoginToken            DetailCode = "login_token"
	DetailStaffKey              DetailCode = "staff_key"
	DetailRegistrationStaffOnly DetailCode = "registration_staff_only"
	DetailCatalogueStaffOnly    DetailCode = "catalogue_staff_only"
	DetailDeskStaffOnly         DetailCode = "desk_staff_only"
	DetailCaptchaMissing        DetailCode = "captcha_missing"
	DetailCaptchaRefused        DetailCode = "captcha_refused"
	DetailStreamsOfRegistration DetailCode = "streams_of_registration"
	DetailStreamsOfAddress      DetailCode = "streams_of_address"
	DetailRequestsOfAddress     DetailCode = "requests_of_address"
	DetailRequestsOfKind        DetailCode = "requests_of_kind"
	DetailChangesTooFast        DetailCode = "changes_too_fast"
	DetailConcurrentChange      DetailCode = "concurrent_change"
	DetailUpgradeRunning        DetailCode = "upgrade_running"
)

// The details about registrations and buyers.
const (
	DetailNotCompleted            DetailCode = "not_completed"
	DetailConfirmationLost        DetailCode = "confirmation_lost"
	DetailRegistrationCompleted   DetailCode = "registration_completed"
	DetailRegistrationAbandoned   DetailCode = "registration_abandoned"
	DetailRegistrationErased      DetailCode = "registration_erased"
	DetailRegistrationExpired     DetailCode = "registration_expired"
	DetailRegistrationReviewed    DetailCode = "registration_reviewed"
	DetailRegistrationPaying      DetailCode = "registration_paying"
	DetailInvitationEnded         DetailCode = "invitation_ended"
	DetailResumptionEnded         DetailCode = "resumption_ended"
	DetailPersonMissing           DetailCode = "person_missing"
	DetailPersonFirst             DetailCode = "person_first"
	DetailPersonBeforeItems       DetailCode = "person_before_items"
	DetailPersonBeforeMandate     DetailCode = "person_before_mandate"
	DetailPersonKnown             DetailCode = "person_known"
	DetailNoPerson                DetailCode = "no_person"
	DetailPersonNotSent           DetailCode = "person_not_sent"
	DetailPersonAtDesk            DetailCode = "person_at_desk"
	DetailBuyerUnknown            DetailCode = "buyer_unknown"
	DetailContactUnread           DetailCode = "contact_unread"
	DetailContactNotSearched      DetailCode = "contact_not_searched"
	DetailContactUnknown          DetailCode = "contact_unknown"
	DetailContactBanned           DetailCode = "contact_banned"
	DetailAccountUnread           DetailCode = "account_unread"
	DetailMembershipsUnread       DetailCode = "memberships_unread"
	DetailAccountElsewhere        DetailCode = "account_elsewhere"
	DetailAccountNotImported      DetailCode = "account_not_imported"
	DetailAccountNotImportable    DetailCode = "account_not_importable"
	DetailAccountImportUnfinished DetailCode = "account_import_unfinished"
	DetailAccessToken             DetailCode = "access_token"
	DetailMoveClub                DetailCode = "move_club"
	DetailMoveContact             DetailCode = "move_contact"
	DetailMoveNotShared           DetailCode = "move_not_shared"
	DetailMoveTwice               DetailCode = "move_twice"
	DetailConsentsUnread          DetailCode = "consents_unread"
	DetailDebtUnread              DetailCode = "debt_unread"
)

// The details about clubs, catalogues and carts.
const (
	DetailNoClub           DetailCode = "no_club"
	DetailClubUnread       DetailCode = "club_unread"
	DetailClubsUnread      DetailCode = "clubs_unread"
	DetailCatalogueUnread  DetailCode = "catalogue_unread"
	DetailCatalogueLate    DetailCode = "catalogue_late"
	DetailOffersUnread     DetailCode = "offers_unread"
	DetailDebitDaysUnread  DetailCode = "debit_days_unread"
	DetailNoOffer          DetailCode = "no_offer"
	DetailOfferFirst       DetailCode = "offer_first"
	DetailOfferNotOffered  DetailCode = "offer_not_offered"
	DetailOfferNotForBuyer DetailCode = "offer_not_for_buyer"
	DetailOfferNotAtClub   DetailCode = "offer_not_at_club" // clubId, offerId
	DetailItemNotAdded     DetailCode = "item_not_added"
	DetailItemOnItsWay     DetailCode = "item_on_its_way"
	DetailItemRequired     DetailCode = "item_required"
	DetailCartUnread       DetailCode = "cart_unread"
	DetailCartNotCreated   DetailCode = "cart_not_created"
	DetailCartEmpty        DetailCode = "cart_empty"
	DetailCartNotAccepted  DetailCode = "cart_not_accepted"
	DetailCartChanged      DetailCode = "cart_changed"
	DetailAgreementMissing DetailCode = "agreement_missing"
	DetailDocumentChanged  DetailCode = "document_changed"
	DetailGuardianPhone    DetailCode = "guardian_phone"
	DetailGuardianMissing  DetailCode = "guardian_missing" // below, in years
	DetailCartFrozen       DetailCode = "cart_frozen"
	DetailCartSettled      DetailCode = "cart_settled"
	DetailRepeatedPurchase DetailCode = "repeated_purchase"
)

// The details about mandates and codes.
const (
	DetailNoDirectDebit       DetailCode = "no_direct_debit"
	DetailMandateMissing      DetailCode = "mandate_missing"
	DetailMandateNotCreated   DetailCode = "mandate_not_created"
	DetailMandateSigned       DetailCode = "mandate_signed"
	DetailMandateSignedRevoke DetailCode = "mandate_signed_revoke"
	DetailSignatureCancelled  DetailCode = "signature_cancelled"
	DetailNoCode              DetailCode = "no_code"
	DetailCodeNotSent         DetailCode = "code_not_sent"
	DetailCodeUnchecked       DetailCode = "code_unchecked"
	DetailCodeUnconfirmed     DetailCode = "code_unconfirmed"
	DetailCodeWrong           DetailCode = "code_wrong" // left
	DetailCodeTooOld          DetailCode = "code_too_old"
	DetailCodeExpired         DetailCode = "code_expired"
	DetailCodeBlocked         DetailCode = "code_blocked"
	DetailCodeJustSent        DetailCode = "code_just_sent"
	DetailSMSLimited          DetailCode = "sms_limited"
	DetailSMSNetwork          DetailCode = "sms_network"
	DetailSMSCountry          DetailCode = "sms_country"
	DetailSMSPaused           DetailCode = "sms_paused"
	DetailMobileRefused       DetailCode = "mobile_refused"
)

// The details about payments.
const (
	DetailNothingDue            DetailCode = "nothing_due"
	DetailAmountDue             DetailCode = "amount_due"
	DetailCurrency              DetailCode = "currency" // currency
	DetailMethodNotOffered      DetailCode = "method_not_offered"
	DetailCardAmount            DetailCode = "card_amount"
	DetailCardsDeclined         DetailCode = "cards_declined"
	DetailPaymentInProgress     DetailCode = "payment_in_progress"
	DetailPaymentAtProcessor    DetailCode = "payment_at_processor"
	DetailPaymentNotCancellable DetailCode = "payment_not_cancellable"
	DetailPaymentsLookedUp      DetailCode = "payments_looked_up"
	DetailPaymentsUnavailable   DetailCode = "payments_unavailable"
	DetailProcessorFailed       DetailCode = "processor_failed"
	DetailSaleUnread            DetailCode = "sale_unread"
	DetailSaleUnchecked         DetailCode = "sale_unchecked"
)
