// Generated from openapi.yaml: make generate.

/**
 * A value that a later version of the contract has added to a list: any string. A member of a response, such as Registration["step"],
 * is a known value or a later one. The compiler finds what a switch over it leaves out, if it ends so:
 *
 *     default: step satisfies Later;
 */
export declare enum Later { value = "" }
export type KnownPersonFormat = "date" | "email";
export type PersonFormat = KnownPersonFormat | (string & {});
export type KnownChallengeProvider = "hcaptcha" | "recaptcha" | "turnstile" | "other";
export type ChallengeProvider = KnownChallengeProvider | (string & {});
export type KnownFeature = "login" | "staff";
export type Feature = KnownFeature | (string & {});
export type KnownProductType = "subscription" | "subscription_option" | "badge" | "counter" | "package" | "countermark" | "test_session" | "regular";
export type ProductType = KnownProductType | (string & {});
export type KnownOfferNeed = "startDate" | "debit" | "mandate";
export type OfferNeed = KnownOfferNeed | (string & {});
export type KnownDebitChoice = "month_day" | "week_day" | "none";
export type DebitChoice = KnownDebitChoice | (string & {});
export type KnownScheduleRule = "months_as_weeks" | "rounded" | "remainder" | "entries_in_turn" | "loop_over_offset" | "first_instalment_assumed" | "debit_day_open" | "calendar_months" | "prorata_by_days" | "start_assumed" | "price_differs" | "period_unreadable" | "count_unknown" | "prorata_unknown" | "out_of_range" | "offer_unknown" | "offers_unread";
export type ScheduleRule = KnownScheduleRule | (string & {});
export type KnownSchedulePartKind = "price" | "registration_fee" | "first_instalment" | "prorata";
export type SchedulePartKind = KnownSchedulePartKind | (string & {});
export type KnownScheduleMovementKind = "due_now" | "debit";
export type ScheduleMovementKind = KnownScheduleMovementKind | (string & {});
export type KnownOrderButton = "order_with_obligation_to_pay" | "pay_now" | "free";
export type OrderButton = KnownOrderButton | (string & {});
export type KnownWithdrawalStart = "contract" | "delivery";
export type WithdrawalStart = KnownWithdrawalStart | (string & {});
export type KnownRegistrationState = "open" | "paying" | "completed" | "abandoned" | "expired" | "attention";
export type RegistrationState = KnownRegistrationState | (string & {});
export type KnownStep = "person" | "items" | "guardian" | "fix_cart" | "mandate" | "code" | "ready" | "at_processor" | "declined" | "waiting" | "done" | "with_staff" | "abandoned" | "expired";
export type Step = KnownStep | (string & {});
export type KnownStreamEndReason = "final" | "forgotten" | "draining";
export type StreamEndReason = KnownStreamEndReason | (string & {});
export type KnownContactStatus = "prospect" | "temp" | "customer" | "banned";
export type ContactStatus = KnownContactStatus | (string & {});
export type KnownCancellationWay = "online" | "statement" | "pending" | "cancelled";
export type CancellationWay = KnownCancellationWay | (string & {});
export type KnownConsentChannel = "email" | "text_message" | "postal_mail";
export type ConsentChannel = KnownConsentChannel | (string & {});
export type KnownConsentType = "news" | "legal" | "advertising" | "partners";
export type ConsentType = KnownConsentType | (string & {});
export type KnownConsentChangeCode = "changed" | "unchanged" | "locked" | "unknown" | "failed";
export type ConsentChangeCode = KnownConsentChangeCode | (string & {});
export type KnownCartItemOrigin = "chosen" | "required" | "adjustment";
export type CartItemOrigin = KnownCartItemOrigin | (string & {});
export type KnownCartProblemCode = "cart_empty" | "age_restricted" | "start_date_required" | "mandate_required" | "person_incomplete" | "debit_day_not_allowed" | "not_available" | "debt" | "not_accepted" | "no_method" | "settled";
export type CartProblemCode = KnownCartProblemCode | (string & {});
export type KnownCartChangeKind = "added" | "price" | "removed";
export type CartChangeKind = KnownCartChangeKind | (string & {});
export type KnownActionName = "person" | "guardian" | "prospect" | "add_item" | "clear_items" | "check" | "mandate" | "sign" | "resend" | "cancel_signature" | "pay" | "cancel_payment" | "consents" | "abandon";
export type ActionName = KnownActionName | (string & {});
export type KnownPaymentMethod = "card" | "later" | "free" | "desk";
export type PaymentMethod = KnownPaymentMethod | (string & {});
export type KnownMandateType = "recurrent";
export type MandateType = KnownMandateType | (string & {});
export type KnownSignatureState = "no_code" | "awaiting_code" | "unconfirmed" | "signed" | "cancelled" | "expired" | "blocked";
export type SignatureState = KnownSignatureState | (string & {});
export type KnownStatementKind = "withdrawal" | "cancellation";
export type StatementKind = KnownStatementKind | (string & {});
export type KnownStatementState = "stated" | "received";
export type StatementState = KnownStatementState | (string & {});
export type KnownDocumentName = "terms" | "privacy" | "withdrawal_information" | "early_start_request" | "mandate_text" | "guarantee_notice";
export type DocumentName = KnownDocumentName | (string & {});
export type KnownPaymentState = "requires_action" | "processing" | "recorded" | "declined" | "cancelled" | "in_doubt" | "refunded";
export type PaymentState = KnownPaymentState | (string & {});
export type KnownCardPresentation = "embedded" | "none";
export type CardPresentation = KnownCardPresentation | (string & {});
export type KnownProblemThen = "fix_request" | "correct_input" | "send_again" | "read_again" | "start_again" | "log_in" | "captcha";
export type ProblemThen = KnownProblemThen | (string & {});
export type KnownProblemCode = "malformed_request" | "invalid_request" | "card_number_refused" | "not_identified" | "invitation_invalid" | "resumption_invalid" | "contact_banned" | "person_known" | "other_club" | "token_required" | "registration_not_found" | "club_not_found" | "offer_not_found" | "not_found" | "method_not_allowed" | "too_large" | "unsupported_media_type" | "forbidden_origin" | "challenge_required" | "rate_limited" | "staff_key_unknown" | "staff_only" | "key_reused" | "key_in_use" | "conflict" | "no_confirmation" | "cart_frozen" | "cart_empty" | "cart_invalid" | "item_required" | "cart_changed" | "agreement_missing" | "guardian_required" | "mandate_required" | "nothing_due" | "amount_due" | "method_not_offered" | "payment_exists" | "possible_duplicate_purchase" | "person_required" | "registration_closed" | "payment_under_way" | "offer_not_available" | "mandate_not_needed" | "mandate_signed" | "no_code" | "code_wrong" | "code_expired" | "code_blocked" | "sms_limited" | "sms_paused" | "mobile_unreachable" | "access_token_refused" | "migration_club" | "migration_contact" | "migration_not_shared" | "webhook_untrusted" | "club_system_failed" | "club_system_unavailable" | "identity_unavailable" | "processor_unavailable" | "storage_unavailable" | "overloaded" | "internal";
export type ProblemCode = KnownProblemCode | (string & {});
export type KnownFieldCode = "required" | "blank" | "invalid" | "unreadable" | "characters" | "duplicate" | "unexpected" | "unknown_member" | "unknown_parameter" | "type" | "format" | "one_of" | "too_short" | "too_long" | "too_few" | "too_many" | "too_small" | "too_large" | "date" | "date_too_early" | "date_too_late" | "birth_date" | "email" | "phone" | "postal_code" | "country" | "url" | "origin" | "bic" | "iban" | "iban_country" | "iban_length" | "iban_account" | "iban_check_digits" | "card_number" | "guessable" | "challenge" | "cursor" | "amounts" | "not_offered" | "not_for_buyer" | "age_restricted" | "debt" | "item_failed" | "cart_full" | "no_direct_debit" | "one_debit_day" | "debit_day" | "club" | "staff_key" | "logged_in" | "link_ended" | "code_wrong" | "access_token" | "not_accepted" | "bank_refused" | "agreement_missing" | "document_changed" | "guardian_required" | "guardian_is_buyer";
export type FieldCode = KnownFieldCode | (string & {});
export type KnownMessageCode = "payment_preparing" | "payment_action_required" | "payment_processing" | "payment_on_hold" | "payment_recorded" | "payment_declined" | "payment_in_doubt" | "payment_with_staff" | "payment_refunding" | "payment_cancelled" | "payment_not_confirmed" | "payment_card_refused" | "payment_declined_finally" | "payment_refunded" | "payment_restricted_refunding" | "payment_restricted_refunded" | "payment_cancelled_restart" | "payment_declined_finally_restart" | "payment_refunded_restart" | "settlement_preparing" | "settlement_processing" | "settlement_cancelled" | "settlement_cancelled_retry" | "settlement_restricted" | "settlement_with_staff" | "later_recorded" | "later_in_doubt" | "free_recorded" | "free_in_doubt" | "desk_recorded" | "desk_in_doubt" | "desk_restricted" | "registration_expired" | "cart_stale" | "step_person" | "step_items" | "step_fix_cart" | "step_guardian" | "step_mandate" | "step_ready" | "step_abandoned" | "signature_no_code" | "signature_awaiting_code" | "signature_unconfirmed" | "signature_expired" | "signature_blocked" | "signature_cancelled";
export type MessageCode = KnownMessageCode | (string & {});

