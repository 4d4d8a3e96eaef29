// @ts-check
/**
 * Everything that the page knows, in one place. Views read it, main.js shows them again when what they read changes.
 * What must survive a reload is not here but in the address (see route.js) and in intentions.js.
 *
 * @typedef {object} State
 * @property {import("./route.js").Place} place what the address names
 * @property {import("./contract").Club[]} [clubs] absent until they have been read
 * @property {Catalogue} [catalogue] of the club at hand
 * @property {Record<string, import("./contract").Schedule | null>} schedules by what was asked, see journey.js; null when it could not be read
 * @property {import("./contract").ProductType} [category] which part of the catalogue is shown; the first when absent
 * @property {Record<string, string>} variants the offer that is shown of a product, by the product's id; the first when absent
 * @property {import("./contract").Registration} [registration] as it was last read
 * @property {number} readings how often it was read since the visitor came to it
 * @property {number} attempts how often this page has asked for a payment
 * @property {import("./contract").Registration} [inProgress] a registration of this browser that the address does not name
 * @property {string} [resume] what a link held that resumes a registration, until it was exchanged; never in the address
 * @property {import("./contract").ResumeLink & { registration: string }} [link] made by the visitor, to continue elsewhere
 * @property {import("./identity.js").Identity} [identity] who the visitor is, as the club's login says; absent when it does not, or no more
 * @property {import("./identity.js").Ending} [ended] why the visitor is not logged in any more
 * @property {import("./contract").Me} [me] what the club knows of the logged-in visitor
 * @property {import("./contract").ConsentList} [consents] of the logged-in visitor
 * @property {Record<string, boolean>} consentRequests consents that the visitor has changed on this page and not saved, by id
 * @property {import("./contract").ConsentChange[]} [consentResults] what became of the requests that were saved last
 * @property {import("./contract").Transfer} [transfer] the visitor's move to another club
 * @property {string} [accessToken] the visitor's own at the club system; never leaves the memory of this page
 * @property {string} [confirmed] the card payment whose confirmation the processor has taken, by its client secret
 * @property {Partial<import("./contract").Person>} person what was typed so far; never leaves the memory of this page
 * @property {{ registration: string, person: import("./contract").Person }} [given] the details as the club has them; as `person`, in the memory of this page alone
 * @property {string} [brought] the registration into which this page has brought an account
 * @property {boolean} missing the address names a registration that is not there, or not this browser's
 * @property {import("./api.js").Problem} [problem] what is shown above the step
 * @property {boolean} isStuck the problem is that something could not be read, so one can try that again
 * @property {boolean} waiting a request is being sent again because the connection or the service is away
 * @property {import("./journey.js").Doing} [busy] what is in progress for the visitor; nothing else can be requested
 *
 * @typedef {object} Catalogue
 * @property {string} clubId
 * @property {string} [whose] the identity token whose price list it is; absent for everybody's
 * @property {import("./contract").Product[]} products
 * @property {boolean} complete all pages have been read
 */

/** @type {State} */
let state = { place: {}, person: {}, schedules: {}, variants: {}, consentRequests: {}, readings: 0, attempts: 0, missing: false, waiting: false, isStuck: false };

/** @type {() => void} */
let changed = () => {};

/** @returns {Readonly<State>} */
export const get = () => state;

/** @param {Partial<State>} patch */
export function set(patch) {
  state = { ...state, ...patch };
  changed();
}

/** @param {() => void} listener called after each change */
export function onChange(listener) {
  changed = listener;
}
