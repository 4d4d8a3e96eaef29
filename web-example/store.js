// @ts-check
/**
 * The page's state, in one place. Views read it, and main.js shows them again when what they read changes. What must
 * survive a reload is in the address (see route.js), in the client's kept.js and in draft.js instead.
 *
 * @typedef {object} State
 * @property {import("./route.js").Place} place what the address names
 * @property {import("./contract").Club[]} [clubs] absent until they have been read
 * @property {import("./contract").ClubDetails} [details] of the current club; absent until they have been read, or if that fails
 * @property {Catalogue} [catalogue] of the current club
 * @property {Record<string, import("./contract").Schedule | null>} schedules by their parameters, see journey.js; null when it could not be read
 * @property {string} [category] the displayed part of the catalogue, at first that of the address; absent: the first
 * @property {Record<string, string>} variants the displayed offer of a product, by the product's id; absent: the first
 * @property {import("./contract").Registration} [registration] as it was last read
 * @property {number} readings how often it was read since the visitor opened it; FRESH of journey.js once a payment's state is certain
 * @property {number} attempts how often this page has requested a payment
 * @property {import("./contract").Registration[]} inProgress this browser's registrations: those with a payment in progress first, then the newest
 * @property {string} [resume] the secret of a link that resumes a registration, until it is exchanged; never in the address
 * @property {import("./contract").ResumeLink & { registration: string, copied?: "done" | "by-hand" }} [link] made by the visitor, to continue elsewhere; whether the page has copied it, or the visitor has to
 * @property {import("./identity.js").Identity} [identity] the visitor's identity, from the club's login; absent without one, or after it expired
 * @property {import("./identity.js").Ending} [ended] why the visitor is no longer logged in
 * @property {import("./contract").Me} [me] what the club knows of the logged-in visitor
 * @property {import("./contract").Membership[]} [memberships] of the logged-in visitor; absent until they have been read, or if that fails
 * @property {import("./contract").ConsentList} [consents] of the logged-in visitor, or those that a new member is offered
 * @property {Record<string, boolean>} consentRequests consents that the visitor has changed on this page and not saved, by id
 * @property {import("./contract").ConsentChange[]} [consentResults] the results of the last save
 * @property {{ kind: import("./statement.js").Kind, stated: import("./contract").Statement, received?: import("./contract").Acknowledgement }} [statement] what the visitor has stated, and what was received; only in this page's memory
 * @property {import("./contract").Transfer} [transfer] the visitor's move to another club
 * @property {string} [target] the club that the visitor has chosen to move to; empty if they have sent the form without one
 * @property {string} [accessToken] the visitor's own at the club system; never leaves the memory of this page
 * @property {string} [confirmed] the card payment whose confirmation the processor has accepted, by its client secret
 * @property {Partial<import("./contract").Person>} person the input so far, for the registration in the address; before there is one, also kept in draft.js
 * @property {{ registration: string, holder?: string, iban?: string, bic?: string }} [account] the bank account as typed, until the mandate is signed; only in this page's memory
 * @property {{ registration: string, person: import("./contract").Person }} [given] the details as the club has them; only in this page's memory
 * @property {{ clubId: string, language: string, items: import("./contract").Document[] }} [documents] what the club's buyers agree to
 * @property {{ registration: string, documents: string[], asked?: boolean }} [agreed] the documents whose boxes are ticked, and whether an order without one was tried; only in this page's memory
 * @property {string} [brought] the registration into which this page has brought an account
 * @property {boolean} missing the address names a registration that does not exist, or is not this browser's
 * @property {{ registration: string, way: import("./contract").StartPayment, agreed?: boolean }} [repeat] asks whether its cart is wanted, because the visitor has just bought the same; `agreed` after a yes
 * @property {import("./api.js").Problem} [problem] shown above the step
 * @property {boolean} isStuck something could not be read, so the visitor can try again
 * @property {boolean} waiting a request is being sent again because the connection or the service is away
 * @property {boolean} crowded it waits because the service is overloaded
 * @property {import("./journey.js").Doing} [busy] the action in progress; nothing else can be requested
 *
 * @typedef {object} Catalogue
 * @property {string} clubId
 * @property {string} [whose] the identity token whose price list it is; absent for the public one
 * @property {import("./contract").Product[]} products
 * @property {boolean} complete all pages have been read
 * @property {string} [only] the offer of a link, if nothing else has been read
 */

/** @type {State} */
let state = { place: {}, person: {}, schedules: {}, variants: {}, inProgress: [], consentRequests: {}, readings: 0, attempts: 0, missing: false, waiting: false, crowded: false, isStuck: false };

/** @type {() => void} */
let changed = () => {};

/** @returns {Readonly<State>} */
export const get = () => state;

/** @param {Partial<State>} patch */
export function set(patch) {
  state = { ...state, ...patch };
  changed();
}

/** A club's name; empty until the clubs are read. @param {string | undefined} id */
export const clubName = (id) => state.clubs?.find((club) => club.id === id)?.name ?? "";

/** @param {() => void} listener called after each change */
export function onChange(listener) {
  changed = listener;
}