export interface paths {
    "/v1/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the configuration for front ends
         * @description Returns the payment methods for each audience, the start dates to offer, the fields to ask for, the captcha and the
         *     card processor. The response changes with the operator's configuration and with the day.
         */
        get: operations["getConfig"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clubs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the clubs of the chain
         * @description Returns each club with its id, which the other requests need: all at once, or in pages of `limit` clubs. The order is
         *     the club system's.
         */
        get: operations["listClubs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clubs/{clubId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a club's details
         * @description Returns where the club is, how to reach it, when it is open and who sells there: from the club system, or else from
         *     the operator's file. Values that neither has are absent. `startDates` changes at the club's midnight.
         */
        get: operations["getClub"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clubs/{clubId}/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a club's products
         * @description Returns the club's catalogue, 30 products per page, each with its offers. With an identity token, it returns what the
         *     club offers to this contact, which depends on tags, debt and membership.
         */
        get: operations["listProducts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clubs/{clubId}/offers/{offerId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an offer
         * @description Returns the offer's product with this offer alone, for links that lead to an offer. An offer that the caller cannot buy
         *     here is `offer_not_found`.
         */
        get: operations["getOffer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clubs/{clubId}/offers/{offerId}/schedule": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an offer's payment schedule
         * @description Previews, from the catalogue, the amount due now and every debit with its date and amount, or the recurring debit.
         *     The buyer pays the amount of the cart, which has a schedule of its own. This one includes the offer's `extras`, and
         *     nothing else that the club system may add.
         */
        get: operations["getSchedule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clubs/{clubId}/debit-days": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the next debit days
         * @description Returns the days of the month that the club debits on. One of them can be an item's `debit.day`.
         */
        get: operations["listDebitDays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clubs/{clubId}/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what buyers agree to
         * @description Returns the club's documents: what a payment's `agreements` name, with the address of the exact bytes. `order.agreements` of
         *     a registration says which of them its payment needs. `mandate_text` is agreed to with the code of the mandate.
         *
         *     A document that does not exist in the requested language is listed in English or, without that, in another language.
         */
        get: operations["listDocuments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/clubs/{clubId}/documents/{sha256}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a document
         * @description Returns the exact bytes of a document: what a buyer sees, agrees to, and gets with the confirmation. They never change. An
         *     earlier version stays here until three years after the last buyer has agreed to it. A document never runs scripts.
         */
        get: operations["getDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a registration
         * @description With `person` and `items`, this single request creates the contact and the cart, adds the items, checks the cart and
         *     reads it again. Without them, send `PUT …/person` and `POST …/items` afterwards.
         *
         *     With an identity token or an `invitation`, the registration is for the contact that it identifies. `person` is then
         *     neither needed nor accepted, and the response includes the contact's debt. The club must be the contact's own. If
         *     the club has banned the contact, the request fails with `contact_banned` and creates nothing.
         *
         *     Some clubs ask for a `guardian` of minors, who concludes the contract and pays: `guardianBelow` of `GET /v1/clubs/{clubId}`.
         */
        post: operations["startRegistration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/current": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the registration of the session cookie
         * @description For pages that keep nothing, after a reload. Returns the registration whose session began last in this browser, by its
         *     `__Host-frontdesk-{id}` cookies; every other request then names its `id`. Without such a cookie the response is 401
         *     `token_required`, and 404 `registration_not_found` if no session is left: in both cases, start a new one. A token in
         *     `Authorization` is not read.
         */
        get: operations["getCurrentRegistration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        /**
         * Get a registration
         * @description The `version` of the response is its ETag as well: a poll with it in `If-None-Match` gets 304 while nothing changes.
         *     While Frontdesk has more visitors than it can serve, the response has a `Retry-After`: poll no sooner.
         */
        get: operations["getRegistration"];
        put?: never;
        post?: never;
        /**
         * Abandon a registration
         * @description Cancels the payment if none of it was captured or sent to the club system. Once money may have moved, the request
         *     fails with `payment_under_way`.
         */
        delete: operations["abandonRegistration"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/resume-link": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a link to continue on another device
         * @description Creates a single-use link that resumes the registration on another device. The link is valid as long as the
         *     registration can be read, for at most 24 hours, and replaces the previous link. Anyone with the link can take
         *     over the registration.
         */
        post: operations["createResumeLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/session": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End this device's session
         * @description For shared computers and lost phones. Revokes the token or the cookie that the request was sent with, and deletes the
         *     cookie. Other devices keep theirs, and the registration and its payment continue. To resume here, this device needs
         *     a link from another device; once the sessions of all devices have ended, the
         *     registration cannot be resumed. Repeating the request is safe.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/resumptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a registration
         * @description Exchanges the link's `resume` value for the registration, once. This device gets its own token or cookie; the
         *     previous device keeps its own. At most five devices hold a registration: the first one and the latest four.
         *
         *     If the registration is open, its cart is read again from the club system. Changed prices appear in `changes`, offers
         *     that are gone in `problems`. If the club system does not respond, the cart is returned as last read, marked `stale`.
         */
        post: operations["resumeRegistration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        /**
         * Stream the changes of a registration
         * @description Streams server-sent events. An event named `registration` has the whole registration as JSON on its `data` line
         *     (`Registration`); its `id` is the registration's `version`. The first event is sent immediately, unless
         *     `Last-Event-ID` names the current version. Another event follows each change, on any gateway. Changes caused
         *     only by the passage of time, such as `expired` or the next possible `resend`, follow within 15 seconds. A comment every 15 seconds
         *     keeps proxies from closing the stream. A browser's `EventSource` sends the session cookie. With a bearer token, read
         *     the stream with `fetch`.
         *
         *         event: registration
         *         id: k2l9Jx0mQe7rTn4c
         *         retry: 3120
         *         data: {"id":"3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11","version":"k2l9Jx0mQe7rTn4c","sequence":7,"state":"completed","…":"…"}
         *
         *         event: end
         *         data: {"reason":"final"}
         *
         *     The last event is named `end`, and its data is a `StreamEnd`. Ignore events with other names: more may be added. If the
         *     stream breaks off without `end`, reconnect. The
         *     `retry` field of each event gives the delay in milliseconds: 2 to 4 seconds, and 10 to 20 while Frontdesk has more visitors than it can serve. An `EventSource` obeys it.
         *
         *     Where rate limits apply, each gateway allows 15 open streams per registration and 100 per address. A further stream
         *     gets a 429 with `Retry-After`.
         */
        get: operations["followRegistration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/person": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Set the buyer's details
         * @description The club system cannot change a contact during its registration. Sending other details therefore creates a new contact
         *     and a new cart with the same items. To correct a few fields, use `PATCH`.
         */
        put: operations["putPerson"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Correct some of the buyer's details
         * @description Replaces the fields that are sent and keeps the others (JSON Merge Patch, RFC 7396, without `null`;
         *     `application/merge-patch+json` is accepted too). The buyer need not
         *     type the others again, and the API never returns them. Like `PUT`, a correction creates a new contact and a new cart
         *     with the same items; a request that changes nothing creates none. A problem can point to a field that was not sent, if
         *     the kept value does not fit the new ones.
         */
        patch: operations["correctPerson"];
        trace?: never;
    };
    "/v1/registrations/{id}/guardian": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Set the guardian who concludes the contract
         * @description Sets or replaces the guardian, and nothing else. This is the main action of the step `guardian`: the club asks for a guardian that
         *     the buyer lacks, such as after its staff corrected a birth date, or after its rule changed. A visitor's details need not be sent again; like `PATCH …/person`, it
         *     creates a new contact and a new cart with the same items. A contact that the club knew before stays as it is: a mandate can then
         *     be signed only if the guardian's `phone` is the number that the club has of the contact. A mandate of another debtor is
         *     dropped.
         */
        put: operations["putGuardian"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/consents": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        /**
         * List the buyer's consents
         * @description The buyer of a registration can choose what the club may send, even after the payment. New contacts have given no
         *     consent: offer each one unticked, as an option, and never as a condition. Without a buyer, the request fails with
         *     `person_required`. Replacing the person makes a new contact, whose consents have other ids and are not given.
         *     After the club's staff merged the buyer into another contact, it fails with `person_known`.
         */
        get: operations["listBuyersConsents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Give or withdraw the buyer's consents
         * @description Works like `PATCH /v1/me/consents`, with the same results and receipts, and in every state of the registration.
         */
        patch: operations["changeBuyersConsents"];
        trace?: never;
    };
    "/v1/registrations/{id}/items": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add an offer to the cart
         * @description A cart holds at most 20 items.
         */
        post: operations["addItem"];
        /**
         * Empty the cart
         * @description Removes every item. The club system then has a new, empty sale.
         */
        delete: operations["clearItems"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/items/{itemId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
                /** @example 0f2b7a3f-9c11-4d3c-9d53-6f1d0c0e8a55 */
                itemId: components["schemas"]["Id"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove one item from the cart
         * @description Removes an item of `origin: chosen`, and what the club system added because of it. The others keep their `id`. An item
         *     that is no longer in the cart changes nothing: the response shows the cart without it. What the club system added
         *     alone cannot be removed: `item_required`.
         */
        delete: operations["removeItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the cart
         * @description Reads the cart again from the club system, for example after staff have solved a problem: `cart.valid` and
         *     `cart.problems` say whether it can be paid, and if not, why.
         */
        post: operations["checkCart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/schedule": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        /**
         * Get the payment schedule of the cart
         * @description Returns what leaves the buyer's account, and when: the cart's `dueNow` today, each later debit of all items together, and
         *     the debits that recur without end. It follows the same rules as an offer's schedule, with the start dates and the debit
         *     days of the items. Prices of later debits are those of the offers, as they were shown when the cart was filled. If the
         *     club has changed one, the payment is refused with `cart_changed`, and the schedule then has the new one. The club system
         *     does not say whether a discount continues.
         *
         *     It is known only as far as the club system says: `basis` and `rules` of an item say how reliable its later debits are.
         *     The debits of an item whose `basis` is `unknown` are missing from `debits` and `recurrences`. Read it again when
         *     `cart.revision` has changed.
         */
        get: operations["getCartSchedule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/confirmation": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        /**
         * Get the confirmation of the contract
         * @description Returns what was concluded with a completed registration: the order and its payments, what the buyer agreed to, the
         *     mandate, the seller, and the instructions for a withdrawal with the model form. It is made once, in the language of the
         *     payment's request, and never changes: each response has the same bytes. With `Accept: text/html`, as a link in a browser
         *     sends it, it is a page that can be printed and kept; it loads nothing from elsewhere. The same page is mailed to the buyer.
         *
         *     It can be read as long as the registration. The buyer keeps the mail; the club keeps the confirmation for the time that
         *     the operator sets, and gives it out.
         */
        get: operations["getConfirmation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/mandate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create the direct debit mandate and send the SMS code
         * @description Creates the mandate and sends a code to the buyer's mobile phone. The `mandate` in the response says whether a code
         *     can be entered: `awaiting_code` if so, `no_code` if the code was not sent or its delivery is unknown. After
         *     `no_code`, request a new code after `resendIn` seconds. A new mandate replaces the previous unsigned one. The account
         *     number is passed on and not stored; every response masks it.
         */
        post: operations["createMandate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/mandate/signature": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign the mandate with the code from the SMS
         * @description A wrong code fails with `code_wrong`; the fifth wrong code ends the code with `code_blocked`. Repeating a request with
         *     the same key does not count as another attempt. Neither does sending the same code again after a response without a
         *     clear result. If the mandate is `unconfirmed` afterwards, each read of the registration looks up its state.
         */
        post: operations["signMandate"];
        /**
         * Cancel the signature
         * @description The code can no longer be used. Without a code, nothing changes. A signed mandate stays signed.
         */
        delete: operations["cancelSignature"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/mandate/signature/resend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a new code
         * @description Cancels the previous code and sends a new one. Before `resendIn` seconds have passed, the request fails with
         *     `sms_limited` and `Retry-After`. Each person and each mobile number can get one code a minute, three in ten minutes,
         *     five in an hour and eight in a day. In the example the first SMS fails on purpose, so that a new code can be
         *     requested immediately.
         */
        post: operations["resendCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/prospect": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a prospect from another club
         * @description Moves a prospect of another club of the chain into this registration. The person proves their identity with their own
         *     access token for the club system, or with a token of the club's own login, for which the gateway requests the access
         *     token itself. Either is used only for this request and not stored. If the import stops
         *     half-way, repeat the same request to finish it. Afterwards the club has the details, so `person` is refused. A
         *     prospect can be imported only once, so the example uses its own world.
         */
        post: operations["migrateProspect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/registrations/{id}/payment": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a payment
         * @description Freezes the cart and starts its only payment. The amount always comes from the club system, never from the client.
         *
         *     | method | when | then |
         *     |---|---|---|
         *     | `card` | an amount is due | show the card fields with `card.clientSecret`, or open `card.redirectUrl` |
         *     | `later` | an amount is due, and the club offers this method to the caller | the buyer owes the amount to the club from now on; it is overdue after `dueDate` |
         *     | `free` | nothing is due, such as for a trial | the cart is settled without a payment |
         *     | `desk` | an amount is due; staff only | the club took the money in cash, by cheque or by card |
         *
         *     The `methods` of a registration's `pay` action list what the caller can choose. Visitors, known contacts and staff may
         *     have different methods. Any other method fails with `method_not_offered`.
         *
         *     While a payment is in progress, the same request with any key returns that payment; a card's `returnUrl` may differ.
         *     A different request fails with `payment_exists`. After `cancelled`, another method can be chosen.
         *
         *     After `declined`, the same request, with any key, asks for another card: it returns the same payment, with the same `id`
         *     and `clientSecret`, in the state `requires_action`. It charges nothing. Another method needs `DELETE …/payment` first.
         *     After five declined cards the payment is `cancelled`, and `methods` lacks `card`.
         *
         *     In the example, curl acts as the buyer.
         */
        post: operations["startPayment"];
        /**
         * Cancel the payment
         * @description Cancels a payment that has not been captured, and keeps the cart. The cart can then be changed again and paid by any
         *     method. `next` lists `cancel_payment` while this is possible. Once money may have moved, the request fails with 409
         *     `payment_under_way`. Without a payment, or if it ended without a charge, nothing changes.
         */
        delete: operations["cancelPayment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pay/{payment}/{proof}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the card page of a payment
         * @description The page that `card.redirectUrl` names, for browsers. The address proves the permission to pay, so no token is needed;
         *     with a wrong proof, the response is 404. The page shows the processor's card fields while the payment needs a card,
         *     otherwise the payment's state, and the way back to `returnUrl`. `?lang=` selects its language. A browser gets problems
         *     as pages, too.
         */
        get: operations["getCardPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the contact and their debt
         * @description Reads the contact's number, status, tags and debt from the club system.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/memberships": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the contact's memberships
         * @description Returns what the contact is subscribed to at their club: since when, when they can leave at the earliest, and what is
         *     still debited until then. A membership that is cancelled stays in the list until its last day. Only some installations of
         *     the club system show this; elsewhere, the list is empty. In mock mode, the personas `committed`, `flexible` and `customer`
         *     have memberships.
         */
        get: operations["listMemberships"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/consents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the contact's consents
         * @description Returns the current consents and the receipts of the contact's choices.
         */
        get: operations["listConsents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Give or withdraw consents
         * @description Changes each item separately and returns one result per item, in the order of the request. An item that cannot be
         *     changed does not affect the others. Repeating the request is safe. A receipt of the contact's choices is stored before
         *     anything is changed.
         */
        patch: operations["changeConsents"];
        trace?: never;
    };
    "/v1/me/transfer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the contact's move
         * @description Returns the contact's latest move within the last 24 hours, for example after a reload: its state, the attempts left and when a new code
         *     can be requested. Without one, the response is 204.
         */
        get: operations["getTransfer"];
        put?: never;
        /**
         * Move to another club of the chain
         * @description For prospects and former members. The gateway sends a code to the contact's mobile phone; the contact confirms the
         *     move with it. Repeating the request sends a new code and cancels the previous one, but only after `resendIn` seconds. A
         *     contact can move only once, so the example uses its own world.
         */
        post: operations["startTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/transfer/signature": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm the move with the code from the SMS
         * @description The rules for codes are those of a mandate: five attempts, and a repeated key counts once.
         */
        post: operations["signTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/withdrawals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * State a withdrawal
         * @description The first of the two steps of the withdrawal function (Directive 2011/83/EU, article 11a). It needs no account, and no
         *     reason. Show the `statement` of the response, and below it a button with the label `confirm` of `statements` in the
         *     configuration. What is not confirmed within a day is deleted.
         *
         *     The response is the same whether or not the club knows the person or the contract. `name` and `email` are required
         *     unless an identity token identifies a contact: then what is left out is the contact's own.
         */
        post: operations["stateWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/withdrawals/{statementId}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 8a1f6a4e-5c0f-4f7e-9a35-3d1b7c1f0e22 */
                statementId: components["parameters"]["StatementId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm a withdrawal
         * @description The second step: the withdrawal is received, at the time in `receivedAt`. `text` is the acknowledgement, which is also sent by
         *     e-mail; show it so that it can be printed and kept. It acknowledges the receipt; the club decides what follows.
         *
         *     Confirming again returns the same acknowledgement, so that no `Idempotency-Key` is needed.
         */
        post: operations["confirmWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cancellations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * State a cancellation
         * @description The first of the two steps of the cancellation function, as for a withdrawal. An `extraordinary` cancellation needs a
         *     `reason`. Without `endDate`, the contract is cancelled for the earliest possible day.
         */
        post: operations["stateCancellation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cancellations/{statementId}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 8a1f6a4e-5c0f-4f7e-9a35-3d1b7c1f0e22 */
                statementId: components["parameters"]["StatementId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm a cancellation
         * @description The second step, as for a withdrawal. Where the statement has an `endDate`, the club system ends the membership now, and the
         *     response can take half a minute. The acknowledgement says when the contract ends, or that the date follows by e-mail; what the cancellation does; and, of an extraordinary one, where proofs of the reason are sent.
         */
        post: operations["confirmCancellation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/card": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive an event from the card processor
         * @description The gateway verifies the signature over the raw body by the processor's own scheme. Event contents are not trusted:
         *     an event only triggers a re-read of the payment at the processor. In the example the payment is unknown, so the
         *     event is accepted and ignored.
         */
        post: operations["receiveCardWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/club/{secret}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive an event from the club system
         * @description The club system neither signs nor resends its events, so the path contains a secret. Event contents are not trusted.
         *     The gateway stores an event before it responds, then re-reads the named objects from the club system. It accepts
         *     any JSON body. With another secret, the response is 404. 503 means that nothing was stored.
         */
        post: operations["receiveClubWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the process is alive
         * @description Responds to HEAD as well, like `/readyz`.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the process is ready
         * @description For load balancers. The response is 503 while Redis does not respond, is not safe for payments or holds those of another
         *     account, organisation or mode, and once the process is stopping. A failing club system is only `degraded`, because taking every gateway out of service would not help.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get this document
         * @description Returns the contract of the running version, as YAML.
         */
        get: operations["getContract"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document as JSON
         * @description Returns the same document, for tools that read only JSON.
         */
        get: operations["getContractAsJSON"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the documentation, with the API reference at /docs/api
         * @description Returns the index of the guides.
         */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Id: string;
        /** @description A name or a sentence for display, on one line. Longer text from the club system is truncated. */
        Words: string;
        /** @description Text of several lines for display. Longer text from the club system is truncated. */
        Prose: string;
        /** Format: date */
        Date: string;
        /** Format: date-time */
        Instant: string;
        /**
         * @description An ISO 8601 duration, as the club system gives it.
         * @example P1M
         */
        Duration: string;
        /** Format: uri */
        Url: string;
        /** Format: int32 */
        MonthDay: number;
        /**
         * @description ISO 4217; `XXX` if the club system gives none.
         * @example EUR
         */
        Currency: string;
        Money: {
            /**
             * Format: int64
             * @description Minor units (cents).
             */
            amount: number;
            currency: components["schemas"]["Currency"];
        };
        Address: {
            street: string;
            /** @description Letters and digits, with single spaces or hyphens between them. For France, five digits. */
            postalCode: string;
            city: string;
            /** @description ISO 3166-1 alpha-2. */
            country: string;
        };
        Person: {
            givenName: string;
            familyName: string;
            /** Format: date */
            birthDate: string;
            /** Format: email */
            email: string;
            /** @description E.164 with 8 to 15 digits, such as +33612345678. A number with +33 has nine more digits. */
            mobile: string;
            /** @enum {string} */
            gender?: "female" | "male" | "other";
            address: components["schemas"]["Address"];
            guardian?: components["schemas"]["Guardian"];
        };
        /**
         * @description Who concludes the contract for the buyer, such as a parent for a minor: the payer, the debtor of the mandate, and the party to the
         *     agreements. The buyer becomes the member. Below the age in the club's `guardianBelow`, a guardian is required: without one, the
         *     problem has the field code `guardian_required`, with the pointer `/person/guardian`, or `/guardian` for a contact that the club knows. Birth date
         *     and rule are read again when a mandate is created and when the buyer pays: then the code is `guardian_required` and the registration's step `guardian`.
         *     A guardian who was entered stays when the minor comes of age. The club system gets the guardian's phone as the contact's mobile number, so that the mandate's code
         *     goes there. The code proves that the phone is at hand; it does not prove parental authority. The confirmation is also mailed to the guardian's `email`.
         */
        Guardian: {
            givenName: string;
            familyName: string;
            relation: components["schemas"]["GuardianRelation"];
            /** @description A mobile number in the form of a person's `mobile`. */
            phone: string;
            /** Format: email */
            email?: string;
        };
        /**
         * @description To the buyer.
         * @enum {string}
         */
        GuardianRelation: "parent" | "legal_guardian";
        /** @description Who concludes the contract for the buyer, and pays. Absent if the buyer does. */
        GuardianParty: {
            givenName: components["schemas"]["Words"];
            familyName: components["schemas"]["Words"];
            relation: components["schemas"]["GuardianRelation"];
            /**
             * @description The last two digits of the guardian's phone, to which the mandate's code goes. Absent in a confirmation.
             * @example 21
             */
            phoneEnding?: string;
        };
        /** @description The fields of a `Person` that change, in the same formats. */
        PersonCorrection: {
            givenName?: string;
            familyName?: string;
            /** Format: date */
            birthDate?: string;
            /** Format: email */
            email?: string;
            mobile?: string;
            /** @enum {string} */
            gender?: "female" | "male" | "other";
            address?: {
                street?: string;
                postalCode?: string;
                city?: string;
                country?: string;
            };
            /** @description Replaces the guardian. A correction of `birthDate` without one removes the guardian, because the new date may not need one. */
            guardian?: components["schemas"]["Guardian"];
        };
        Config: {
            /**
             * @description `mock` and `test` move no real money.
             * @enum {string}
             */
            mode: "mock" | "test" | "live";
            /**
             * @description The version of this contract.
             * @example 1.0.0-rc.2
             */
            version: string;
            /** @description Languages of the texts shown to visitors. */
            languages: string[];
            methods: components["schemas"]["MethodConfig"][];
            startDates: components["schemas"]["DateRange"];
            /** @description The fields of a `Person` with their formats. The gateway checks more, such as the postal codes of a country. */
            person: components["schemas"]["PersonField"][];
            /** @description Visitors can receive codes only on mobile numbers of these countries. If absent, only of the club's own country. */
            mobileCountries?: string[];
            challenge?: components["schemas"]["ChallengeWidget"];
            card: components["schemas"]["CardConfig"];
            features: components["schemas"]["Feature"][];
            /** @description The labels of the withdrawal and the cancellation function, in each language. */
            statements?: components["schemas"]["StatementLabels"][];
        };
        /** @description A payment method, and the callers that may choose it. A registration's `pay` action lists the methods that fit its cart. */
        MethodConfig: {
            method: components["schemas"]["PaymentMethod"];
            audience: components["schemas"]["Audience"][];
            /** @description Only for `later`: the latest `dueDate` that is accepted. */
            latestDueDate?: components["schemas"]["Date"];
        };
        /**
         * @description `contact`: a buyer identified by a login, an invitation or their own account.
         * @enum {string}
         */
        Audience: "visitor" | "contact" | "staff";
        DateRange: {
            earliest: components["schemas"]["Date"];
            latest: components["schemas"]["Date"];
        };
        PersonField: {
            /**
             * @description The field's JSON pointer (RFC 6901) within a `Person`, as in a problem of `PUT …/person`.
             * @example /address/street
             */
            pointer: string;
            required: boolean;
            format?: components["schemas"]["PersonFormat"];
            /** Format: int32 */
            minLength?: number;
            /** Format: int32 */
            maxLength?: number;
            /**
             * Format: regex
             * @description A regular expression (ECMA 262) that the text must match.
             * @example ^\+[1-9][0-9]{7,14}$
             */
            pattern?: string;
            /** @description The only possible values. */
            allowed?: string[];
        };
        /**
         * @description `date`: as `1990-05-17`. Let the gateway check a format that you do not know.
         * @example date
         */
        PersonFormat: KnownPersonFormat | Later;
        /** @description The captcha for operations with the header `X-Frontdesk-Challenge`. The problem `challenge_required` includes it. */
        ChallengeWidget: {
            provider: components["schemas"]["ChallengeProvider"];
            /** @description The public key that a page needs to show the captcha. */
            siteKey?: components["schemas"]["Words"];
        };
        /**
         * @description Whose captcha it is. Treat a provider that you do not know as `other`: show the problem's text.
         * @example turnstile
         */
        ChallengeProvider: KnownChallengeProvider | Later;
        CardConfig: {
            /**
             * @description As in `CardDetails`.
             * @example stripe
             */
            processor: components["schemas"]["Words"];
            /** @description The processor's key for browsers, for pages that embed its card fields. */
            publishableKey?: components["schemas"]["Words"];
            /** @description Where such pages load the processor's library from. Present with `publishableKey`. Load it from there; do not bundle it. */
            scriptUrl?: components["schemas"]["Url"];
        };
        /**
         * @description What the operator has set up. Ignore a feature that you do not know. `login`: contacts can identify themselves with a token from the club's login. `staff`: staff can use their key.
         * @example login
         */
        Feature: KnownFeature | Later;
        /**
         * @description Present and true if the club system did not respond when this should have been read again, Frontdesk has more
         *     visitors than it can serve, or this is more than two minutes old and being read again. What is shown is up to ten
         *     minutes old. Prices are always read again before a payment.
         */
        Stale: boolean;
        ClubList: {
            items: components["schemas"]["Club"][];
            /** @description The cursor of the next page; absent on the last page. */
            next?: components["schemas"]["Id"];
            stale?: components["schemas"]["Stale"];
        };
        Club: {
            id: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
            alias?: components["schemas"]["Words"];
            /** @description The names of the club's parent groups, outermost first. */
            path: components["schemas"]["Words"][];
            address?: components["schemas"]["PostalAddress"];
            location?: components["schemas"]["Location"];
        };
        ClubDetails: {
            id: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
            alias?: components["schemas"]["Words"];
            /** @description The names of the club's parent groups, outermost first. */
            path: components["schemas"]["Words"][];
            address?: components["schemas"]["PostalAddress"];
            location?: components["schemas"]["Location"];
            /**
             * @description IANA name. Dates of this club, such as today's, are in it.
             * @example Europe/Paris
             */
            timeZone?: string;
            currency?: components["schemas"]["Currency"];
            /** @example +33155501011 */
            phone?: string;
            /** @example bastille@lumen.example */
            email?: string;
            /** @description The club's own page. */
            url?: components["schemas"]["Url"];
            /** @description The start dates that the club accepts now. The earliest is today at the club; without a `timeZone`, it can be yesterday. */
            startDates: components["schemas"]["DateRange"];
            openingHours: components["schemas"]["OpeningHours"][];
            images: components["schemas"]["Image"][];
            trader?: components["schemas"]["Trader"];
            /** @description Who collects the club's direct debits. Name it where the account is entered; a mandate has its own `creditor`. */
            creditor?: components["schemas"]["Creditor"];
            /**
             * Format: int32
             * @description Buyers younger than that many years, on the club's day, need a `guardian`. Absent if no buyer does.
             * @example 18
             */
            guardianBelow?: number;
            stale?: components["schemas"]["Stale"];
        };
        PostalAddress: {
            street?: components["schemas"]["Words"];
            postalCode?: components["schemas"]["Words"];
            city: components["schemas"]["Words"];
            /** @description ISO 3166-1 alpha-2. */
            country?: string;
        };
        /** @description In degrees (WGS 84). */
        Location: {
            /** Format: double */
            latitude: number;
            /** Format: double */
            longitude: number;
        };
        /** @description Times are local. A club that closes earlier than it opens closes on the next day. */
        OpeningHours: {
            days: ("monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday")[];
            /** @example 06:00 */
            opens: string;
            /** @example 23:00 */
            closes: string;
        };
        Image: {
            url: components["schemas"]["Url"];
            /** @description What the image shows. */
            alt: components["schemas"]["Words"];
        };
        /** @description The legal entity that sells, for the legal notice of a page. */
        Trader: {
            name: components["schemas"]["Words"];
            legalForm?: components["schemas"]["Words"];
            registrationNumber?: components["schemas"]["Words"];
            vatId?: components["schemas"]["Words"];
            address?: components["schemas"]["PostalAddress"];
            phone?: string;
            email?: string;
        };
        /**
         * @description What a product is. Show a product of a type that you do not know like the others, with its name and its offers.
         * @example subscription
         */
        ProductType: KnownProductType | Later;
        /**
         * @default web
         * @enum {string}
         */
        Channel: "web" | "terminal" | "club";
        ProductList: {
            items: components["schemas"]["Product"][];
            /** @description The cursor of the next page; absent on the last page. */
            next?: components["schemas"]["Id"];
            stale?: components["schemas"]["Stale"];
        };
        Product: {
            id: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
            description?: components["schemas"]["Prose"];
            type: components["schemas"]["ProductType"];
            offers: components["schemas"]["Offer"][];
            /** @description As in a list, for a single offer. The products of a list do not have it, because the list does. */
            stale?: components["schemas"]["Stale"];
        };
        Offer: {
            id: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
            /** @description The price as the club system lists it, for a start on the first of a month. What is due is `dueToday`. */
            listPrice: components["schemas"]["Money"];
            dueToday: components["schemas"]["DueToday"];
            registrationFee?: components["schemas"]["RegistrationFee"];
            billing?: components["schemas"]["Billing"];
            /**
             * @description The length of the commitment, as an ISO 8601 duration.
             * @example P52W
             */
            commitment?: components["schemas"]["Duration"];
            /** @description The first instalment depends on the start date. */
            prorated: boolean;
            /** @description What the buyer provides with the item or before paying. All but `debit` must be provided. */
            needs: components["schemas"]["OfferNeed"][];
            debitChoice: components["schemas"]["DebitChoice"];
            group?: components["schemas"]["OfferGroup"];
            /**
             * Format: int32
             * @description Where the operator wants it to be shown, the lowest first; offers without an order come last.
             */
            order?: number;
            /** @description The operator recommends it. */
            highlight?: boolean;
            image?: components["schemas"]["Image"];
            /** @description Present only if the operator allows fewer start dates than the club. */
            startDates?: components["schemas"]["DateRange"];
            ages?: components["schemas"]["AgeRange"];
            /** @description What a buyer must know first, in a few words each: such as when it is valid, and for whom. */
            facts?: components["schemas"]["Words"][];
            /** @description What the club adds to a cart with this offer. */
            extras?: components["schemas"]["OfferExtra"][];
        };
        /**
         * @description `startDate`: a member that the new item must have. `debit`: a member that it may have, to choose the day of the debits;
         *     without it, the club chooses. `mandate`: a signed direct debit mandate. Add the item in spite of a need that you do not
         *     know: the registration says at which step it is missing.
         * @example startDate
         */
        OfferNeed: KnownOfferNeed | Later;
        /** @description The ages in years that the offer is for, on the day it starts, according to the operator. The club system checks the buyer's age in the cart. */
        AgeRange: {
            /**
             * Format: int32
             * @example 18
             */
            min?: number;
            /**
             * Format: int32
             * @description Absent without a limit.
             */
            max?: number;
        };
        /** @description A compulsory article, such as a badge. Its price is part of `dueToday` and of the schedule. */
        OfferExtra: {
            offerId: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
            price: components["schemas"]["Money"];
        };
        /** @description Offers of one group are shown together, under its name. The operator's file defines groups. */
        OfferGroup: {
            id: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
        };
        /**
         * @description Which debit day the buyer can choose in the item's `debit`. `month_day`: a `day`, one of the club's debit days.
         *     `week_day`: debits recur after weeks, so either a `weekDay`, or a `day` for the first debit, for which the schedule
         *     can show the dates. `none`: there are no debits, or no choice. Treat a choice that you do not know as `none`: the club
         *     chooses.
         * @example month_day
         */
        DebitChoice: KnownDebitChoice | Later;
        /**
         * @description What is due at signup if the offer starts today, or on its earliest start; for another start date of an offer that is `prorated`, ask for its
         *     schedule. It includes the `extras` that the operator names. Anything else that the club adds is known only in the cart.
         */
        DueToday: {
            /** @description The day for which it was computed. */
            date: components["schemas"]["Date"];
            price: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
        };
        /** @description Already included in `listPrice`. */
        RegistrationFee: {
            name?: components["schemas"]["Words"];
            price: components["schemas"]["Money"];
        };
        /** @description The debits after today's payment. */
        Billing: {
            /**
             * @description The time between two debits, as an ISO 8601 duration.
             * @example P1M
             */
            rhythm: components["schemas"]["Duration"];
            /** @description The subscription renews automatically, so it has no total. */
            endless: boolean;
            /** @description `listPrice` includes the first instalment, so there is one debit fewer than `entries` add up to. */
            firstInstalmentPaid: boolean;
            entries: components["schemas"]["BillingEntry"][];
            debit?: components["schemas"]["RegularDebit"];
        };
        /**
         * @description What each debit takes: a price per week that is debited monthly, for example, as an amount per month. Absent if the debits differ or are
         *     unknown. The schedule has their dates, and a last debit that covers a shorter rest.
         */
        RegularDebit: {
            price: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
        };
        /** @description A billing period and its price. Entries are cumulative. */
        BillingEntry: {
            /** @description The billing period, as an ISO 8601 duration. */
            every: components["schemas"]["Duration"];
            price: components["schemas"]["Money"];
            /**
             * Format: int32
             * @description The number of periods; absent if it is endless or unknown.
             */
            times?: number;
            tax?: components["schemas"]["Tax"];
        };
        /** @description The tax in a `price`, as the club system gives it; absent if it gives none, or one that does not add up. */
        Tax: {
            /**
             * Format: int32
             * @example 20
             */
            percent: number;
            /** @description The tax. */
            included: components["schemas"]["Money"];
            /** @description The price without tax. */
            net: components["schemas"]["Money"];
        };
        DebitDayList: {
            items: components["schemas"]["DebitDay"][];
            stale?: components["schemas"]["Stale"];
        };
        DebitDay: {
            /** @description Day of the month. */
            day: components["schemas"]["MonthDay"];
            /** @description The next date with this day of the month. */
            date: components["schemas"]["Date"];
        };
        /** @description `total` is the sum from `dueNow` to the last debit; absent if the debits are endless or the sum is unknown. */
        Schedule: {
            offerId: components["schemas"]["Id"];
            startDate: components["schemas"]["Date"];
            /** @description The day of the month used in the calculation; absent if there are no debits. */
            debitDay?: components["schemas"]["MonthDay"];
            dueNow: components["schemas"]["ScheduleDueNow"];
            /** @description All debits, or those before the `recurrence`, in order of date. */
            debits: components["schemas"]["ScheduleDebit"][];
            recurrence?: components["schemas"]["ScheduleRecurrence"];
            total?: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
            /**
             * @description The first bank statement: what leaves the account, and when, from today to the second debit. Show it, because
             *     new members can mistake the first debit for a second charge.
             */
            firstStatement: components["schemas"]["ScheduleMovement"][];
        };
        /**
         * @description How reliable an amount and its date are. `exact`: derived from the club system's data, to the cent. `estimated`: a
         *     rule filled a gap in the data. `unknown`: the data allows no estimate, so no value is given. `rules` lists the rules
         *     that were applied. The basis of a whole is the least reliable of its parts.
         * @enum {string}
         */
        ScheduleBasis: "exact" | "estimated" | "unknown";
        /** @description Why a value is not exact; absent if it is exact. */
        ScheduleRules: components["schemas"]["ScheduleRule"][];
        /**
         * @description Why a value is not exact. Go by `basis` for a rule that you do not know.
         *
         *     The entries of an offer are cumulative. The club system does not say whether they run in parallel or follow each other.
         *     Entries that follow each other are recognised only from evidence in the offer: from the amount due now, or from the
         *     commitment. Without such evidence the schedule is estimated (`entries_in_turn`).
         *
         *     | rule | basis | meaning |
         *     |---|---|---|
         *     | `months_as_weeks` | estimated | the offer mixes months and weeks; 12 months are counted as 52 weeks |
         *     | `rounded` | estimated | the price of a debit is not a whole number of cents; it is rounded, and the total of a limited term is correct |
         *     | `remainder` | estimated | the billing periods do not divide evenly into debits; the last debit covers the remaining ones |
         *     | `entries_in_turn` | estimated | several entries are assumed to follow each other, because nothing in the offer shows whether they do or run in parallel |
         *     | `loop_over_offset` | estimated | the club system gives two numbers of periods; its `loop` is used |
         *     | `first_instalment_assumed` | estimated | the offer says that the amount due now includes the first instalment, but the amount is not the sum of the fee and the first instalment |
         *     | `debit_day_open` | estimated | no debit day was chosen; the next one is assumed, and the club may choose another |
         *     | `calendar_months` | estimated | a prorated offer is assumed to follow calendar months after its first month |
         *     | `prorata_by_days` | estimated | the first month is charged by days, including the first day, with half a cent rounded up |
         *     | `start_assumed` | estimated | the club system added the item to the cart without dates; it is assumed to start and to be debited with the item that it belongs to |
         *     | `price_differs` | estimated | the cart has another price today than its offers, such as after a discount; the later debits are those of the offers |
         *     | `period_unreadable` | unknown | a rhythm or a period is not a valid duration |
         *     | `count_unknown` | unknown | the number of repetitions of a period is not known |
         *     | `prorata_unknown` | unknown | a first instalment is prorated but its period is not a month |
         *     | `out_of_range` | unknown | amounts, debits or dates are outside the range of a plausible offer |
         *     | `offer_unknown` | unknown | the club no longer offers to this buyer what is in the cart |
         *     | `offers_unread` | unknown | the club's offers cannot be read at the moment |
         * @example debit_day_open
         */
        ScheduleRule: KnownScheduleRule | Later;
        ScheduleDueNow: {
            /** @description Today. */
            date: components["schemas"]["Date"];
            price: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
            /** @description The parts of the price, besides `extras`. */
            parts: components["schemas"]["SchedulePart"][];
            /** @description The offer's `extras`, which are part of the price. */
            extras?: components["schemas"]["OfferExtra"][];
        };
        SchedulePart: {
            kind: components["schemas"]["SchedulePartKind"];
            /** @description The club's name for it. */
            name?: components["schemas"]["Words"];
            price: components["schemas"]["Money"];
        };
        /**
         * @description `first_instalment` is not debited again. `prorata` adjusts the first month to its days and can be negative. Show a part
         *     of a kind that you do not know with its name and price; without a name, as another part of the whole.
         * @example price
         */
        SchedulePartKind: KnownSchedulePartKind | Later;
        ScheduleDebit: {
            date: components["schemas"]["Date"];
            price: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
        };
        /** @description The debits that follow `debits` until the subscription is cancelled; absent if none do. */
        ScheduleRecurrence: {
            from: components["schemas"]["Date"];
            every: components["schemas"]["Duration"];
            /** @description Day of the month, or the last day of a shorter month; absent if debits follow weeks. */
            day?: components["schemas"]["MonthDay"];
            price: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
        };
        ScheduleMovement: {
            date: components["schemas"]["Date"];
            kind: components["schemas"]["ScheduleMovementKind"];
            price: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
        };
        /** @description `total` is the sum from `dueNow` to the last debit; absent if debits are endless or the sum is unknown. */
        CartSchedule: {
            /** @description The cart that the schedule is for. */
            revision: components["schemas"]["CartRevision"];
            dueNow: components["schemas"]["CartScheduleDueNow"];
            /** @description All debits, or those before the `recurrences`, one for each date, in order of date. */
            debits: components["schemas"]["CartScheduleDebit"][];
            /** @description The debits that follow `debits` until the subscriptions are cancelled: usually one, more if they fall on different days. */
            recurrences: components["schemas"]["CartScheduleRecurrence"][];
            total?: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
            /** @description The items of the cart, in its order. */
            items: components["schemas"]["CartScheduleItem"][];
            /**
             * @description The first bank statement, as for an offer: what leaves the account from today to the second debit. Only today's
             *     payment if the `basis` is `unknown`.
             */
            firstStatement: components["schemas"]["ScheduleMovement"][];
        };
        CartScheduleDueNow: {
            /** @description Today, or the day on which the payment was started. */
            date: components["schemas"]["Date"];
            /** @description The cart's `dueNow`. */
            price: components["schemas"]["Money"];
            items: components["schemas"]["CartScheduleShare"][];
        };
        CartScheduleDebit: {
            date: components["schemas"]["Date"];
            /** @description What leaves the account on this day; the club may collect it in several debits. */
            price: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
            items: components["schemas"]["CartScheduleShare"][];
        };
        CartScheduleRecurrence: {
            from: components["schemas"]["Date"];
            every: components["schemas"]["Duration"];
            /** @description Day of the month, or the last day of a shorter month; absent if debits follow weeks. */
            day?: components["schemas"]["MonthDay"];
            price: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
            items: components["schemas"]["CartScheduleShare"][];
        };
        /** @description How reliable an item's later debits are. */
        CartScheduleItem: {
            itemId: components["schemas"]["Id"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
        };
        /** @description The part of a price that an item of the cart causes. */
        CartScheduleShare: {
            itemId: components["schemas"]["Id"];
            price: components["schemas"]["Money"];
        };
        /**
         * @description `due_now`: paid at signup. `debit`: by direct debit. Show a movement of a kind that you do not know with its date and price.
         * @example debit
         */
        ScheduleMovementKind: KnownScheduleMovementKind | Later;
        StartRegistration: {
            clubId: components["schemas"]["Id"];
            person?: components["schemas"]["Person"];
            /** @description Of the contact that an identity token or an invitation identifies. The phone must be the contact's at the club, which gets the codes. A visitor's guardian is in `person`. */
            guardian?: components["schemas"]["Guardian"];
            items?: components["schemas"]["NewItem"][];
            attribution?: components["schemas"]["NewAttribution"];
            /**
             * @description Where the visitor is; it determines the offers. Defaults to `web`. `terminal` (a kiosk) and `club` (the desk) are reserved for staff; others get `staff_only`.
             * @enum {string}
             */
            channel?: "web" | "terminal" | "club";
            /** @description The value from the link that the club sent, valid for one registration. Must not be combined with an identity token. */
            invitation?: string;
        };
        /**
         * @description The campaign that brought the visitor, for the club's statistics. Names of campaigns only, never data about a person:
         *     a value has letters, digits, `.`, `_` and `-`, with at least one letter, so that neither an e-mail address nor a phone
         *     number fits. Omit any value that does not have this form. The registration and the operators' view of its payment show it; it is not
         *     sent to the club system.
         */
        NewAttribution: {
            source?: string;
            medium?: string;
            campaign?: string;
            content?: string;
        };
        /** @description The campaign that brought the visitor, as sent at the start. */
        Attribution: {
            source?: string;
            medium?: string;
            campaign?: string;
            content?: string;
        };
        NewItem: {
            offerId: components["schemas"]["Id"];
            /**
             * Format: date
             * @description Today or later, at most five years ahead.
             */
            startDate?: string;
            debit?: components["schemas"]["Debit"];
        };
        /** @description When debits fall: on a day of the month or of the week, not both. If omitted, the club chooses. */
        Debit: {
            /**
             * Format: int32
             * @description Day of the month.
             */
            day?: number;
            /**
             * Format: int32
             * @description Day of the week, 1 is Monday.
             */
            weekDay?: number;
            /**
             * Format: date
             * @description No debit falls before this date: today or later, at most five years ahead. The first debit falls on the first such day on or after both this date and the start date.
             */
            from?: string;
        };
        Registration: {
            id: components["schemas"]["Id"];
            /**
             * @description Identifies the content of this response. Different content has another version, even if only time or the language
             *     changed it; only seconds that count down leave it as it is. The ETag of `GET /v1/registrations/{id}` and the id of an
             *     event have it.
             * @example k2l9Jx0mQe7rTn4c
             */
            version: string;
            /**
             * Format: int64
             * @description Orders the states of this registration: it never falls, and is the same in every language. A response can be overtaken by
             *     an event, or by another tab's response: ignore a registration with a lower `sequence` than the one you show.
             * @example 7
             */
            sequence: number;
            clubId: components["schemas"]["Id"];
            /**
             * @description The club of every item, as it was called at the start.
             * @example Lumen Fitness République
             */
            clubName?: components["schemas"]["Words"];
            state: components["schemas"]["RegistrationState"];
            step: components["schemas"]["Step"];
            /** @description The registration can no longer change. `with_staff` is not final, because staff can still complete it. */
            final: boolean;
            /** @description What the visitor should know or do now, at every step. */
            message: components["schemas"]["Message"];
            /** @description As given at the start. */
            attribution?: components["schemas"]["Attribution"];
            contact?: components["schemas"]["Contact"];
            guardian?: components["schemas"]["GuardianParty"];
            cart: components["schemas"]["Cart"];
            /** @description What the order button means, and what must stand directly above it. Absent while the cart has no items. */
            order?: components["schemas"]["Order"];
            mandate?: components["schemas"]["Mandate"];
            payment?: components["schemas"]["Payment"];
            confirmation?: components["schemas"]["SentConfirmation"];
            /** @description The actions that are possible now. The first is the main button of the step. */
            next: components["schemas"]["Action"][];
            expiresAt: components["schemas"]["Instant"];
            /** @description The registration can be read at least until then; a payment in progress keeps it longer. Afterwards it is deleted, and `registration_not_found`. */
            forgottenAt: components["schemas"]["Instant"];
        };
        /** @description What becomes of the confirmation of the contract, of a completed registration. Absent before, and if an outage has lost what it would say. */
        SentConfirmation: {
            /**
             * @description The e-mail addresses to which the gateway mails it, masked: the buyer's, and the guardian's. Empty if none is known here:
             *     then it goes to the address that the club has, if it has one. An address that had too many mails about unpaid orders today is
             *     left out. Absent if the gateway sends no mail: have the buyer print or save it.
             */
            mailedTo?: components["schemas"]["Words"][];
        };
        /**
         * @description What the buyer agrees to with the button that pays or orders (Directive 2011/83/EU, article 8(2)). Show the `essentials`
         *     directly above the button, with nothing between them, and label the button by `button`.
         */
        Order: {
            button: components["schemas"]["OrderButton"];
            essentials: components["schemas"]["OrderEssentials"];
            /**
             * @description What a payment must agree to now: link each document above the essentials, and send all of them as the payment's
             *     `agreements`, each with the `sha256` of the link. While a payment is in progress, what was agreed when it started. Absent if the club has no documents.
             */
            agreements?: components["schemas"]["NeededAgreement"][];
        };
        /**
         * @description Which words the button must have. A button that names only today's amount is not enough if another payment follows, even
         *     one that is not certain. Treat a value that you do not know as `order_with_obligation_to_pay`. A payment by the method
         *     `later` always needs that label: the buyer must pay after the order.
         *
         *     | button | when | label |
         *     |---|---|---|
         *     | `order_with_obligation_to_pay` | a debit or another payment follows, or it is not certain that none does | "Order with obligation to pay", "Commander avec obligation de paiement" |
         *     | `pay_now` | all of it is due today | "Pay now", "Payer maintenant" |
         *     | `free` | nothing is ever due | "Sign up for free", "S’inscrire gratuitement" |
         * @example pay_now
         */
        OrderButton: KnownOrderButton | Later;
        /**
         * @description The essential terms. They follow the rules of the cart's schedule, without delaying a response: while the club's offers
         *     cannot be read, only what is due now is known, and `basis` is `unknown`.
         */
        OrderEssentials: {
            /** @description The items of the cart, in its order. */
            items: components["schemas"]["OrderItem"][];
            /** @description The cart's `dueNow`. */
            dueNow: components["schemas"]["Money"];
            /** @description All later debits, or those before the `recurrence`, one for each date, in order of date. */
            debits: components["schemas"]["ScheduleDebit"][];
            /** @description The debits that are repeated until the subscriptions are cancelled: usually one, more if they fall on different days. Absent without such debits. */
            recurrence?: components["schemas"]["ScheduleRecurrence"][];
            /** @description The sum from `dueNow` to the last debit; absent if debits are endless or the sum is unknown. */
            total?: components["schemas"]["Money"];
            /**
             * @description The longest commitment of the items; absent without one.
             * @example P12M
             */
            minimumTerm?: components["schemas"]["Duration"];
            /** @description What happens after the minimum term, as the operator says. Absent if no item with a minimum term continues after it, or the operator says nothing. */
            renewal?: components["schemas"]["Words"];
            /** @description How the buyer can end what continues, as the operator says: the `notice` of each item. Absent if every item expires, the operator says nothing, or the texts are too long together: then show those of the items. */
            notice?: components["schemas"]["Words"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
        };
        OrderItem: {
            itemId: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
            /** @description What is due for it now. */
            price: components["schemas"]["Money"];
            /** @description Absent without one. */
            commitment?: components["schemas"]["Duration"];
            startDate?: components["schemas"]["Date"];
            withdrawal: components["schemas"]["Withdrawal"];
            /** @description How the buyer can end it, as the operator says. Absent if it expires, or the operator says nothing. */
            notice?: components["schemas"]["Words"];
            /**
             * @description The price depends on the buyer's tags or debt by a rule of the club (Directive 2011/83/EU, article 6(1)(ea)): it
             *     differs from what everybody else is offered, or no other buyer is offered this. Tell the buyer. Absent if it does not.
             */
            personalised?: boolean;
        };
        /**
         * @description The buyer's right to withdraw from the contract. The period is 14 days. If it would end on a Saturday or Sunday, it ends
         *     on the next Monday. Public holidays are not known; they make a period longer, never shorter.
         */
        Withdrawal: {
            right: boolean;
            from?: components["schemas"]["WithdrawalStart"];
            /** @description The last day, until midnight at the club, if the order is placed today; after the payment, that of the contract. Absent if the period begins with the delivery, or without a right. */
            until?: components["schemas"]["Date"];
            /** @description Why the right is excluded, as the operator says. */
            exception?: components["schemas"]["Words"];
        };
        /**
         * @description When the period begins: with the contract, or with the delivery of the goods. Absent without a right. Show a value that you
         *     do not know with `until`, if there is one.
         * @example contract
         */
        WithdrawalStart: KnownWithdrawalStart | Later;
        /** @description The confirmation of a contract on a durable medium (Directive 2011/83/EU, article 8(7)). It never changes. */
        Confirmation: {
            /** Format: uuid */
            registrationId: string;
            /** @description When the club system recorded the payment, which concludes the contract. */
            concludedAt: components["schemas"]["Instant"];
            /** @description Of the texts. */
            language: string;
            club: components["schemas"]["Trader"];
            /** @description Absent if the operator does not give it. */
            trader?: components["schemas"]["Trader"];
            /** @description The club's consumer mediator. Absent if the operator gives none. */
            mediator?: {
                name: components["schemas"]["Words"];
                url: components["schemas"]["Url"];
            };
            /** @description The buyer, who is the member. What is not known is absent. */
            buyer: {
                number: components["schemas"]["Words"];
                givenName?: components["schemas"]["Words"];
                familyName?: components["schemas"]["Words"];
                /** @description Only where a guardian concludes the contract. */
                birthDate?: components["schemas"]["Date"];
                address?: components["schemas"]["PostalAddress"];
                email?: components["schemas"]["Words"];
            };
            guardian?: components["schemas"]["GuardianParty"];
            order: components["schemas"]["ConfirmedOrder"];
            payment: {
                method: components["schemas"]["PaymentMethod"];
                total: components["schemas"]["Money"];
                /** @description Of `later`: the amount must be paid by then. */
                dueDate?: components["schemas"]["Date"];
            };
            /** @description What the buyer agreed to. The mail has the same bytes attached. */
            agreements: components["schemas"]["ConfirmedAgreement"][];
            mandate?: components["schemas"]["ConfirmedMandate"];
            /** @description How to withdraw. Empty if no item has a right of withdrawal. */
            withdrawal: {
                text?: components["schemas"]["Prose"];
                /** @description The model withdrawal form (annex I (B) of the directive). */
                form?: components["schemas"]["Prose"];
            };
            /** @description Of the confirmation as a page, which is what was mailed. */
            sha256: components["schemas"]["SHA256"];
        };
        /** @description The `order` of the registration as the buyer saw it when they paid, with the withdrawal periods of the contract. */
        ConfirmedOrder: {
            button: components["schemas"]["OrderButton"];
            items: {
                name: components["schemas"]["Words"];
                /** @description The product's type; absent if it was not known. */
                type?: components["schemas"]["ProductType"];
                /** @description What was due for it with the order. */
                price: components["schemas"]["Money"];
                /** @description What the price consists of, such as a registration fee and the first instalment; absent if it has one part, or its parts are not known. */
                parts?: components["schemas"]["SchedulePart"][];
                commitment?: components["schemas"]["Duration"];
                startDate?: components["schemas"]["Date"];
                /** @description The price depended on the buyer's tags or debt. */
                personalised?: boolean;
                /** @description How the buyer can end it; absent if it expires, or nothing was said. */
                notice?: components["schemas"]["Words"];
                withdrawal: components["schemas"]["Withdrawal"];
            }[];
            dueNow: components["schemas"]["Money"];
            /** @description The taxes in `dueNow`, one for each rate; absent if the club system did not give all of them. */
            taxes?: components["schemas"]["Tax"][];
            debits: {
                date: components["schemas"]["Date"];
                price: components["schemas"]["Money"];
                basis: components["schemas"]["ScheduleBasis"];
            }[];
            recurrence?: {
                from: components["schemas"]["Date"];
                every: components["schemas"]["Duration"];
                day?: components["schemas"]["MonthDay"];
                price: components["schemas"]["Money"];
                basis: components["schemas"]["ScheduleBasis"];
            }[];
            total?: components["schemas"]["Money"];
            minimumTerm?: components["schemas"]["Duration"];
            renewal?: components["schemas"]["Words"];
            notice?: components["schemas"]["Words"];
            basis: components["schemas"]["ScheduleBasis"];
        };
        ConfirmedAgreement: {
            document: components["schemas"]["DocumentName"];
            version: components["schemas"]["Words"];
            language: string;
            sha256: components["schemas"]["SHA256"];
            agreedAt: components["schemas"]["Instant"];
        };
        /** @description The direct debit mandate. Absent if nothing is debited. */
        ConfirmedMandate: {
            /** @description As of the registration's mandate. */
            type: string;
            /** @description Absent while the club has assigned none. */
            reference?: components["schemas"]["Words"];
            creditor: {
                name: components["schemas"]["Words"];
                identifier?: components["schemas"]["Words"];
                address?: components["schemas"]["PostalAddress"];
            };
            /** @description Who holds the account. */
            debtor?: components["schemas"]["Words"];
            /** @description The masked account number. */
            iban: components["schemas"]["Words"];
            signedAt?: components["schemas"]["Instant"];
            /**
             * Format: int32
             * @description How many days before a debit it is announced.
             */
            preNotificationDays: number;
            /** @description The authorisation that the code signed. */
            text?: components["schemas"]["Prose"];
            sha256?: components["schemas"]["SHA256"];
            validFrom?: components["schemas"]["Date"];
        };
        /** @description The registration that was started or resumed, with its token. */
        StartedRegistration: components["schemas"]["Registration"] & {
            /** @description The credential of the registration's holder: 256 random bits and the time of issue, signed. No other response has it. Absent if the request asked for the session cookie. */
            token?: string;
        };
        /**
         * @description The coarse word for `step`. `attention`: the club's staff are reviewing the registration; the visitor has nothing more
         *     to do. In a state that you do not know, go by `step` and `final`.
         * @example open
         */
        RegistrationState: KnownRegistrationState | Later;
        /**
         * @description The screen to show. A registration has exactly one. Where the table names actions, the first of `next` is the main button.
         *     Show a step that you do not know with its `message`, and offer what you know of `next`.
         *
         *     | step | screen | first of `next` |
         *     |---|---|---|
         *     | `person` | the form for the buyer's details | `person`, or `prospect` to import an account again |
         *     | `items` | the offers, because the cart is empty | `add_item` |
         *     | `guardian` | the form for the guardian, whom the club asks for because of the buyer's age | `guardian` |
         *     | `fix_cart` | the cart with its `problems` | `check`, or `clear_items` where only another cart helps |
         *     | `mandate` | the form for the bank account | `mandate` |
         *     | `code` | the field for the code from the SMS | `sign`, else `resend`, else `mandate` |
         *     | `ready` | the cart with the buttons that pay | `pay` |
         *     | `at_processor` | the card fields, or the link to the card page | |
         *     | `declined` | the decline, with a button to try again | `pay` |
         *     | `waiting` | "being processed", without a button | `pay`, only while it is safe to ask again |
         *     | `done` | the welcome | |
         *     | `with_staff` | "paid, do not pay again; the club's staff will confirm", without a button | `abandon`, only where nothing was paid here |
         *     | `abandoned` | "you cancelled this registration" | |
         *     | `expired` | "please start again" | |
         * @example ready
         */
        Step: KnownStep | Later;
        /**
         * @description The JSON on the `data` line of an event: of `registration` a `Registration`, of `end` a `StreamEnd`. Ignore the data of events
         *     with other names.
         */
        StreamData: components["schemas"]["Registration"] | components["schemas"]["StreamEnd"];
        StreamEnd: {
            reason: components["schemas"]["StreamEndReason"];
        };
        /**
         * @description `final`: the registration can no longer change; close the stream. `forgotten`: it was deleted; close the stream.
         *     `draining`: this gateway stops; reconnect. After a reason that you do not know, close the stream, and read the registration
         *     from time to time.
         * @example final
         */
        StreamEndReason: KnownStreamEndReason | Later;
        ResumeLink: {
            /** @description A URL of the signup site. POST the value of its `resume` parameter to `/v1/resumptions`. */
            url: components["schemas"]["Url"];
            expiresAt: components["schemas"]["Instant"];
        };
        Resumption: {
            /** @description The `resume` value from the link. */
            resume: string;
        };
        Contact: {
            number: components["schemas"]["Words"];
            status: components["schemas"]["ContactStatus"];
            /** @description Absent if the club system does not provide it. */
            givenName?: components["schemas"]["Words"];
            /**
             * @description The mobile number's last two digits, so that the buyer recognises where codes go.
             * @example 78
             */
            mobileEnding?: string;
            masked?: components["schemas"]["MaskedPerson"];
            /** @description An identified contact's debt when the registration started; absent for visitors. */
            debt?: components["schemas"]["Money"];
        };
        /**
         * @description The club system's status of the contact. `prospect`: known, not yet a member. `temp`: created by a purchase. `customer`: a
         *     member. `banned`: the club does not sell to them. The club system has others, such as for former members. Nothing depends
         *     on a status that you do not know: `next` says what is possible.
         * @example customer
         */
        ContactStatus: KnownContactStatus | Later;
        /** @description The buyer's other details, masked, for a form that corrects some of them with `PATCH`. Present while the action `person` is possible; an unknown detail is absent. */
        MaskedPerson: {
            /** @example M••• */
            familyName?: components["schemas"]["Words"];
            /** @example 1990 */
            birthYear?: string;
            /**
             * @description With its domain.
             * @example a•••@example.org
             */
            email?: components["schemas"]["Words"];
            /** @example 1••• */
            street?: components["schemas"]["Words"];
            /** @example 7••• */
            postalCode?: components["schemas"]["Words"];
            /** @example P••• */
            city?: components["schemas"]["Words"];
        };
        Me: {
            clubId: components["schemas"]["Id"];
            number: components["schemas"]["Words"];
            status: components["schemas"]["ContactStatus"];
            tags: components["schemas"]["Tag"][];
            debt: components["schemas"]["Money"];
        };
        MembershipList: {
            items: components["schemas"]["Membership"][];
        };
        Membership: {
            /** @description Names the membership in a cancellation. */
            id: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
            /** @description Absent if the club system does not show it. */
            since?: components["schemas"]["Date"];
            /** @description The earliest last day, if the contact cancels today: that of the minimum term or of the notice period, whichever is later. Absent if the notice period is not known. */
            earliestEnd?: components["schemas"]["Date"];
            /** @description The last day. Absent unless the membership is cancelled already; then it is also `earliestEnd`. */
            endDate?: components["schemas"]["Date"];
            remaining?: components["schemas"]["RemainingDebits"];
            cancellation: components["schemas"]["CancellationWay"];
        };
        /**
         * @description How a contact cancels a membership. `online`: the club system ends it when the contact confirms a cancellation that
         *     names it. `statement`: the club answers the cancellation. `pending`: the contact has confirmed a cancellation, and it is
         *     not known yet whether the club system has ended the membership; the club looks, and says so by e-mail. `cancelled`: it ends
         *     on `endDate`. Offer no cancellation of what is `pending` or `cancelled`. Treat any other value like `statement`.
         * @example online
         */
        CancellationWay: KnownCancellationWay | Later;
        /** @description What is still debited until `earliestEnd`, today included. Absent if the club system does not show how the membership is debited. */
        RemainingDebits: {
            /** @description In the order of their dates. */
            debits: components["schemas"]["RemainingDebit"][];
            total: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
            rules?: components["schemas"]["ScheduleRules"];
        };
        RemainingDebit: {
            date: components["schemas"]["Date"];
            amount: components["schemas"]["Money"];
            basis: components["schemas"]["ScheduleBasis"];
        };
        /** @description A label that the club puts on a contact. It can make offers available or unavailable. */
        Tag: {
            name: components["schemas"]["Words"];
            validFrom?: components["schemas"]["Date"];
            validThrough?: components["schemas"]["Date"];
        };
        ConsentList: {
            items: components["schemas"]["Consent"][];
            /** @description Newest first. */
            receipts: components["schemas"]["ConsentReceipt"][];
        };
        Consent: {
            id: components["schemas"]["Id"];
            channel: components["schemas"]["ConsentChannel"];
            type: components["schemas"]["ConsentType"];
            authorized: boolean;
            /** @description Mandatory information; the contact cannot turn it off. */
            locked: boolean;
        };
        /**
         * @description How the club writes to the contact. Show a channel that you do not know by this word, so that the contact can still object.
         * @example email
         */
        ConsentChannel: KnownConsentChannel | Later;
        /**
         * @description What the club writes about. Show a type that you do not know by this word, so that the contact can still object.
         * @example news
         */
        ConsentType: KnownConsentType | Later;
        ChangeConsents: {
            items: components["schemas"]["ConsentWish"][];
            /** @description The version of the text that the contact agreed to, as the front end names it. */
            wording?: string;
        };
        ConsentWish: {
            id: components["schemas"]["Id"];
            authorized: boolean;
        };
        ConsentChanges: {
            items: components["schemas"]["ConsentChange"][];
            receipt?: components["schemas"]["ConsentReceipt"];
        };
        ConsentChange: {
            id: components["schemas"]["Id"];
            code: components["schemas"]["ConsentChangeCode"];
            /** @description The current consent; absent if `code` is `unknown`. */
            consent?: components["schemas"]["Consent"];
        };
        /**
         * @description `unchanged`: already as requested. `locked`: mandatory information. `unknown`: not a consent of this contact.
         *     `failed`: the club system did not accept the change; send the item again. With a code that you do not know, show
         *     `consent` as it is now.
         * @example changed
         */
        ConsentChangeCode: KnownConsentChangeCode | Later;
        /** @description What the contact chose, stored before the change was made. */
        ConsentReceipt: {
            id: components["schemas"]["Id"];
            at: components["schemas"]["Instant"];
            wording?: components["schemas"]["Words"];
            items: components["schemas"]["ConsentWord"][];
        };
        ConsentWord: {
            id: components["schemas"]["Id"];
            channel: components["schemas"]["ConsentChannel"];
            type: components["schemas"]["ConsentType"];
            authorized: boolean;
        };
        /** @description The cart as last read from the club system. */
        Cart: {
            revision: components["schemas"]["CartRevision"];
            items: components["schemas"]["CartItem"][];
            dueNow: components["schemas"]["Money"];
            /** @description The taxes in `dueNow`, one for each rate; absent if the club system does not give all of them. */
            taxes?: components["schemas"]["Tax"][];
            /** @description True if the club system's check passes, no mandate is missing, and at least one payment method is available to the caller. Only a valid cart can be paid. */
            valid: boolean;
            problems: components["schemas"]["CartProblem"][];
            /** @description Changes made by the club system: lines that it added or removed, and prices that it changed. */
            changes: components["schemas"]["CartChange"][];
            /** @description Present and true if the club system did not respond when the cart should have been read again. */
            stale?: boolean;
        };
        /** @description `id` stays the same as long as the item is in the cart. `debit` is present if a day was chosen; its `from` is the earliest date for the first debit. */
        CartItem: {
            id: components["schemas"]["Id"];
            origin: components["schemas"]["CartItemOrigin"];
            /** @description The item because of which this one was added. */
            parentId?: components["schemas"]["Id"];
            offerId?: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
            /** @description The product's type; absent if it is not known. */
            type?: components["schemas"]["ProductType"];
            /**
             * @description The length of the commitment, as the buyer chose it.
             * @example P52W
             */
            commitment?: components["schemas"]["Duration"];
            /** @description The offer's, as the operator has it now. */
            image?: components["schemas"]["Image"];
            price: components["schemas"]["Money"];
            startDate?: components["schemas"]["Date"];
            debit?: components["schemas"]["ItemDebit"];
        };
        /**
         * @description `chosen`: requested, and can be removed. `required`: an offer that the club system added, such as a compulsory badge.
         *     `adjustment`: a line without an offer that the club system added, such as a pro rata amount. Show a line whose origin you
         *     do not know without a button.
         * @example chosen
         */
        CartItemOrigin: KnownCartItemOrigin | Later;
        /** @description When the item's debits fall; see `Debit`. */
        ItemDebit: {
            day?: components["schemas"]["MonthDay"];
            /**
             * Format: int32
             * @description Day of the week, 1 is Monday.
             */
            weekDay?: number;
            from?: components["schemas"]["Date"];
        };
        /** @description Why the cart is not valid. */
        CartProblem: components["schemas"]["Text"] & {
            code?: components["schemas"]["CartProblemCode"];
            /** @description The item that the problem is about; absent for the whole cart. */
            itemId?: components["schemas"]["Id"];
            /**
             * @description A JSON pointer (RFC 6901) into the cart: the item's field that the problem is about, or the item if the club system names no field. Present with `itemId`.
             * @example /items/0/startDate
             */
            pointer?: string;
        };
        /**
         * @description Why a cart is not valid. Show the `text` of a code that you do not know.
         *
         *     | code | params | why |
         *     |---|---|---|
         *     | `cart_empty` | | nothing is in the cart |
         *     | `age_restricted` | `min`, `max` | the item is for other ages, in years, on the day it starts |
         *     | `start_date_required` | `earliest`, `latest` | the item lacks its start date |
         *     | `mandate_required` | | an item is paid by direct debit, and no mandate is signed |
         *     | `person_incomplete` | | the club system lacks details of the buyer |
         *     | `debit_day_not_allowed` | | the club does not debit on the chosen day |
         *     | `not_available` | | the club does not sell the item now |
         *     | `debt` | | the buyer owes the club money |
         *     | `not_accepted` | | the club system does not accept the cart, and no other code says more |
         *     | `no_method` | | the club offers the caller no method for this cart |
         *     | `settled` | | the club's staff settled the cart in the club system, so the registration can only be abandoned |
         * @example age_restricted
         */
        CartProblemCode: KnownCartProblemCode | Later;
        CartChange: {
            kind: components["schemas"]["CartChangeKind"];
            itemId?: components["schemas"]["Id"];
            name: components["schemas"]["Words"];
            price: components["schemas"]["Money"];
            was?: components["schemas"]["Money"];
        };
        /**
         * @description `added`: the club system added this line. `price`: the line cost `was` when the cart was last shown. `removed`: the line
         *     was in the cart then and is no longer part of the amount. Show the name and price of a change whose kind you do not know.
         * @example price
         */
        CartChangeKind: KnownCartChangeKind | Later;
        /** @description A request that changes the registration. */
        Action: {
            action: components["schemas"]["ActionName"];
            /** @description Only with `pay`, the methods that the caller can choose now. `desk` is listed only for staff, `later` only for callers that the club offers it to. */
            methods?: components["schemas"]["PaymentMethod"][];
            /** @description Only with `later` among the methods: the latest `dueDate` that is accepted. */
            latestDueDate?: components["schemas"]["Date"];
        };
        /**
         * @description Names a request below the registration's path. Ignore an action that you do not know.
         *
         *     | action | request |
         *     |---|---|
         *     | `person` | `PUT …/person`; once a buyer is set, also `PATCH …/person` |
         *     | `guardian` | `PUT …/guardian`, where a guardian is missing, or can be replaced |
         *     | `prospect` | `POST …/prospect` |
         *     | `add_item` | `POST …/items` |
         *     | `clear_items` | `DELETE …/items`, and `DELETE …/items/{itemId}` for one of them |
         *     | `check` | `POST …/check` |
         *     | `mandate` | `POST …/mandate` |
         *     | `sign` | `POST …/mandate/signature` |
         *     | `resend` | `POST …/mandate/signature/resend` |
         *     | `cancel_signature` | `DELETE …/mandate/signature` |
         *     | `pay` | `POST …/payment` |
         *     | `cancel_payment` | `DELETE …/payment` |
         *     | `consents` | `PATCH …/consents` |
         *     | `abandon` | `DELETE` of the registration itself |
         * @example pay
         */
        ActionName: KnownActionName | Later;
        /**
         * @description `card`: now, by card. `later`: at the club, until a date. `free`: nothing is due. `desk`: paid at the club, recorded by its
         *     staff. Do not offer a method that you do not know; show a payment by it with the registration's `message`.
         * @example card
         */
        PaymentMethod: KnownPaymentMethod | Later;
        NewMandate: {
            /** @description The account holder, who may differ from the buyer. If the registration has a guardian, the mandate names the guardian instead. */
            holder: string;
            /** @description Spaces and lower-case letters are accepted. Length, format and check digits must be valid. */
            iban: string;
            bic?: string;
            /** @description The bank's name. */
            bank?: string;
            address?: components["schemas"]["Address"];
            /**
             * Format: date
             * @description Must not be after the first debit. Defaults to today.
             */
            validFrom?: string;
        };
        Mandate: {
            state: components["schemas"]["SignatureState"];
            /** @description True if the mandate is signed, belongs to this buyer, and starts by the first debit of this cart. */
            covers: boolean;
            /**
             * @description The masked account number.
             * @example FR** **** 0189
             */
            iban: components["schemas"]["Words"];
            /**
             * @description The unique mandate reference, if the club system tells it. Otherwise it is assigned later.
             * @example FD-11-3001
             */
            reference?: components["schemas"]["Words"];
            creditor: components["schemas"]["Creditor"];
            type: components["schemas"]["MandateType"];
            /**
             * Format: int32
             * @description How many days before a debit the club announces it.
             * @example 14
             */
            preNotificationDays: number;
            /** @description The authorisation of creditor and bank, with the right to a refund. Show all of it before you ask for the code, which signs it. After that, the text as it was signed. */
            text: components["schemas"]["Prose"];
            /** @description When the code was entered that signed it. */
            signedAt?: components["schemas"]["Instant"];
            /**
             * Format: int32
             * @description The number of attempts left to enter a code; present while a code can be entered.
             */
            attemptsLeft?: number;
            /**
             * Format: int32
             * @description In how many seconds a new code can be requested, counted from the response, so that the clock of a page does not matter; present while this is possible.
             */
            resendIn?: number;
        };
        /** @description Who collects the direct debits. */
        Creditor: {
            name: components["schemas"]["Words"];
            address?: components["schemas"]["PostalAddress"];
            /**
             * @description The SEPA creditor identifier; absent if the operator has not configured it.
             * @example FR49ZZZ000001
             */
            identifier?: string;
        };
        /**
         * @description `recurrent`: the mandate is for all debits of the contract. Show a type that you do not know with the mandate's `text`.
         * @example recurrent
         */
        MandateType: KnownMandateType | Later;
        /**
         * @description `no_code`: no code can be entered, because none was sent or its delivery is unknown; request a new one.
         *     `awaiting_code`: enter the code from the SMS. `unconfirmed`: a code was entered and the gateway is looking up the
         *     result; the same code can be entered again. `signed`: done. `cancelled`: the signature was cancelled. `expired`: the
         *     code is too old. `blocked`: too many wrong codes. After `expired` and `blocked`, request a new code. In a state that you
         *     do not know, show `message`; of a mandate, it is the registration's.
         * @example awaiting_code
         */
        SignatureState: KnownSignatureState | Later;
        Signature: {
            /** @description The digits from the SMS. Anything else is refused and does not count as an attempt. */
            code: string;
        };
        NewTransfer: {
            clubId: components["schemas"]["Id"];
        };
        Transfer: {
            clubId: components["schemas"]["Id"];
            state: components["schemas"]["SignatureState"];
            /** @description For the contact; present if the state alone does not say enough. */
            message?: components["schemas"]["Message"];
            /**
             * Format: int32
             * @description The number of attempts left to enter a code; present while a code can be entered.
             */
            attemptsLeft?: number;
            /**
             * Format: int32
             * @description In how many seconds a new code can be requested, counted from the response, so that the clock of a page does not matter; present while this is possible.
             */
            resendIn?: number;
        };
        /**
         * @description `withdrawal`: from a contract, within the withdrawal period. `cancellation`: of a contract, with its notice or for good cause.
         * @example withdrawal
         */
        StatementKind: KnownStatementKind | Later;
        /**
         * @description `stated`: not confirmed, and deleted after a day. `received`: confirmed; the club has it.
         * @example stated
         */
        StatementState: KnownStatementState | Later;
        /**
         * @description `ordinary`: with the contract's notice. `extraordinary`: for good cause.
         * @enum {string}
         */
        CancellationType: "ordinary" | "extraordinary";
        NewWithdrawal: {
            /** @description The person's name. Required unless a contact is identified. */
            name?: string;
            /**
             * Format: email
             * @description Where the acknowledgement is sent. Required unless a contact is identified.
             */
            email?: string;
            /** @description What identifies the contract, in the person's own words, such as the member number, or what was ordered and when. */
            contract?: string;
            /** @description The club of the contract, where the front end knows it. */
            clubId?: components["schemas"]["Id"];
            /**
             * @description The language of the acknowledgement. Defaults to that of `Accept-Language`.
             * @example fr
             */
            language?: string;
        };
        NewCancellation: {
            /** @description The person's name. Required unless a contact is identified. */
            name?: string;
            /**
             * Format: email
             * @description Where the acknowledgement is sent. Required unless a contact is identified.
             */
            email?: string;
            /** @description What identifies the contract, in the person's own words, such as the member number, or what was ordered and when. */
            contract?: string;
            /** @description The club of the contract, where the front end knows it. */
            clubId?: components["schemas"]["Id"];
            /**
             * @description The language of the acknowledgement. Defaults to that of `Accept-Language`.
             * @example fr
             */
            language?: string;
            type?: components["schemas"]["CancellationType"];
            /**
             * Format: date
             * @description The day on which the contract is to end: today or later. Defaults to the earliest possible day.
             */
            endDate?: string;
            /** @description The good cause; required for an `extraordinary` cancellation. */
            reason?: string;
            /** @description The person's postal address, on one line or more. */
            postalAddress?: string;
            /** @description The `id` of one of the identified contact's memberships. Defaults to the only one. Where its `cancellation` is `online`, confirming an `ordinary` cancellation ends it. */
            membership?: components["schemas"]["Id"];
        };
        /** @description What a person declared, to be shown before it is confirmed. */
        Declaration: {
            name: components["schemas"]["Words"];
            /** Format: email */
            email: string;
            contract?: components["schemas"]["Words"];
            clubId?: components["schemas"]["Id"];
            /** @example fr */
            language: string;
            type?: components["schemas"]["CancellationType"];
            /** Format: date */
            endDate?: string;
            reason?: components["schemas"]["Prose"];
            postalAddress?: components["schemas"]["Prose"];
        };
        Statement: {
            /** @description Random: its holder may confirm the statement. */
            id: components["schemas"]["Id"];
            /** @description What names the statement in its acknowledgement, in mails and to the club's staff. It permits nothing. */
            reference: components["schemas"]["Id"];
            kind: components["schemas"]["StatementKind"];
            state: components["schemas"]["StatementState"];
            statement: components["schemas"]["Declaration"];
            /** @description The last day of the membership, which the club system ends when the cancellation is confirmed. Absent if the club answers the statement instead. */
            endDate?: components["schemas"]["Date"];
            /** @description What the membership is called that an identified contact cancels. Absent if that is not known, or if several may be meant. */
            membership?: components["schemas"]["Words"];
        };
        Acknowledgement: {
            id: components["schemas"]["Id"];
            /** @description What names the statement in the acknowledgement, in mails and to the club's staff. */
            reference: components["schemas"]["Id"];
            kind: components["schemas"]["StatementKind"];
            state: components["schemas"]["StatementState"];
            receivedAt: components["schemas"]["Instant"];
            /** @description The acknowledgement: what was declared, when it was received, and what follows. It is the text of the e-mail. */
            text: components["schemas"]["Prose"];
            /**
             * Format: date
             * @description When the contract ends, where that is known.
             */
            endDate?: string;
            /**
             * @description The e-mail address to which the gateway mails it, masked. Absent if the gateway sends no mail: have the person print or save it.
             * @example a•••@example.org
             */
            mailedTo?: components["schemas"]["Words"];
        };
        /** @description The words of the link that leads to a statement, and of the button that confirms it. The law gives them: show them as they are. */
        StatementLabels: {
            kind: components["schemas"]["StatementKind"];
            /** @example en */
            language: string;
            /** @example Withdraw from contract here */
            start: components["schemas"]["Words"];
            /** @example Confirm withdrawal */
            confirm: components["schemas"]["Words"];
        };
        Prospect: {
            /** @description The person's own access token for the club system; required without an `identityToken`. */
            accessToken?: string;
            /** @description A token of the club's own login, as for `/v1/me`, which counts before an `accessToken`. Accepted if the operator allows it. */
            identityToken?: string;
        };
        StartPayment: components["schemas"]["StartCardPayment"] | components["schemas"]["StartLaterPayment"] | components["schemas"]["StartFreePayment"] | components["schemas"]["StartDeskPayment"];
        /**
         * @description Identifies the lines of a cart with their prices, start dates and debits, and the amount. In the payment's `cart`, send
         *     the `revision` of the cart that the buyer saw. If the cart has changed since, the response is 409 `cart_changed` and
         *     no payment starts. An operator can make it optional for scripts, with `FRONTDESK_CART_REVISION`.
         * @example q0WDkV3nUf7s2aYH
         */
        CartRevision: string;
        DocumentList: {
            items: components["schemas"]["Document"][];
            stale?: components["schemas"]["Stale"];
        };
        Document: {
            document: components["schemas"]["DocumentName"];
            version: components["schemas"]["DocumentVersion"];
            language: components["schemas"]["LanguageCode"];
            /**
             * Format: uri
             * @description Where the exact bytes are. Open it in a new tab.
             */
            url: string;
            sha256: components["schemas"]["SHA256"];
        };
        /**
         * @description `terms`: the conditions of the contract. `privacy`: what happens to personal data. `withdrawal_information`: how to withdraw,
         *     and where. `early_start_request`: the express request that the service begins before the right of withdrawal ends, and what
         *     follows from it; ask for it apart, with a box that is not ticked. `mandate_text`: the authorisation of direct debits.
         *     `guarantee_notice`: the EU's harmonised notice on the legal guarantee, a picture; show it before the contract where the cart has
         *     goods, at least 420 pixels wide, unchanged and in colour; it needs no agreement. Show a document that you do not know with its name, and ask for the agreement.
         * @example terms
         */
        DocumentName: KnownDocumentName | Later;
        /**
         * @description Each change of a document has another version.
         * @example 2026-11
         */
        DocumentVersion: string;
        /**
         * @description An ISO 639-1 code.
         * @example fr
         */
        LanguageCode: string;
        /** @description The SHA-256 of the bytes, in hex. */
        SHA256: string;
        /**
         * @description What the buyer agrees to: each document of `order.agreements`, once, in that version, with the `sha256` of the bytes that the
         *     buyer saw. One that is missing, or has another version or other bytes, gets 422 `agreement_missing` before anything is
         *     paid. What was agreed is kept with the payment, and the bytes under their hash. The member can be left out where
         *     `FRONTDESK_AGREEMENTS` allows it, which it does outside live mode.
         */
        Agreements: components["schemas"]["Agreement"][];
        Agreement: {
            document: components["schemas"]["DocumentName"];
            version: components["schemas"]["DocumentVersion"];
            /**
             * @description Of the bytes that the buyer saw, as `GET /v1/clubs/{clubId}/documents` listed them. It is compared with the club's
             *     documents of today, in every language: the one that has it is what was agreed, with its language. If none has it, the
             *     document has changed meanwhile: 422 `agreement_missing` has the field code `document_changed` at its place, and
             *     nothing is paid. List the documents again, and ask again.
             *
             *     Without it, what was agreed is taken to be today's document in the language of this request, `Accept-Language` or
             *     `lang`, or else in English or the club's first language. That is wrong if the buyer read another language, or if the
             *     operator has changed the file since without a new version.
             */
            sha256?: components["schemas"]["SHA256"];
        };
        NeededAgreement: {
            document: components["schemas"]["DocumentName"];
            version: components["schemas"]["DocumentVersion"];
        };
        RecordedAgreement: {
            document: components["schemas"]["DocumentName"];
            version: components["schemas"]["DocumentVersion"];
            language: components["schemas"]["LanguageCode"];
            sha256: components["schemas"]["SHA256"];
            at: components["schemas"]["Instant"];
        };
        /**
         * @description The buyer was asked after a 409 `possible_duplicate_purchase`, and wants to buy the same again. Send it only then,
         *     with a new `Idempotency-Key`. The club's staff see that the payments belong together.
         */
        BuyAgain: boolean;
        StartCardPayment: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            method: "card";
            cart: components["schemas"]["CartRevision"];
            agreements?: components["schemas"]["Agreements"];
            again?: components["schemas"]["BuyAgain"];
            /**
             * Format: uri
             * @description Where the buyer's browser returns from the card page, `card.redirectUrl`: whether the buyer paid, gave up after a
             *     decline, or cancelled. Either an absolute `http` or `https` URL whose origin is the gateway's own or listed in
             *     `FRONTDESK_ALLOWED_ORIGINS`, such as an app's universal link. Or an address with an app's own scheme, such
             *     as `com.example.club://paid` or `myapp://paid`, that is listed in `FRONTDESK_RETURN_SCHEMES`. Outside live mode,
             *     every origin and every app's scheme is accepted by default; `javascript`, `data` and other schemes of browsers
             *     never are. Prefer universal links: another app can register
             *     the same scheme. Others get 422 with the field code `origin`. Defaults to the signup site, with
             *     `?registration={id}`.
             *
             *     The URL comes back as it was sent, query included; nothing is added. A front end with card fields of its own
             *     chooses the address for the processor's library itself. Read the registration to learn what happened. Buyers may
             *     also not return at all.
             */
            returnUrl?: string;
        };
        StartLaterPayment: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            method: "later";
            cart: components["schemas"]["CartRevision"];
            agreements?: components["schemas"]["Agreements"];
            again?: components["schemas"]["BuyAgain"];
            /**
             * Format: date
             * @description From today to the `latestDueDate` of the `pay` action (by default, 90 days ahead). The amount is overdue after this date.
             */
            dueDate: string;
        };
        StartFreePayment: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            method: "free";
            cart: components["schemas"]["CartRevision"];
            agreements?: components["schemas"]["Agreements"];
        };
        StartDeskPayment: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            method: "desk";
            cart: components["schemas"]["CartRevision"];
            agreements?: components["schemas"]["Agreements"];
            /** @enum {string} */
            mean: "cash" | "cheque" | "card";
            /** @description Required if `mean` is `card`, not allowed otherwise. The amounts must add up to the amount due. */
            cards?: components["schemas"]["DeskCard"][];
            /** @description Required if `mean` is `cheque`, not allowed otherwise. The amounts must add up to the amount due. */
            cheques?: components["schemas"]["DeskCheque"][];
        };
        /** @description A part of the amount due, in the currency of the cart. */
        DeskMoney: {
            /**
             * Format: int64
             * @description Minor units (cents).
             */
            amount: number;
            /** @example EUR */
            currency: string;
        };
        DeskCard: {
            paid: components["schemas"]["DeskMoney"];
            /** @description The card's network, as the club system names it, such as `CBGroup` or `External`. */
            network: string;
        };
        DeskCheque: {
            paid: components["schemas"]["DeskMoney"];
            /** @description The bank's name. */
            bank: string;
            /** @description The cheque's number. */
            code: string;
            /** Format: date */
            depositDesiredDate: string;
            /** @description The person who signed the cheque. */
            owner: string;
        };
        /** @description A payment, by the method that was chosen. */
        Payment: {
            id: components["schemas"]["Id"];
            method: components["schemas"]["PaymentMethod"];
            state: components["schemas"]["PaymentState"];
            payAgain: components["schemas"]["PayAgain"];
            total: components["schemas"]["Money"];
            /** @description What the buyer agreed to with this payment, and when; absent if the request did not say. */
            agreements?: components["schemas"]["RecordedAgreement"][];
            /** @description Only with the method `card`. */
            card?: components["schemas"]["CardDetails"];
            /** @description Only with the method `later`: the amount is overdue after this date. */
            dueDate?: components["schemas"]["Date"];
        };
        /**
         * @description `requires_action`: the buyer must enter a card, as `card.presentation` says. `processing`: wait. `recorded`: settled,
         *     and recorded by the club system. `declined`: the card was refused and nothing was charged. `cancelled`: nothing was
         *     charged or settled. `in_doubt`: paid, deferred or confirmed, and still being recorded; do not pay again. `refunded`:
         *     the money was returned to the buyer. `requires_action`, `declined` and `refunded` occur only with the method `card`. In a
         *     state that you do not know, show the registration's `message`, and go by `payAgain`.
         * @example recorded
         */
        PaymentState: KnownPaymentState | Later;
        /**
         * @description Whether to request the payment again. `no`: money may move or has moved. `same_request`: the same request with the
         *     same key. `new_request`: one with a new key. A front end that follows it cannot cause a double payment.
         * @enum {string}
         */
        PayAgain: "no" | "same_request" | "new_request";
        /**
         * @description How the buyer enters the card now. With `embedded`, there are two ways, for the same payment. **A page with scripts of its
         *     own** loads the processor's library from `card.scriptUrl` of `GET /v1/config`, and shows its card fields with
         *     `publishableKey` and `clientSecret`. **An app, a server-rendered site or a message** opens `redirectUrl`, the gateway's
         *     card page, which does the same and then returns to `returnUrl`.
         *
         *     `processor` names the card processor, here and in `card` of `GET /v1/config`:
         *
         *     | processor | `card.scriptUrl` | `publishableKey` and `clientSecret` |
         *     |---|---|---|
         *     | `stripe` | Stripe.js | `Stripe(publishableKey).elements({clientSecret})`, then `confirmPayment` |
         *
         *     New processors may be added: open `redirectUrl` for one that you do not know. It works with every processor.
         */
        CardDetails: {
            presentation: components["schemas"]["CardPresentation"];
            /** @example stripe */
            processor: string;
            /** @description With `embedded`: names the payment to the processor's library. */
            clientSecret?: components["schemas"]["Words"];
            /** @description With `embedded`: the processor's key for browsers and apps. */
            publishableKey?: components["schemas"]["Words"];
            /**
             * @description The gateway's card page for this payment, while a card can be entered. It is in the visitor's language, or in that of
             *     `?lang=`, and shows the amount, the club and the payment's state, nothing of the buyer. Its address is the permission
             *     to pay: keep it out of logs. Open it in the system's browser, not in a web view. It stays valid, and shows how the
             *     payment ended.
             * @example https://signup.club.example/pay/3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11-1/wQ3r9T0yXb6mC2kV8nLzJ5hF1dS7aGpE4uRiOqWtYxM
             */
            redirectUrl?: components["schemas"]["Url"];
            /**
             * Format: int32
             * @description How many attempts are left for this registration until cards are no longer offered; present while a card can be entered. Only declined ones count.
             */
            attemptsLeft?: number;
            /**
             * @description The processor's reason for the latest decline. Present with the state `declined`, and if the payment was cancelled
             *     after the registration's fifth declined attempt: cards are no longer offered then.
             * @example insufficient_funds
             */
            declineCode?: components["schemas"]["Words"];
            /** @description Present, and true, while the money is on its way back to the card. That can take days. */
            refunding?: boolean;
        };
        /**
         * @description `embedded`: the card can be entered. `none`: no card can be entered, because the payment is not at the processor yet, is
         *     being processed, or has ended. With a presentation that you do not know, open `redirectUrl` if it is present.
         * @example embedded
         */
        CardPresentation: KnownCardPresentation | Later;
        Health: {
            /** @description `degraded`: the gateway works, but something that it depends on is failing or impaired. */
            status: components["schemas"]["HealthStatus"];
            /** @description The status of each dependency, checked within the last five seconds. */
            checks?: {
                /**
                 * @description The process is stopping.
                 * @enum {string}
                 */
                process?: "stopping";
                redis?: components["schemas"]["HealthStatus"];
                club_system?: components["schemas"]["HealthStatus"];
            };
        };
        /** @enum {string} */
        HealthStatus: "ok" | "degraded" | "unavailable";
        /** @description A problem document (RFC 9457): a `Text` whose text has the name that the standard gives it, `detail`. */
        Problem: {
            /**
             * Format: uri-reference
             * @description The page that explains the code, relative to the gateway.
             * @example /docs/problems#invalid_request
             */
            type: string;
            title: components["schemas"]["Words"];
            /** Format: int32 */
            status: number;
            /** @description The text, as RFC 9457 names it; if absent, `title` says it all. */
            detail?: components["schemas"]["Words"];
            code: components["schemas"]["ProblemCode"];
            params?: components["schemas"]["TextParams"];
            /**
             * @description Whether a program can send the same request again, with the same key and after `retryAfter` seconds. `never`: not
             *     as it is. `same_key`: a few times, because it may fail each time. `after`: as long as it is wanted.
             * @enum {string}
             */
            retry: "never" | "same_key" | "after";
            then: components["schemas"]["ProblemThen"];
            errors?: components["schemas"]["FieldProblem"][];
            challenge?: components["schemas"]["ChallengeWidget"];
            /** @description With status 409, the registration as it is now: show it, instead of reading it again. */
            registration?: components["schemas"]["Registration"];
            /** @description With `then: send_again`, as the header `Retry-After`: seconds until the same request can succeed. */
            retryAfter?: number;
            traceId?: string;
        };
        /**
         * @description What the front end does. A client that follows it needs no list of codes, and does right with codes that it does not know.
         *     Treat a value that you do not know as `read_again`: reading is always safe.
         *
         *     | then | what the front end does |
         *     |---|---|
         *     | `fix_request` | report a mistake of the program; nothing that the visitor does helps |
         *     | `correct_input` | show the text, next to the fields in `errors`; the visitor changes something, decides, or asks the club; what they send then has a new key |
         *     | `send_again` | send the same request with the same key, as `retry` says; keep what the visitor typed |
         *     | `read_again` | read the registration, or else the catalogue, and show its present state with the text |
         *     | `start_again` | discard the id and the token that were sent, and start another registration; only `registration_not_found` has it |
         *     | `log_in` | send the credential that the text names; a stored token stays valid |
         *     | `captcha` | show the captcha, and send the same request with the same key and its response in `X-Frontdesk-Challenge` |
         * @example correct_input
         */
        ProblemThen: KnownProblemThen | Later;
        /**
         * @description Every error, also at `/docs/problems`. For a code that you do not know, show the texts, and do what `then` says.
         *
         *     | code | status | retry | then | when | what the front end does |
         *     |---|---|---|---|---|---|
         *     | `malformed_request` | 400 | `never` | `fix_request` | the request is unreadable: invalid JSON, a duplicate member, invalid characters, a missing or invalid header, or a body that the endpoint does not accept | fix the client; `detail` says where the error is |
         *     | `invalid_request` | 422 | `never` | `correct_input` | some fields or parameters are invalid or unknown; `errors` points at each | show each message next to its field |
         *     | `card_number_refused` | 422 | `never` | `correct_input` | the body contains a card number, which only the card processor's page accepts; `errors` points at it | fix the client; have buyers enter cards only on the processor's page |
         *     | `not_identified` | 401 | `never` | `log_in` | the operation needs a valid identity token of this organisation | have the person log in at the club again, and send the new token |
         *     | `invitation_invalid` | 422 | `never` | `correct_input` | the invitation is used, expired or unknown | offer to register as a new person, or to ask the club for another link |
         *     | `resumption_invalid` | 422 | `never` | `correct_input` | the link is used, replaced, expired or unknown | create a new link on the first device, or start again |
         *     | `contact_banned` | 403 | `never` | `correct_input` | the club does not sell to this contact | refer the person to the club |
         *     | `person_known` | 409 | `never` | `read_again` | the club knows the buyer, so the buyer's details are neither needed nor accepted | omit the form for details |
         *     | `other_club` | 409 | `never` | `correct_input` | the contact belongs to another club than the requested one | start the registration at the contact's own club, or offer the move to the requested club |
         *     | `token_required` | 401 | `never` | `log_in` | the request has neither the registration's token nor its session cookie | send the token, or have the visitor start; keep a token that is stored |
         *     | `registration_not_found` | 404 | `never` | `start_again` | the registration does not exist, or the token or the cookie is not, or no longer, one of its own | discard the id and the token, and start again |
         *     | `club_not_found` | 404 | `never` | `read_again` | the club does not exist | have the visitor choose another club |
         *     | `offer_not_found` | 404 | `never` | `read_again` | the club does not have this offer, or not for this person | read the catalogue again, and let the person choose |
         *     | `not_found` | 404 | `never` | `fix_request` | nothing is at this address | fix the client; keep the token |
         *     | `method_not_allowed` | 405 | `never` | `fix_request` | the path exists but does not support the HTTP method | fix the client |
         *     | `too_large` | 413 | `never` | `fix_request` | the body is larger than 64 KiB | fix the client |
         *     | `unsupported_media_type` | 415 | `never` | `fix_request` | the body is not sent with `Content-Type: application/json` | fix the client |
         *     | `forbidden_origin` | 403 | `never` | `fix_request` | another site used a cookie session | add the site's origin to `FRONTDESK_ALLOWED_ORIGINS` |
         *     | `challenge_required` | 403 | `never` | `captcha` | the visitor must solve the captcha first | show the captcha, and send the same request again with the captcha response in `X-Frontdesk-Challenge` |
         *     | `rate_limited` | 429 | `after` | `send_again` | too many requests; `RateLimit` shows which limit was exceeded | wait for `Retry-After`, and send the same request again with the same key |
         *     | `staff_key_unknown` | 401 | `never` | `log_in` | the `X-Frontdesk-Staff-Key` is not one of the club's keys | have staff enter the key again |
         *     | `staff_only` | 403 | `never` | `fix_request` | the operation is reserved for staff and needs an `X-Frontdesk-Staff-Key` | hide it from visitors; `methods` of the `pay` action lists what the caller can choose |
         *     | `key_reused` | 422 | `never` | `fix_request` | the `Idempotency-Key` was used with another request | fix the client: use a new key for each intended action |
         *     | `key_in_use` | 409 | `after` | `send_again` | the first request with this `Idempotency-Key` is still running | wait for `Retry-After`, and send the same request again with the same key |
         *     | `conflict` | 409 | `never` | `read_again` | another request changed the registration at the same time | read the registration, and send the same request again if it is still wanted |
         *     | `no_confirmation` | 409 | `never` | `read_again` | the registration is not completed; or it is, and an outage has lost what its confirmation would say | read the registration, and follow its payment; of a completed one, refer to the mail or the club |
         *     | `cart_frozen` | 409 | `never` | `read_again` | a payment is in progress, so the cart cannot change | read the registration, and follow its payment |
         *     | `cart_empty` | 409 | `never` | `read_again` | the cart has no items to pay for | return to the offers |
         *     | `cart_invalid` | 409 | `never` | `read_again` | the club system does not accept the cart; its `problems` say why | show the cart with its `problems` |
         *     | `item_required` | 409 | `never` | `read_again` | the buyer did not choose this item: the club system added it | offer to remove the item that it belongs to |
         *     | `cart_changed` | 409 | `never` | `read_again` | the club system changed the cart since it was shown | read the registration, show the new amount, have the buyer confirm it, and pay with a new key |
         *     | `agreement_missing` | 422 | `never` | `correct_input` | the buyer does not agree to a document that the payment needs, or saw another version or other bytes; `errors` names each in `params` | read the registration, list the club's documents, ask again for what `order.agreements` lists, and pay with a new key |
         *     | `guardian_required` | 409 | `never` | `read_again` | the club asks for a guardian of buyers of this age, and the registration has none | show the form for the guardian |
         *     | `mandate_required` | 409 | `never` | `read_again` | an offer in the cart needs a signed direct debit mandate first | show the mandate form |
         *     | `nothing_due` | 409 | `never` | `read_again` | the amount is zero, so the cart can only be settled as `free` | settle as `free` |
         *     | `amount_due` | 409 | `never` | `read_again` | an amount is due, so the cart cannot be settled as `free` | read the registration, and offer the `methods` of its `pay` action |
         *     | `method_not_offered` | 403 | `never` | `read_again` | the club does not offer this method to the caller | offer the `methods` of the `pay` action |
         *     | `payment_exists` | 409 | `never` | `read_again` | another payment is in progress, with another method or other parameters | follow it; to pay in another way, `DELETE …/payment` first, while `next` has `cancel_payment` |
         *     | `possible_duplicate_purchase` | 409 | `never` | `correct_input` | the same contact, or a person with the same name, birth date, e-mail address and phone, has a payment in progress, or paid in the last 24 hours, for an offer in this cart | ask the buyer; to buy it again, send the payment with `again: true` and a new key |
         *     | `person_required` | 409 | `never` | `read_again` | the buyer's details are missing | show the form for details |
         *     | `registration_closed` | 409 | `never` | `read_again` | the registration is completed, abandoned, expired, erased, or under review by the club's staff | read the registration, and show how it ended; to start another one, use a new key |
         *     | `payment_under_way` | 409 | `never` | `read_again` | money may have moved, so the payment can no longer be cancelled here | follow the payment; refer to the club for anything else |
         *     | `offer_not_available` | 422 | `never` | `correct_input` | the club does not offer this now, or not to this person | read the catalogue again, and let the person choose |
         *     | `mandate_not_needed` | 409 | `never` | `read_again` | nothing in the cart is paid by direct debit | continue to the payment |
         *     | `mandate_signed` | 409 | `never` | `read_again` | the mandate is already signed | read the registration, and continue to the payment |
         *     | `no_code` | 409 | `never` | `read_again` | no code is active | offer what `next` lists: a new code, or the bank account again |
         *     | `code_wrong` | 422 | `never` | `correct_input` | the code is wrong; the mandate's `attemptsLeft` counts down | show the error next to the field, with the attempts left |
         *     | `code_expired` | 409 | `never` | `read_again` | the code has expired or was cancelled | offer a new code |
         *     | `code_blocked` | 409 | `never` | `read_again` | too many wrong codes were entered | offer a new code |
         *     | `sms_limited` | 429 | `after` | `send_again` | the person or the mobile number has received the maximum number of codes for now | count down `Retry-After`, then offer a new code |
         *     | `sms_paused` | 503 | `after` | `send_again` | the club sends no codes to visitors for now: its SMS budget is used up, or too few codes were entered | wait for `Retry-After`, or refer the person to the club |
         *     | `mobile_unreachable` | 409 | `never` | `correct_input` | the mobile number cannot receive codes, such as one of another country | have the person correct the mobile number |
         *     | `access_token_refused` | 422 | `never` | `log_in` | the access token is not, or no longer, valid for an account | have the person log in to their account again |
         *     | `migration_club` | 409 | `never` | `correct_input` | the person is already at this club, or at a club of another chain | refer the person to the club |
         *     | `migration_contact` | 409 | `never` | `correct_input` | the contact is not a prospect or, for a move, a former member | refer the person to the club |
         *     | `migration_not_shared` | 409 | `never` | `correct_input` | the clubs do not share the person's details | ask for the details of a new person |
         *     | `webhook_untrusted` | 400 | `never` | `fix_request` | the webhook's signature is invalid | check the webhook's secret; front ends never get this error |
         *     | `club_system_failed` | 502 | `same_key` | `send_again` | the club system responded with an error | offer to try again, with the same key |
         *     | `club_system_unavailable` | 503 | `after` | `send_again` | the club system is unreachable | wait for `Retry-After`, and send the same request again with the same key |
         *     | `identity_unavailable` | 503 | `after` | `send_again` | the keys of the club's own login cannot be fetched | wait for `Retry-After`, and send the same request again |
         *     | `processor_unavailable` | 503 | `after` | `send_again` | the card processor is unreachable | wait for `Retry-After`, and send the same request again with the same key |
         *     | `storage_unavailable` | 503 | `after` | `send_again` | Frontdesk cannot reach its storage | wait for `Retry-After`, and send the same request again with the same key |
         *     | `overloaded` | 503 | `after` | `send_again` | Frontdesk has more visitors than it can serve; nothing was done | wait for `Retry-After`, and send the same request again with the same key |
         *     | `internal` | 500 | `same_key` | `send_again` | Frontdesk failed | offer to try again, with the same key; give support the `traceId` |
         * @example invalid_request
         */
        ProblemCode: KnownProblemCode | Later;
        /** @description What is wrong with a field, a header or a parameter. Exactly one of `pointer`, `header` and `parameter` is present. */
        FieldProblem: components["schemas"]["Text"] & {
            code?: components["schemas"]["FieldCode"];
            /**
             * @description A JSON pointer (RFC 6901) into the body.
             * @example /person/email
             */
            pointer?: components["schemas"]["Words"];
            /**
             * @description The name of a header.
             * @example Idempotency-Key
             */
            header?: components["schemas"]["Words"];
            /**
             * @description The name of a query parameter.
             * @example type
             */
            parameter?: components["schemas"]["Words"];
        };
        /**
         * @description What is wrong with a field. Show the `text` of a code that you do not know.
         *
         *     | code | params | what is wrong |
         *     |---|---|---|
         *     | `required` | | the field is missing |
         *     | `blank` | | the text has no characters besides spaces |
         *     | `invalid` | | the value breaks a rule that has no code of its own |
         *     | `unreadable` | | the value cannot be read |
         *     | `characters` | | the text has NUL, invalid UTF-8 or half of a surrogate pair |
         *     | `duplicate` | | the member or the entry appears twice |
         *     | `unexpected` | | another field excludes this one |
         *     | `unknown_member` | | the contract has no such member |
         *     | `unknown_parameter` | `known` | the operation has no such query parameter |
         *     | `type` | `type` | the value has another JSON type |
         *     | `format` | `format` | the text has another format |
         *     | `one_of` | `allowed` | the value is not in the list |
         *     | `too_short` | `min` | the text has fewer characters |
         *     | `too_long` | `max` | the text has more characters |
         *     | `too_few` | `min` | the list has fewer entries |
         *     | `too_many` | `max` | the list has more entries |
         *     | `too_small` | `min` | the number is smaller |
         *     | `too_large` | `max` | the number is larger |
         *     | `date` | | the value is not a date, or not one that exists |
         *     | `date_too_early` | `earliest` | the date is too early, such as in the past |
         *     | `date_too_late` | `latest` | the date is after the latest one |
         *     | `birth_date` | | the date is not a possible birth date |
         *     | `email` | | the value is not an e-mail address |
         *     | `phone` | | the value is not an international phone number |
         *     | `postal_code` | | the value is not a postal code of the country |
         *     | `country` | | the value is not a country code |
         *     | `url` | | the value is not an http or https address |
         *     | `origin` | | the address is not below an allowed origin |
         *     | `bic` | | the value is not a BIC |
         *     | `iban` | | the value does not begin like an IBAN |
         *     | `iban_country` | | the country has no IBANs |
         *     | `iban_length` | `expected`, `given` | the IBAN has another length than the country's |
         *     | `iban_account` | | the IBAN has another form than the country's |
         *     | `iban_check_digits` | | the IBAN has a typing error |
         *     | `card_number` | | the text contains a card number |
         *     | `guessable` | | the key is not random enough |
         *     | `challenge` | | the captcha response is missing, too old or used |
         *     | `cursor` | | the cursor is not the `next` of a page |
         *     | `amounts` | | the amounts do not add up to the amount due |
         *     | `not_offered` | | the club does not offer this now, or not to this person |
         *     | `item_failed` | | the item could not be added to the cart |
         *     | `cart_full` | `max` | the cart has the maximum number of items |
         *     | `no_direct_debit` | | the offer is not paid by direct debit |
         *     | `one_debit_day` | | both a day of the month and a day of the week are given |
         *     | `debit_day` | `allowed` | the club does not debit on this day of the month |
         *     | `club` | | the club does not exist |
         *     | `staff_key` | | the value needs a staff key |
         *     | `logged_in` | | an identified contact sends no invitation |
         *     | `link_ended` | | the link is used, replaced or expired |
         *     | `code_wrong` | | the code is not the one that was sent |
         *     | `access_token` | | the token is not, or no longer, valid for an account |
         *     | `not_accepted` | | the club system does not accept the value |
         *     | `bank_refused` | | the bank does not accept the account |
         *     | `agreement_missing` | `document`, `version` | the buyer does not agree to the document in this version |
         *     | `document_changed` | `document`, `version` | the club's document in this version does not have, or no longer has, the bytes that the buyer saw |
         *     | `guardian_required` | `below` | a buyer below this age needs a guardian |
         *     | `guardian_is_buyer` | | the guardian has the name of the minor |
         * @example email
         */
        FieldCode: KnownFieldCode | Later;
        /** @description Tells the visitor where they stand. */
        Message: components["schemas"]["Text"] & {
            code?: components["schemas"]["MessageCode"];
        };
        /**
         * @description Names a message for the visitor, by what it is about: `payment_…` for payments by card, `settlement_…`, `later_…`,
         *     `free_…` and `desk_…` for the other methods, `signature_…` for SMS codes, `step_…` where the step says all. `later_recorded`
         *     has the parameter `dueDate`. Show the `text` of a code that you do not know.
         * @example payment_recorded
         */
        MessageCode: KnownMessageCode | Later;
        /**
         * @description A text to show, with the code that names it and the values that it is about: show `text`, or a text of your own by
         *     `code` and `params`. Messages, problems of fields and of carts are such texts.
         */
        Text: {
            /** @example too_long */
            code: string;
            /**
             * @description In the language of the response.
             * @example must have at most 64 characters
             */
            text: components["schemas"]["Words"];
            params?: components["schemas"]["TextParams"];
        };
        /** @description The values of a text, by name, as far as they are known; present if there are any. Numbers are decimal, dates `YYYY-MM-DD`. */
        TextParams: {
            [key: string]: string;
        };
    };
    responses: {
        /** @description The version in `If-None-Match` is current. The response has no body. */
        Known: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "Content-Language": components["headers"]["Content-Language"];
                ETag: components["headers"]["ETag"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description What went wrong, and what the caller can do: every error but a 429. `x-problem-codes` of the operation lists the
         *     codes, and each code has one status. A 401 names the expected credentials in `WWW-Authenticate`.
         */
        Problem: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "Content-Language": components["headers"]["Content-Language"];
                Vary: components["headers"]["Vary"];
                "Retry-After": components["headers"]["Retry-After"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A limit was exceeded: `rate_limited` for requests, `sms_limited` for SMS codes. Send the same request again after
         *     `Retry-After`.
         *
         *     | limit | counts | policy |
         *     |---|---|---|
         *     | `requests` | requests from one address (for IPv6, one /64 network), on each gateway separately | `"requests";q=120;w=120` |
         *     | `starts` | registrations started or resumed, and statements made, from one address, except by staff | `"starts";q=20;w=3600` |
         *     | `writes` | changes by the holder of a registration or by an identified contact | `"writes";q=10;w=60` |
         *     | `people` | changes of the buyer's details in one registration | `"people";q=30;w=3600` |
         *     | `payments` | requests to pay for one registration | `"payments";q=5;w=600` |
         *
         *     A caller can send `q` requests at once. They become available again one by one, at an even pace, and all of them after
         *     `w` seconds.
         */
        Limited: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "Content-Language": components["headers"]["Content-Language"];
                Vary: components["headers"]["Vary"];
                /** @description Seconds to wait before sending the request again. */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @example 11 */
        ClubId: components["schemas"]["Id"];
        /** @example 901 */
        OfferId: components["schemas"]["Id"];
        /** @description Where the sale takes place. Channels other than `web` need a staff key. */
        Channel: components["schemas"]["Channel"];
        /**
         * @description The day on which the subscription starts: today or later, at most five years ahead. Defaults to today.
         * @example 2030-01-15
         */
        StartDate: components["schemas"]["Date"];
        /**
         * @description The language of the texts. It takes precedence over `Accept-Language`, which an `EventSource` cannot set and shared
         *     caches would have to distinguish.
         */
        Lang: string;
        /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
        RegistrationId: components["schemas"]["Id"];
        /** @example 8a1f6a4e-5c0f-4f7e-9a35-3d1b7c1f0e22 */
        StatementId: components["schemas"]["Id"];
        /** @description `cookie` requests a session cookie instead of a token in the body. Only for pages on the same site as the API. */
        Session: "cookie";
        /**
         * @description The browser's captcha response, if the gateway protects this operation with a captcha. A captcha response is valid for
         *     one request. If it is missing or not accepted, the request fails with `challenge_required`. Then have the visitor
         *     solve the captcha, and send the same request with the same key and the captcha response. Repeating a request for
         *     another reason needs no new captcha response. Staff and identified contacts need none.
         */
        Challenge: string;
        /**
         * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
         *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
         *     different characters.
         * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
         */
        IdempotencyKey: string;
        /**
         * @description As for a POST. Without it, sending the request again carries it out again.
         * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
         */
        OptionalIdempotencyKey: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Identifies this version of the response. A request with it in `If-None-Match` gets 304 and no body while the response
         *     is unchanged. Browsers send it automatically.
         */
        ETag: string;
        /**
         * @description Responses that are the same for every anonymous visitor have
         *     `public, max-age=60, s-maxage=60, stale-while-revalidate=60, stale-if-error=600`, so that a cache in front of the
         *     gateway may serve them; none of these times ends after the club's midnight. Those marked `stale` have
         *     `public, max-age=5, stale-if-error=600`. Responses to contacts with an identity token and to staff have `no-store`,
         *     as have all other responses. The bytes of a document have `public, max-age=31536000, immutable`. In mock mode, `private, no-cache` takes the place of `public`: revalidate before each use.
         */
        "Cache-Control": string;
        /** @description The request headers on which the response depends. */
        Vary: string;
        /**
         * @description The language of the texts that the gateway wrote, by the request's `Accept-Language`: `en`, the default, or `fr`. A
         *     replayed problem keeps the language of the first one.
         */
        "Content-Language": string;
        /** @description The origin of the requesting page, if the operator allows it in `FRONTDESK_ALLOWED_ORIGINS`. Otherwise absent. */
        "Access-Control-Allow-Origin": string;
        /** @description The limits of the route, where rate limits apply and no cache may share the response, such as `"writes";q=10;w=60` (draft-ietf-httpapi-ratelimit-headers). */
        "RateLimit-Policy": string;
        /** @description What remains of each limit, where rate limits apply and no cache may share the response, such as `"writes";r=9;t=6`: 9 requests now, the full limit again in 6 s. */
        RateLimit: string;
        /** @description Seconds to wait before sending the request again. */
        "Retry-After": number;
        /** @description This response was first sent to an earlier request with the same `Idempotency-Key`. */
        "Idempotent-Replayed": "true";
        /** @description The path of the registration. */
        Location: string;
        /** @description The session cookie, if the request asked for it: HttpOnly, SameSite=Lax. It is empty and expired after the end of the session. */
        "Set-Cookie": string;
        /** @description The authentication scheme. */
        "WWW-Authenticate": string;
    };
    pathItems: never;
}
export type Id = components['schemas']['Id'];
export type Words = components['schemas']['Words'];
export type Prose = components['schemas']['Prose'];
export type Date = components['schemas']['Date'];
export type Instant = components['schemas']['Instant'];
export type Duration = components['schemas']['Duration'];
export type Url = components['schemas']['Url'];
export type MonthDay = components['schemas']['MonthDay'];
export type Currency = components['schemas']['Currency'];
export type Money = components['schemas']['Money'];
export type Address = components['schemas']['Address'];
export type Person = components['schemas']['Person'];
export type Guardian = components['schemas']['Guardian'];
export type GuardianRelation = components['schemas']['GuardianRelation'];
export type GuardianParty = components['schemas']['GuardianParty'];
export type PersonCorrection = components['schemas']['PersonCorrection'];
export type Config = components['schemas']['Config'];
export type MethodConfig = components['schemas']['MethodConfig'];
export type Audience = components['schemas']['Audience'];
export type DateRange = components['schemas']['DateRange'];
export type PersonField = components['schemas']['PersonField'];
export type ChallengeWidget = components['schemas']['ChallengeWidget'];
export type CardConfig = components['schemas']['CardConfig'];
export type Stale = components['schemas']['Stale'];
export type ClubList = components['schemas']['ClubList'];
export type Club = components['schemas']['Club'];
export type ClubDetails = components['schemas']['ClubDetails'];
export type PostalAddress = components['schemas']['PostalAddress'];
export type Location = components['schemas']['Location'];
export type OpeningHours = components['schemas']['OpeningHours'];
export type Image = components['schemas']['Image'];
export type Trader = components['schemas']['Trader'];
export type Channel = components['schemas']['Channel'];
export type ProductList = components['schemas']['ProductList'];
export type Product = components['schemas']['Product'];
export type Offer = components['schemas']['Offer'];
export type AgeRange = components['schemas']['AgeRange'];
export type OfferExtra = components['schemas']['OfferExtra'];
export type OfferGroup = components['schemas']['OfferGroup'];
export type DueToday = components['schemas']['DueToday'];
export type RegistrationFee = components['schemas']['RegistrationFee'];
export type Billing = components['schemas']['Billing'];
export type RegularDebit = components['schemas']['RegularDebit'];
export type BillingEntry = components['schemas']['BillingEntry'];
export type Tax = components['schemas']['Tax'];
export type DebitDayList = components['schemas']['DebitDayList'];
export type DebitDay = components['schemas']['DebitDay'];
export type Schedule = components['schemas']['Schedule'];
export type ScheduleBasis = components['schemas']['ScheduleBasis'];
export type ScheduleRules = components['schemas']['ScheduleRules'];
export type ScheduleDueNow = components['schemas']['ScheduleDueNow'];
export type SchedulePart = components['schemas']['SchedulePart'];
export type ScheduleDebit = components['schemas']['ScheduleDebit'];
export type ScheduleRecurrence = components['schemas']['ScheduleRecurrence'];
export type ScheduleMovement = components['schemas']['ScheduleMovement'];
export type CartSchedule = components['schemas']['CartSchedule'];
export type CartScheduleDueNow = components['schemas']['CartScheduleDueNow'];
export type CartScheduleDebit = components['schemas']['CartScheduleDebit'];
export type CartScheduleRecurrence = components['schemas']['CartScheduleRecurrence'];
export type CartScheduleItem = components['schemas']['CartScheduleItem'];
export type CartScheduleShare = components['schemas']['CartScheduleShare'];
export type StartRegistration = components['schemas']['StartRegistration'];
export type NewAttribution = components['schemas']['NewAttribution'];
export type Attribution = components['schemas']['Attribution'];
export type NewItem = components['schemas']['NewItem'];
export type Debit = components['schemas']['Debit'];
export type Registration = components['schemas']['Registration'];
export type SentConfirmation = components['schemas']['SentConfirmation'];
export type Order = components['schemas']['Order'];
export type OrderEssentials = components['schemas']['OrderEssentials'];
export type OrderItem = components['schemas']['OrderItem'];
export type Withdrawal = components['schemas']['Withdrawal'];
export type Confirmation = components['schemas']['Confirmation'];
export type ConfirmedOrder = components['schemas']['ConfirmedOrder'];
export type ConfirmedAgreement = components['schemas']['ConfirmedAgreement'];
export type ConfirmedMandate = components['schemas']['ConfirmedMandate'];
export type StartedRegistration = components['schemas']['StartedRegistration'];
export type StreamData = components['schemas']['StreamData'];
export type StreamEnd = components['schemas']['StreamEnd'];
export type ResumeLink = components['schemas']['ResumeLink'];
export type Resumption = components['schemas']['Resumption'];
export type Contact = components['schemas']['Contact'];
export type MaskedPerson = components['schemas']['MaskedPerson'];
export type Me = components['schemas']['Me'];
export type MembershipList = components['schemas']['MembershipList'];
export type Membership = components['schemas']['Membership'];
export type RemainingDebits = components['schemas']['RemainingDebits'];
export type RemainingDebit = components['schemas']['RemainingDebit'];
export type Tag = components['schemas']['Tag'];
export type ConsentList = components['schemas']['ConsentList'];
export type Consent = components['schemas']['Consent'];
export type ChangeConsents = components['schemas']['ChangeConsents'];
export type ConsentWish = components['schemas']['ConsentWish'];
export type ConsentChanges = components['schemas']['ConsentChanges'];
export type ConsentChange = components['schemas']['ConsentChange'];
export type ConsentReceipt = components['schemas']['ConsentReceipt'];
export type ConsentWord = components['schemas']['ConsentWord'];
export type Cart = components['schemas']['Cart'];
export type CartItem = components['schemas']['CartItem'];
export type ItemDebit = components['schemas']['ItemDebit'];
export type CartProblem = components['schemas']['CartProblem'];
export type CartChange = components['schemas']['CartChange'];
export type Action = components['schemas']['Action'];
export type NewMandate = components['schemas']['NewMandate'];
export type Mandate = components['schemas']['Mandate'];
export type Creditor = components['schemas']['Creditor'];
export type Signature = components['schemas']['Signature'];
export type NewTransfer = components['schemas']['NewTransfer'];
export type Transfer = components['schemas']['Transfer'];
export type CancellationType = components['schemas']['CancellationType'];
export type NewWithdrawal = components['schemas']['NewWithdrawal'];
export type NewCancellation = components['schemas']['NewCancellation'];
export type Declaration = components['schemas']['Declaration'];
export type Statement = components['schemas']['Statement'];
export type Acknowledgement = components['schemas']['Acknowledgement'];
export type StatementLabels = components['schemas']['StatementLabels'];
export type Prospect = components['schemas']['Prospect'];
export type StartPayment = components['schemas']['StartPayment'];
export type CartRevision = components['schemas']['CartRevision'];
export type DocumentList = components['schemas']['DocumentList'];
export type Document = components['schemas']['Document'];
export type DocumentVersion = components['schemas']['DocumentVersion'];
export type LanguageCode = components['schemas']['LanguageCode'];
export type Sha256 = components['schemas']['SHA256'];
export type Agreements = components['schemas']['Agreements'];
export type Agreement = components['schemas']['Agreement'];
export type NeededAgreement = components['schemas']['NeededAgreement'];
export type RecordedAgreement = components['schemas']['RecordedAgreement'];
export type BuyAgain = components['schemas']['BuyAgain'];
export type StartCardPayment = components['schemas']['StartCardPayment'];
export type StartLaterPayment = components['schemas']['StartLaterPayment'];
export type StartFreePayment = components['schemas']['StartFreePayment'];
export type StartDeskPayment = components['schemas']['StartDeskPayment'];
export type DeskMoney = components['schemas']['DeskMoney'];
export type DeskCard = components['schemas']['DeskCard'];
export type DeskCheque = components['schemas']['DeskCheque'];
export type Payment = components['schemas']['Payment'];
export type PayAgain = components['schemas']['PayAgain'];
export type CardDetails = components['schemas']['CardDetails'];
export type Health = components['schemas']['Health'];
export type HealthStatus = components['schemas']['HealthStatus'];
export type Problem = components['schemas']['Problem'];
export type FieldProblem = components['schemas']['FieldProblem'];
export type Message = components['schemas']['Message'];
export type Text = components['schemas']['Text'];
export type TextParams = components['schemas']['TextParams'];
export type ResponseKnown = components['responses']['Known'];
export type ResponseProblem = components['responses']['Problem'];
export type ResponseLimited = components['responses']['Limited'];
export type ParameterClubId = components['parameters']['ClubId'];
export type ParameterOfferId = components['parameters']['OfferId'];
export type ParameterChannel = components['parameters']['Channel'];
export type ParameterStartDate = components['parameters']['StartDate'];
export type ParameterLang = components['parameters']['Lang'];
export type ParameterRegistrationId = components['parameters']['RegistrationId'];
export type ParameterStatementId = components['parameters']['StatementId'];
export type ParameterSession = components['parameters']['Session'];
export type ParameterChallenge = components['parameters']['Challenge'];
export type ParameterIdempotencyKey = components['parameters']['IdempotencyKey'];
export type ParameterOptionalIdempotencyKey = components['parameters']['OptionalIdempotencyKey'];
export type HeaderETag = components['headers']['ETag'];
export type HeaderCacheControl = components['headers']['Cache-Control'];
export type HeaderVary = components['headers']['Vary'];
export type HeaderContentLanguage = components['headers']['Content-Language'];
export type HeaderAccessControlAllowOrigin = components['headers']['Access-Control-Allow-Origin'];
export type HeaderRateLimitPolicy = components['headers']['RateLimit-Policy'];
export type HeaderRateLimit = components['headers']['RateLimit'];
export type HeaderRetryAfter = components['headers']['Retry-After'];
export type HeaderIdempotentReplayed = components['headers']['Idempotent-Replayed'];
export type HeaderLocation = components['headers']['Location'];
export type HeaderSetCookie = components['headers']['Set-Cookie'];
export type HeaderWwwAuthenticate = components['headers']['WWW-Authenticate'];
export type $defs = Record<string, never>;
export interface operations {
    getConfig: {
        parameters: {
            query?: {
                /**
                 * @description The language of the texts. It takes precedence over `Accept-Language`, which an `EventSource` cannot set and shared
                 *     caches would have to distinguish.
                 */
                lang?: components["parameters"]["Lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The configuration. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Config"];
                };
            };
            304: components["responses"]["Known"];
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    listClubs: {
        parameters: {
            query?: {
                /**
                 * @description How many clubs a page has at most. By default, all.
                 * @example 100
                 */
                limit?: number;
                /** @description The `next` value of the previous page. */
                cursor?: string;
                /**
                 * @description The language of the texts. It takes precedence over `Accept-Language`, which an `EventSource` cannot set and shared
                 *     caches would have to distinguish.
                 */
                lang?: components["parameters"]["Lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The clubs, or a page of them. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClubList"];
                };
            };
            304: components["responses"]["Known"];
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getClub: {
        parameters: {
            query?: {
                /**
                 * @description The language of the texts. It takes precedence over `Accept-Language`, which an `EventSource` cannot set and shared
                 *     caches would have to distinguish.
                 */
                lang?: components["parameters"]["Lang"];
            };
            header?: never;
            path: {
                /** @example 11 */
                clubId: components["parameters"]["ClubId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The club. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClubDetails"];
                };
            };
            304: components["responses"]["Known"];
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    listProducts: {
        parameters: {
            query?: {
                /** @description Where the sale takes place. Channels other than `web` need a staff key. */
                channel?: components["parameters"]["Channel"];
                /**
                 * @description Returns only products of this type.
                 * @example subscription
                 */
                type?: "subscription" | "subscription_option" | "badge" | "counter" | "package" | "countermark" | "test_session" | "regular";
                /**
                 * @description The day of the purchase: today or later, at most five years ahead. Defaults to today.
                 * @example 2030-01-15
                 */
                date?: components["schemas"]["Date"];
                /** @description The `next` value of the previous page. */
                cursor?: string;
                /**
                 * @description The language of the texts. It takes precedence over `Accept-Language`, which an `EventSource` cannot set and shared
                 *     caches would have to distinguish.
                 */
                lang?: components["parameters"]["Lang"];
            };
            header?: never;
            path: {
                /** @example 11 */
                clubId: components["parameters"]["ClubId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the catalogue. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProductList"];
                };
            };
            304: components["responses"]["Known"];
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getOffer: {
        parameters: {
            query?: {
                /** @description Where the sale takes place. Channels other than `web` need a staff key. */
                channel?: components["parameters"]["Channel"];
                /**
                 * @description The language of the texts. It takes precedence over `Accept-Language`, which an `EventSource` cannot set and shared
                 *     caches would have to distinguish.
                 */
                lang?: components["parameters"]["Lang"];
            };
            header?: never;
            path: {
                /** @example 11 */
                clubId: components["parameters"]["ClubId"];
                /** @example 901 */
                offerId: components["parameters"]["OfferId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The product, with one offer. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "2",
                     *       "name": "Quarter Pass",
                     *       "type": "subscription",
                     *       "offers": [
                     *         {
                     *           "id": "201",
                     *           "name": "Quarter Pass, paid once",
                     *           "listPrice": {
                     *             "amount": 14900,
                     *             "currency": "EUR"
                     *           },
                     *           "dueToday": {
                     *             "date": "2030-01-15",
                     *             "price": {
                     *               "amount": 14900,
                     *               "currency": "EUR"
                     *             },
                     *             "basis": "exact"
                     *           },
                     *           "prorated": false,
                     *           "needs": [
                     *             "startDate"
                     *           ],
                     *           "debitChoice": "none"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Product"];
                };
            };
            304: components["responses"]["Known"];
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getSchedule: {
        parameters: {
            query?: {
                /** @description Where the sale takes place. Channels other than `web` need a staff key. */
                channel?: components["parameters"]["Channel"];
                /**
                 * @description The day on which the subscription starts: today or later, at most five years ahead. Defaults to today.
                 * @example 2030-01-15
                 */
                startDate?: components["parameters"]["StartDate"];
                /**
                 * @description The day of the month for debits, one of the club's debit days. If omitted, the response uses the club's next
                 *     debit day and marks every debit `debit_day_open`.
                 * @example 5
                 */
                debitDay?: components["schemas"]["MonthDay"];
                /**
                 * @description The language of the texts. It takes precedence over `Accept-Language`, which an `EventSource` cannot set and shared
                 *     caches would have to distinguish.
                 */
                lang?: components["parameters"]["Lang"];
            };
            header?: never;
            path: {
                /** @example 11 */
                clubId: components["parameters"]["ClubId"];
                /** @example 901 */
                offerId: components["parameters"]["OfferId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule. Values that cannot be known are marked `unknown`; they never cause an error. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "offerId": "901",
                     *       "startDate": "2030-01-15",
                     *       "debitDay": 5,
                     *       "dueNow": {
                     *         "date": "2029-12-20",
                     *         "price": {
                     *           "amount": 6890,
                     *           "currency": "EUR"
                     *         },
                     *         "basis": "exact",
                     *         "parts": [
                     *           {
                     *             "kind": "registration_fee",
                     *             "name": "Registration fee",
                     *             "price": {
                     *               "amount": 2900,
                     *               "currency": "EUR"
                     *             }
                     *           },
                     *           {
                     *             "kind": "first_instalment",
                     *             "price": {
                     *               "amount": 3990,
                     *               "currency": "EUR"
                     *             }
                     *           }
                     *         ]
                     *       },
                     *       "debits": [],
                     *       "recurrence": {
                     *         "from": "2030-03-05",
                     *         "every": "P1M",
                     *         "day": 5,
                     *         "price": {
                     *           "amount": 3990,
                     *           "currency": "EUR"
                     *         },
                     *         "basis": "exact"
                     *       },
                     *       "basis": "exact",
                     *       "firstStatement": [
                     *         {
                     *           "date": "2029-12-20",
                     *           "kind": "due_now",
                     *           "price": {
                     *             "amount": 6890,
                     *             "currency": "EUR"
                     *           },
                     *           "basis": "exact"
                     *         },
                     *         {
                     *           "date": "2030-03-05",
                     *           "kind": "debit",
                     *           "price": {
                     *             "amount": 3990,
                     *             "currency": "EUR"
                     *           },
                     *           "basis": "exact"
                     *         },
                     *         {
                     *           "date": "2030-04-05",
                     *           "kind": "debit",
                     *           "price": {
                     *             "amount": 3990,
                     *             "currency": "EUR"
                     *           },
                     *           "basis": "exact"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            304: components["responses"]["Known"];
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    listDebitDays: {
        parameters: {
            query?: {
                /**
                 * @description The day on which the subscription starts: today or later, at most five years ahead. Defaults to today.
                 * @example 2030-01-15
                 */
                startDate?: components["parameters"]["StartDate"];
                /**
                 * @description The language of the texts. It takes precedence over `Accept-Language`, which an `EventSource` cannot set and shared
                 *     caches would have to distinguish.
                 */
                lang?: components["parameters"]["Lang"];
            };
            header?: never;
            path: {
                /** @example 11 */
                clubId: components["parameters"]["ClubId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each of the club's debit days, with its next date on or after the start date. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "day": 20,
                     *           "date": "2030-01-20"
                     *         },
                     *         {
                     *           "day": 5,
                     *           "date": "2030-02-05"
                     *         },
                     *         {
                     *           "day": 10,
                     *           "date": "2030-02-10"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DebitDayList"];
                };
            };
            304: components["responses"]["Known"];
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    listDocuments: {
        parameters: {
            query?: {
                /**
                 * @description The language of the documents. Without it, `Accept-Language` decides.
                 * @example fr
                 */
                language?: string;
            };
            header?: never;
            path: {
                /** @example 11 */
                clubId: components["parameters"]["ClubId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The documents. A club without any has an empty list. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentList"];
                };
            };
            304: components["responses"]["Known"];
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 11 */
                clubId: components["parameters"]["ClubId"];
                /**
                 * @description The SHA-256 of the bytes, in hex.
                 * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                 */
                sha256: components["schemas"]["SHA256"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                    "text/plain": unknown;
                    "application/pdf": unknown;
                };
            };
            304: components["responses"]["Known"];
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    startRegistration: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The browser's captcha response, if the gateway protects this operation with a captcha. A captcha response is valid for
                 *     one request. If it is missing or not accepted, the request fails with `challenge_required`. Then have the visitor
                 *     solve the captcha, and send the same request with the same key and the captcha response. Repeating a request for
                 *     another reason needs no new captcha response. Staff and identified contacts need none.
                 */
                "X-Frontdesk-Challenge"?: components["parameters"]["Challenge"];
                /** @description `cookie` requests a session cookie instead of a token in the body. Only for pages on the same site as the API. */
                "X-Frontdesk-Session"?: components["parameters"]["Session"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "clubId": "11",
                 *       "person": {
                 *         "givenName": "Ada",
                 *         "familyName": "Martin",
                 *         "birthDate": "1990-05-17",
                 *         "email": "ada@example.com",
                 *         "mobile": "+33612345678",
                 *         "address": {
                 *           "street": "12 rue des Lilas",
                 *           "postalCode": "75011",
                 *           "city": "Paris",
                 *           "country": "FR"
                 *         }
                 *       },
                 *       "items": [
                 *         {
                 *           "offerId": "201",
                 *           "startDate": "2030-01-15"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["StartRegistration"];
            };
        };
        responses: {
            /** @description The registration, with its token unless the request asked for the session cookie. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    Location: components["headers"]["Location"];
                    "Set-Cookie": components["headers"]["Set-Cookie"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRegistration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getCurrentRegistration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getRegistration: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the last response, or its `version` in double quotes.
                 * @example "k2l9Jx0mQe7rTn4c"
                 */
                "If-None-Match"?: string;
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            /** @description The version in `If-None-Match` is current. The response has no body. */
            304: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    abandonRegistration: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    createResumeLink: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link. It is sent only in this response and not stored. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://signup.example/?resume=3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11.Qm9vdHMgYW5kIGJpa2VzIGFuZCBiYWxscyBhbmQgYm8",
                     *       "expiresAt": "2030-01-16T10:00:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ResumeLink"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. The response has no body. */
            204: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Set-Cookie": components["headers"]["Set-Cookie"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    resumeRegistration: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /** @description `cookie` requests a session cookie instead of a token in the body. Only for pages on the same site as the API. */
                "X-Frontdesk-Session"?: components["parameters"]["Session"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "resume": "3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11.Qm9vdHMgYW5kIGJpa2VzIGFuZCBiYWxscyBhbmQgYm8"
                 *     }
                 */
                "application/json": components["schemas"]["Resumption"];
            };
        };
        responses: {
            /** @description The registration, with its token unless the request asked for the session cookie. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    Location: components["headers"]["Location"];
                    "Set-Cookie": components["headers"]["Set-Cookie"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRegistration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    followRegistration: {
        parameters: {
            query?: {
                /**
                 * @description The language of the texts. It takes precedence over `Accept-Language`, which an `EventSource` cannot set and shared
                 *     caches would have to distinguish.
                 */
                lang?: components["parameters"]["Lang"];
            };
            header?: {
                /** @description The id of the last event received. Browsers send it when they reconnect. */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. It ends with the event `end`. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "reason": "final"
                     *     }
                     */
                    "text/event-stream": components["schemas"]["StreamData"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    putPerson: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "givenName": "Ada",
                 *       "familyName": "Martin",
                 *       "birthDate": "1990-05-17",
                 *       "email": "ada@example.com",
                 *       "mobile": "+33612345678",
                 *       "address": {
                 *         "street": "12 rue des Lilas",
                 *         "postalCode": "75011",
                 *         "city": "Paris",
                 *         "country": "FR"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Person"];
            };
        };
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    correctPerson: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "mobile": "+33687654321",
                 *       "address": {
                 *         "street": "14 rue des Lilas"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PersonCorrection"];
            };
        };
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    putGuardian: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "givenName": "Anne",
                 *       "familyName": "Martin",
                 *       "relation": "parent",
                 *       "phone": "+33687654321",
                 *       "email": "anne@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["Guardian"];
            };
        };
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    listBuyersConsents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One consent for each message type on each channel, and the latest receipts. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "12012",
                     *           "channel": "email",
                     *           "type": "news",
                     *           "authorized": true,
                     *           "locked": false
                     *         },
                     *         {
                     *           "id": "12015",
                     *           "channel": "email",
                     *           "type": "legal",
                     *           "authorized": true,
                     *           "locked": true
                     *         }
                     *       ],
                     *       "receipts": [
                     *         {
                     *           "id": "0190c4f2-6f5e-7c3b-9c0a-2f1f0c5b8d11",
                     *           "at": "2026-11-21T10:15:00Z",
                     *           "wording": "2026-11",
                     *           "items": [
                     *             {
                     *               "id": "12012",
                     *               "channel": "email",
                     *               "type": "news",
                     *               "authorized": true
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ConsentList"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    changeBuyersConsents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "items": [
                 *         {
                 *           "id": "12012",
                 *           "authorized": true
                 *         },
                 *         {
                 *           "id": "12015",
                 *           "authorized": false
                 *         }
                 *       ],
                 *       "wording": "2026-11"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeConsents"];
            };
        };
        responses: {
            /** @description The result of each item. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "12012",
                     *           "code": "changed",
                     *           "consent": {
                     *             "id": "12012",
                     *             "channel": "email",
                     *             "type": "news",
                     *             "authorized": true,
                     *             "locked": false
                     *           }
                     *         },
                     *         {
                     *           "id": "12015",
                     *           "code": "locked",
                     *           "consent": {
                     *             "id": "12015",
                     *             "channel": "email",
                     *             "type": "legal",
                     *             "authorized": true,
                     *             "locked": true
                     *           }
                     *         }
                     *       ],
                     *       "receipt": {
                     *         "id": "0190c4f2-6f5e-7c3b-9c0a-2f1f0c5b8d11",
                     *         "at": "2026-11-21T10:15:00Z",
                     *         "wording": "2026-11",
                     *         "items": [
                     *           {
                     *             "id": "12012",
                     *             "channel": "email",
                     *             "type": "news",
                     *             "authorized": true
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ConsentChanges"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    addItem: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "offerId": "2501"
                 *     }
                 */
                "application/json": components["schemas"]["NewItem"];
            };
        };
        responses: {
            /** @description The registration, with its cart as the club system now has it. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    clearItems: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    removeItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
                /** @example 0f2b7a3f-9c11-4d3c-9d53-6f1d0c0e8a55 */
                itemId: components["schemas"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    checkCart: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getCartSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule. Values that cannot be known are marked `unknown`; they never cause an error. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "revision": "YH63uZBxq-PqDD_A",
                     *       "dueNow": {
                     *         "date": "2029-12-20",
                     *         "price": {
                     *           "amount": 6890,
                     *           "currency": "EUR"
                     *         },
                     *         "items": [
                     *           {
                     *             "itemId": "0f2b7a3f-9c11-4d3c-9d53-6f1d0c0e8a55",
                     *             "price": {
                     *               "amount": 6890,
                     *               "currency": "EUR"
                     *             }
                     *           }
                     *         ]
                     *       },
                     *       "debits": [],
                     *       "recurrences": [
                     *         {
                     *           "from": "2030-03-05",
                     *           "every": "P1M",
                     *           "day": 5,
                     *           "price": {
                     *             "amount": 3990,
                     *             "currency": "EUR"
                     *           },
                     *           "basis": "exact",
                     *           "items": [
                     *             {
                     *               "itemId": "0f2b7a3f-9c11-4d3c-9d53-6f1d0c0e8a55",
                     *               "price": {
                     *                 "amount": 3990,
                     *                 "currency": "EUR"
                     *               }
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "basis": "exact",
                     *       "items": [
                     *         {
                     *           "itemId": "0f2b7a3f-9c11-4d3c-9d53-6f1d0c0e8a55",
                     *           "basis": "exact"
                     *         }
                     *       ],
                     *       "firstStatement": [
                     *         {
                     *           "date": "2029-12-20",
                     *           "kind": "due_now",
                     *           "price": {
                     *             "amount": 6890,
                     *             "currency": "EUR"
                     *           },
                     *           "basis": "exact"
                     *         },
                     *         {
                     *           "date": "2030-03-05",
                     *           "kind": "debit",
                     *           "price": {
                     *             "amount": 3990,
                     *             "currency": "EUR"
                     *           },
                     *           "basis": "exact"
                     *         },
                     *         {
                     *           "date": "2030-04-05",
                     *           "kind": "debit",
                     *           "price": {
                     *             "amount": 3990,
                     *             "currency": "EUR"
                     *           },
                     *           "basis": "exact"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["CartSchedule"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getConfirmation: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the last response.
                 * @example "k2l9Jx0mQe7rTn4c"
                 */
                "If-None-Match"?: string;
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The confirmation, as JSON or as a page. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Confirmation"];
                    "text/html": unknown;
                };
            };
            /** @description The version in `If-None-Match` is current. The response has no body. */
            304: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: components["responses"]["Limited"];
            /** @description What went wrong. A browser that may not read it gets a page, which says where the confirmation is. */
            default: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "text/html": unknown;
                };
            };
        };
    };
    createMandate: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The browser's captcha response, if the gateway protects this operation with a captcha. A captcha response is valid for
                 *     one request. If it is missing or not accepted, the request fails with `challenge_required`. Then have the visitor
                 *     solve the captcha, and send the same request with the same key and the captcha response. Repeating a request for
                 *     another reason needs no new captcha response. Staff and identified contacts need none.
                 */
                "X-Frontdesk-Challenge"?: components["parameters"]["Challenge"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "holder": "Ada Martin",
                 *       "iban": "FR76 3000 6000 0112 3456 7890 189",
                 *       "bic": "AGRIFRPP"
                 *     }
                 */
                "application/json": components["schemas"]["NewMandate"];
            };
        };
        responses: {
            /** @description The registration, with the current state of its mandate. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    signMandate: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "123456"
                 *     }
                 */
                "application/json": components["schemas"]["Signature"];
            };
        };
        responses: {
            /** @description The registration, with the current state of its mandate. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    cancelSignature: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    resendCode: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The browser's captcha response, if the gateway protects this operation with a captcha. A captcha response is valid for
                 *     one request. If it is missing or not accepted, the request fails with `challenge_required`. Then have the visitor
                 *     solve the captcha, and send the same request with the same key and the captcha response. Repeating a request for
                 *     another reason needs no new captcha response. Staff and identified contacts need none.
                 */
                "X-Frontdesk-Challenge"?: components["parameters"]["Challenge"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The registration, with the current state of its mandate. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    migrateProspect: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "accessToken": "the-access-token-of-the-persons-own-account"
                 *     }
                 */
                "application/json": components["schemas"]["Prospect"];
            };
        };
        responses: {
            /** @description The registration, with the current state of its mandate. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    startPayment: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartPayment"];
            };
        };
        responses: {
            /** @description The registration, with the payment. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            /** @description The payment's state is `in_doubt`. Whether it settled the cart is not known yet. Do not pay again. */
            202: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    cancelPayment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path: {
                /** @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11 */
                id: components["parameters"]["RegistrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The registration in its current state. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getCardPage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The payment's id.
                 * @example 3d9ff0c2-5a6e-4c2b-9a38-0a1a4c5b7d11-1
                 */
                payment: components["schemas"]["Id"];
                /**
                 * @description The gateway's signature of the id.
                 * @example wQ3r9T0yXb6mC2kV8nLzJ5hF1dS7aGpE4uRiOqWtYxM
                 */
                proof: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
            /** @description Too many requests came from one address: the limit `"requests";q=120;w=120`. A page for a browser. */
            429: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What went wrong. A page for a browser. */
            default: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The contact, as the club system now has it. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "clubId": "11",
                     *       "number": "11-001002",
                     *       "status": "customer",
                     *       "tags": [
                     *         {
                     *           "name": "member",
                     *           "validFrom": "2026-08-21",
                     *           "validThrough": "2027-08-20"
                     *         }
                     *       ],
                     *       "debt": {
                     *         "amount": 12400,
                     *         "currency": "EUR"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Me"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    listMemberships: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The memberships, as the club system now has them. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "4",
                     *           "name": "Flex, monthly",
                     *           "since": "2026-06-29",
                     *           "earliestEnd": "2027-06-28",
                     *           "remaining": {
                     *             "debits": [
                     *               {
                     *                 "date": "2027-05-01",
                     *                 "amount": {
                     *                   "amount": 3990,
                     *                   "currency": "EUR"
                     *                 },
                     *                 "basis": "exact"
                     *               },
                     *               {
                     *                 "date": "2027-06-01",
                     *                 "amount": {
                     *                   "amount": 3990,
                     *                   "currency": "EUR"
                     *                 },
                     *                 "basis": "exact"
                     *               }
                     *             ],
                     *             "total": {
                     *               "amount": 7980,
                     *               "currency": "EUR"
                     *             },
                     *             "basis": "exact"
                     *           },
                     *           "cancellation": "online"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["MembershipList"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    listConsents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One consent for each message type on each channel, and the latest receipts. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "12012",
                     *           "channel": "email",
                     *           "type": "news",
                     *           "authorized": true,
                     *           "locked": false
                     *         },
                     *         {
                     *           "id": "12015",
                     *           "channel": "email",
                     *           "type": "legal",
                     *           "authorized": true,
                     *           "locked": true
                     *         }
                     *       ],
                     *       "receipts": [
                     *         {
                     *           "id": "0190c4f2-6f5e-7c3b-9c0a-2f1f0c5b8d11",
                     *           "at": "2026-11-21T10:15:00Z",
                     *           "wording": "2026-11",
                     *           "items": [
                     *             {
                     *               "id": "12012",
                     *               "channel": "email",
                     *               "type": "news",
                     *               "authorized": true
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ConsentList"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    changeConsents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description As for a POST. Without it, sending the request again carries it out again.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "items": [
                 *         {
                 *           "id": "12012",
                 *           "authorized": true
                 *         },
                 *         {
                 *           "id": "12015",
                 *           "authorized": false
                 *         }
                 *       ],
                 *       "wording": "2026-11"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeConsents"];
            };
        };
        responses: {
            /** @description The result of each item. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "12012",
                     *           "code": "changed",
                     *           "consent": {
                     *             "id": "12012",
                     *             "channel": "email",
                     *             "type": "news",
                     *             "authorized": true,
                     *             "locked": false
                     *           }
                     *         },
                     *         {
                     *           "id": "12015",
                     *           "code": "locked",
                     *           "consent": {
                     *             "id": "12015",
                     *             "channel": "email",
                     *             "type": "legal",
                     *             "authorized": true,
                     *             "locked": true
                     *           }
                     *         }
                     *       ],
                     *       "receipt": {
                     *         "id": "0190c4f2-6f5e-7c3b-9c0a-2f1f0c5b8d11",
                     *         "at": "2026-11-21T10:15:00Z",
                     *         "wording": "2026-11",
                     *         "items": [
                     *           {
                     *             "id": "12012",
                     *             "channel": "email",
                     *             "type": "news",
                     *             "authorized": true
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ConsentChanges"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    getTransfer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current state of the move. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transfer"];
                };
            };
            /** @description The contact has asked for no move within the last 24 hours. The response has no body. */
            204: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    startTransfer: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "clubId": "13"
                 *     }
                 */
                "application/json": components["schemas"]["NewTransfer"];
            };
        };
        responses: {
            /** @description The current state of the move. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transfer"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    signTransfer: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "123456"
                 *     }
                 */
                "application/json": components["schemas"]["Signature"];
            };
        };
        responses: {
            /** @description The current state of the move. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Content-Language": components["headers"]["Content-Language"];
                    Vary: components["headers"]["Vary"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transfer"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    stateWithdrawal: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The browser's captcha response, if the gateway protects this operation with a captcha. A captcha response is valid for
                 *     one request. If it is missing or not accepted, the request fails with `challenge_required`. Then have the visitor
                 *     solve the captcha, and send the same request with the same key and the captcha response. Repeating a request for
                 *     another reason needs no new captcha response. Staff and identified contacts need none.
                 */
                "X-Frontdesk-Challenge"?: components["parameters"]["Challenge"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Ada Martin",
                 *       "email": "ada@example.com",
                 *       "contract": "11-001007",
                 *       "language": "en"
                 *     }
                 */
                "application/json": components["schemas"]["NewWithdrawal"];
            };
        };
        responses: {
            /** @description The statement, which waits for its confirmation. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "8a1f6a4e-5c0f-4f7e-9a35-3d1b7c1f0e22",
                     *       "reference": "e4991055eb4617afc65b4c7e847f5814",
                     *       "kind": "withdrawal",
                     *       "state": "stated",
                     *       "statement": {
                     *         "name": "Ada Martin",
                     *         "email": "ada@example.com",
                     *         "contract": "11-001007",
                     *         "language": "en"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Statement"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    confirmWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 8a1f6a4e-5c0f-4f7e-9a35-3d1b7c1f0e22 */
                statementId: components["parameters"]["StatementId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The acknowledgement. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "8a1f6a4e-5c0f-4f7e-9a35-3d1b7c1f0e22",
                     *       "reference": "e4991055eb4617afc65b4c7e847f5814",
                     *       "kind": "withdrawal",
                     *       "state": "received",
                     *       "receivedAt": "2030-01-15T18:02:07Z",
                     *       "text": "Your withdrawal has been received\n\nReceived on 15 January 2030 at 19:02:07 (UTC+01:00)."
                     *     }
                     */
                    "application/json": components["schemas"]["Acknowledgement"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    stateCancellation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A new random value for each intended action, such as a UUID. Send it again with the same request: the action is done
                 *     once. Of a caller who starts or resumes a registration without an identity token, the key alone is known, so it needs six
                 *     different characters.
                 * @example 6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The browser's captcha response, if the gateway protects this operation with a captcha. A captcha response is valid for
                 *     one request. If it is missing or not accepted, the request fails with `challenge_required`. Then have the visitor
                 *     solve the captcha, and send the same request with the same key and the captcha response. Repeating a request for
                 *     another reason needs no new captcha response. Staff and identified contacts need none.
                 */
                "X-Frontdesk-Challenge"?: components["parameters"]["Challenge"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Ada Martin",
                 *       "email": "ada@example.com",
                 *       "contract": "11-001007",
                 *       "type": "ordinary",
                 *       "language": "en"
                 *     }
                 */
                "application/json": components["schemas"]["NewCancellation"];
            };
        };
        responses: {
            /** @description The statement, which waits for its confirmation. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "5e0b9a37-6f3e-4c5a-8f0d-9c2f1b6d7a41",
                     *       "reference": "d7b68c36db6d794023474498f89e1e1b",
                     *       "kind": "cancellation",
                     *       "state": "stated",
                     *       "statement": {
                     *         "name": "Ada Martin",
                     *         "email": "ada@example.com",
                     *         "contract": "11-001007",
                     *         "language": "en",
                     *         "type": "ordinary"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Statement"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    confirmCancellation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 8a1f6a4e-5c0f-4f7e-9a35-3d1b7c1f0e22 */
                statementId: components["parameters"]["StatementId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The acknowledgement. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "5e0b9a37-6f3e-4c5a-8f0d-9c2f1b6d7a41",
                     *       "reference": "d7b68c36db6d794023474498f89e1e1b",
                     *       "kind": "cancellation",
                     *       "state": "received",
                     *       "receivedAt": "2030-01-15T18:02:07Z",
                     *       "text": "Your cancellation is done: your contract ends on 28 February 2030\n\nReceived on 15 January 2030 at 19:02:07 (UTC+01:00).",
                     *       "endDate": "2030-02-28"
                     *     }
                     */
                    "application/json": components["schemas"]["Acknowledgement"];
                };
            };
            429: components["responses"]["Limited"];
            default: components["responses"]["Problem"];
        };
    };
    receiveCardWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_1",
                 *       "object": "event",
                 *       "type": "payment_intent.succeeded",
                 *       "data": {
                 *         "object": {
                 *           "id": "pi_1"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Accepted. */
            204: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    receiveClubWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description One of `FRONTDESK_WEBHOOK_SECRET`.
                 * @example demo-webhook-secret
                 */
                secret: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "contact.updated",
                 *       "data": {
                 *         "object": {
                 *           "contactId": "/demo/contacts/1001",
                 *           "clubId": "/demo/clubs/11"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Stored. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is alive, and for `/readyz` also ready. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is alive, and for `/readyz` also ready. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description The process is alive, and for `/readyz` also ready. */
            503: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getContract: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.0.3. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": unknown;
                };
            };
            /** @description The version in `If-None-Match` is current. The response has no body. */
            304: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    getContractAsJSON: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.0.3. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.0.3"
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description The version in `If-None-Match` is current. The response has no body. */
            304: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
            /** @description The version in `If-None-Match` is current. The response has no body. */
            304: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
}
