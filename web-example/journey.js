// @ts-check
/**
 * What the visitor does, and what the page reads for it: each function makes requests and puts the outcome into the
 * store. Start reading at `attempt`, which runs every change.
 */
import * as kept from "../client/kept.js";
import { browser, intend, isLeft, pending, remember, remembered, settle } from "../client/kept.js";
import * as api from "./api.js";
import { KEPT_FOR, personDraft, statementDraft } from "./draft.js";
import { dropIdentity } from "./identity.js";
import { afterCorrection, attributed, canPay, embeddedCard, go, isFinal, isPaying, isSettled, isTooYoungOrOld, returnUrl, ways } from "./route.js";
import { get, set } from "./store.js";
import { findOffer } from "./terms.js";
import { language } from "./text.js";

/**
 * @typedef {import("./contract").Registration} Registration
 * @typedef {import("./contract").Person} Person
 * @typedef {"start" | "continue" | "link" | "person" | "item" | "remove" | "check" | "mandate" | "sign" | "resend" | "cancel" | "prospect" | "pay" | "later" | "card" | "back" | "abandon" | "leave" | "consents" | "transfer" | "state" | "confirm"} Doing what `busy` and `data-busy` name
 */

/** Problems besides those of `then: "read_again"` that change what the registration shows, such as the attempts left. */
const CHANGING = ["code_wrong", "mobile_unreachable", "agreement_missing"];

/** The days of an item that the visitor chooses before the personal details. */
export const DAYS = ["startDate", "debit/day"];

/** A value of `readings` that is certainly enough to believe a payment's state at once: after the visitor's own request. */
const FRESH = 100;

/** In ms: if the browser has not left the page by then, the visitor has stopped it. */
const LEAVES_WITHIN = 10_000;

/** Where this browser keeps the number of the last member to log in. */
export const MEMBER = "frontdesk.member";

/** Counts the actions: what ends one does not end the next. */
let turn = 0;

/**
 * Runs one action at a time for the visitor: while it is in progress, nothing else can be requested. A problem that ends
 * it is shown above the step, and returned.
 * @param {Doing} doing
 * @param {() => Promise<boolean | void>} action true: the browser is leaving the page, so stay busy for a while
 * @returns {Promise<api.Problem | undefined>}
 */
export async function attempt(doing, action) {
  if (get().busy) return undefined;
  const mine = ++turn;
  set({ busy: doing, problem: undefined, isStuck: false });
  let leaving = false;
  try {
    leaving = (await action()) === true;
    return undefined;
  } catch (error) {
    return await failed(error, doing);
  } finally {
    const end = () => mine === turn && get().busy === doing && set({ busy: undefined, waiting: false });
    if (leaving) setTimeout(end, LEAVES_WITHIN);
    else end();
  }
}

/**
 * Runs an action on the registration that the address names.
 * @param {Doing} doing
 * @param {(id: string) => Promise<boolean | void>} action
 */
const attemptHere = (doing, action) => attempt(doing, () => action(get().place.registration ?? ""));

/**
 * Goes to a step of a registration, unless the visitor has left it meanwhile.
 * @param {import("./route.js").Place} place
 * @param {{ replace?: boolean }} [options]
 */
const goOn = (place, options) => {
  if (get().place.registration === place.registration) go(place, options);
};

/**
 * @param {unknown} error
 * @param {Doing} doing
 */
async function failed(error, doing) {
  if (!(error instanceof api.Problem)) throw error;
  const id = get().registration?.id;
  if (id && error.gone) {
    gone(id);
    return error;
  }
  if (error.registration) show(error.registration);
  else if (id && (error.then === "read_again" || CHANGING.includes(error.code))) await refresh(id);
  if (refuses(error, "startDate")) await readAgain(); // the club's day has changed since
  if (error.code === "agreement_missing") await listAgain();
  if (error.code !== "cart_invalid" || !isSettled(get().registration)) set({ problem: error }); // the cart says itself that it is settled
  return error;
}

/**
 * Whether a request was refused for one of some fields, such as the start date of an item.
 * @param {api.Problem} problem
 * @param {...string} names
 */
export const refuses = ({ code, errors }, ...names) =>
  code === "invalid_request" && errors.some(({ pointer }) => names.some((name) => pointer?.endsWith(`/${name}`)));

/**
 * Reads for the page; when that fails, the page is stuck until the visitor tries again.
 * @param {() => Promise<void>} read
 */
async function load(read) {
  try {
    await read();
    return true;
  } catch (error) {
    if (!(error instanceof api.Problem)) throw error;
    set({ problem: error, isStuck: true, waiting: false });
    return false;
  }
}

/**
 * Reads the clubs, once.
 * @param {(read: () => Promise<void>) => Promise<unknown>} how `quietly`: the page does without them if it fails
 */
export async function loadClubs(how = load) {
  if (get().clubs) return;
  await how(async () => set({ clubs: (await api.listClubs()).items }));
}

/**
 * Reads how to reach a club, and its day. This is optional: if it fails, the page does without it.
 * @param {string | undefined} clubId
 */
export async function loadDetails(clubId) {
  if (!clubId || get().details?.id === clubId) return;
  const details = await quietly(() => api.getClub(clubId));
  if (details) set({ details });
}

/**
 * Reads what the club's buyers agree to, in the visitor's language. No order is possible without it.
 * @param {string | undefined} clubId
 * @param {(read: () => Promise<void>) => Promise<unknown>} how `quietly`: the page only links them, and does without them if it fails
 */
export async function loadDocuments(clubId, how = load) {
  const { documents } = get();
  if (!clubId || (documents?.clubId === clubId && documents.language === language)) return;
  const spoken = language;
  await how(async () => set({ documents: { clubId, language: spoken, items: (await api.listDocuments(clubId, spoken)).items } }));
}

/** Reads what the club's buyers agree to again, because it has changed. The ticks were for what the visitor saw before. */
async function listAgain() {
  set({ documents: undefined, agreed: undefined });
  await loadDocuments(get().registration?.clubId);
}

/**
 * The document that an agreement names, as the page shows it; nothing if the list has another version.
 * @param {import("./contract").NeededAgreement} agreement
 */
export const listed = ({ document, version }) => get().documents?.items.find((one) => one.document === document && one.version === version);

/**
 * Notes that the visitor has ticked the box of a document, or no longer.
 * @param {string} document
 * @param {boolean} agrees
 */
export function agreeTo(document, agrees) {
  const registration = get().registration?.id;
  if (!registration) return;
  const { documents, asked } = agreedTo(registration);
  const others = documents.filter((one) => one !== document);
  set({ agreed: { registration, documents: agrees ? [...others, document] : others, asked } });
}

/** Remembers that the visitor wants to order without a tick, so that its box still says so when the step is shown again. */
export function askForAgreements() {
  const registration = get().registration?.id;
  if (registration) set({ agreed: { registration, documents: agreedTo(registration).documents, asked: true } });
}

/**
 * The boxes that the visitor has ticked for a registration, and whether the others say that they are missing.
 * @param {string} registration
 * @returns {{ documents: string[], asked?: boolean }}
 */
export function agreedTo(registration) {
  const { agreed } = get();
  return agreed?.registration === registration ? agreed : { documents: [] };
}

/** Reads the club, its catalogue and the schedules again: after another language was chosen, or on the club's next day. */
export async function readAgain() {
  const { catalogue, documents } = get();
  if (documents) loadDocuments(documents.clubId, get().registration ? load : quietly);
  if (!catalogue) return;
  const details = await quietly(() => api.getClub(catalogue.clubId));
  set({ schedules: {}, ...(details && { details }) });
  [...cartSchedules(get()), ...offerSchedules(get())].map(loadSchedule);
  const { clubId, whose, only } = catalogue;
  const products = await quietly(async () => (only ? [await api.getOffer(clubId, only)] : readProducts(clubId, whose)));
  if (products && get().catalogue?.clubId === clubId) set({ catalogue: { ...catalogue, products, complete: !only } });
}

/**
 * Reads the offer of a link, without the rest of the catalogue.
 * @param {import("./route.js").Place} place
 */
export async function loadOffer({ club = "", offer = "" }) {
  const { catalogue } = get();
  if (catalogue?.clubId === club && !catalogue.whose && (findOffer(catalogue, offer) || catalogue.only === offer)) return;
  set({ catalogue: { clubId: club, products: [], complete: false, only: offer } });
  const isRead = await load(async () => {
    const products = await api.getOffer(club, offer).then((product) => [product], unlessMissing);
    if (get().catalogue?.only === offer) set({ catalogue: { clubId: club, products, complete: !products.length, only: offer } });
  });
  if (!isRead && get().catalogue?.only === offer) set({ catalogue: undefined });
}

/**
 * @param {unknown} error
 * @returns {never[]} nothing: the offer does not exist
 */
function unlessMissing(error) {
  if (error instanceof api.Problem && ["offer_not_found", "club_not_found"].includes(error.code)) return [];
  throw error;
}

/**
 * All pages of a catalogue.
 * @param {string} clubId
 * @param {string} [whose]
 * @param {(products: import("./contract").Product[], complete: boolean) => boolean} [seen] called with each page; false stops
 */
async function readProducts(clubId, whose, seen = () => true) {
  /** @type {import("./contract").Product[]} */
  let products = [];
  let cursor;
  do {
    const page = await api.listProducts(clubId, cursor, whose);
    products = [...products, ...page.items];
    cursor = page.next;
  } while (seen(products, !cursor) && cursor);
  return products;
}

/**
 * Reads a club's catalogue, page by page, once. For members it is their own price list, if they browse or registered as
 * a member.
 * @param {string} clubId
 */
export async function loadCatalogue(clubId) {
  const { place, registration, identity } = get();
  const known = place.me || !!registration?.contact?.debt;
  const whose = known ? identity?.token : undefined;
  const isShown = () => get().catalogue?.clubId === clubId && get().catalogue?.whose === whose && !get().catalogue?.only;
  if (isShown()) return;
  set({ catalogue: { clubId, whose, products: [], complete: false }, category: place.category, schedules: {} });
  const isRead = await load(async () => {
    await readProducts(clubId, whose, (products, complete) => {
      if (isShown()) set({ catalogue: { clubId, whose, products, complete } });
      return isShown();
    });
  });
  if (!isRead && isShown()) set({ catalogue: undefined });
}

/**
 * The parameters of a schedule.
 * @typedef {{ club: string, offer: string, startDate?: string, debitDay?: number }} ScheduleRequest
 */

/** @param {ScheduleRequest} request determines the schedule's key in the store */
export const scheduleKey = ({ club, offer, startDate, debitDay }) => [club, offer, startDate ?? "", debitDay ?? ""].join("/");

/**
 * The schedules of a cart: one for each item that is billed after today.
 * @param {import("./store.js").State} state
 * @returns {ScheduleRequest[]}
 */
export const cartSchedules = ({ registration, catalogue }) =>
  registration?.cart.items.flatMap(({ offerId, startDate, debit }) =>
    offerId && findOffer(catalogue, offerId)?.offer.billing ? [{ club: registration.clubId, offer: offerId, startDate, debitDay: debit?.day }] : []) ?? [];

/**
 * The schedule of an item in the cart, if it has been read.
 * @param {import("./contract").Cart["items"][number]} item
 */
export function scheduleOf({ offerId }) {
  const request = cartSchedules(get()).find(({ offer }) => offer === offerId);
  return request && get().schedules[scheduleKey(request)];
}

/**
 * The schedule of the offer that the address names, if it is billed after today; none once there is a registration.
 * @param {import("./store.js").State} state
 * @returns {ScheduleRequest[]}
 */
export const offerSchedules = ({ place: { registration, club, offer, startDate, debitDay }, catalogue }) =>
  !registration && club && offer && findOffer(catalogue, offer)?.offer.billing ? [{ club, offer, startDate, debitDay: Number(debitDay) || undefined }] : [];

/**
 * Reads what an offer costs and when, once. This is optional: if it fails, the step does without it. Days in the address
 * that the club does not have are removed from it, so that the page asks for them.
 * @param {ScheduleRequest} request
 * @returns {Promise<import("./contract").Schedule | null>}
 */
export async function loadSchedule(request) {
  const key = scheduleKey(request);
  const { schedules, catalogue, identity } = get();
  const known = schedules[key];
  if (known) return known;
  const schedule = await quietly(() => api.getSchedule(request.club, request.offer, request, identity && catalogue?.whose), ({ code }) => {
    if (code === "invalid_request" && (request.startDate || request.debitDay) && offerSchedules(get()).some((one) => scheduleKey(one) === key)) go({ me: get().place.me, club: request.club, offer: request.offer }, { replace: true });
  });
  set({ schedules: { ...get().schedules, [key]: schedule } });
  return schedule;
}

/**
 * Reads the days on which a club debits.
 * @param {string} clubId
 * @param {string} startDate
 * @returns {Promise<import("./contract").DebitDay[] | null>}
 */
export const readDebitDays = (clubId, startDate) => quietly(async () => (await api.listDebitDays(clubId, startDate)).items);

/**
 * @template Response
 * @param {() => Promise<Response>} read
 * @param {(problem: api.Problem) => void} [refused]
 */
export async function quietly(read, refused = () => {}) {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof api.Problem)) throw error;
    set({ waiting: false });
    refused(error);
    return null;
  }
}

/** Reads this browser's registrations in progress. */
export async function findInProgress() {
  const read = (await Promise.all(remembered().map(readInProgress))).filter((one) => one !== undefined);
  const found = read.filter(({ id }) => remembered().includes(id)); // not what was forgotten meanwhile
  const inProgress = [...found.filter(isPaying), ...found.filter((one) => !isPaying(one))];
  if (JSON.stringify(inProgress) !== JSON.stringify(get().inProgress)) set({ inProgress });
}

/**
 * @param {string} id
 * @returns {Promise<Registration | undefined>} nothing if it is over; as it was last read if it cannot be read
 */
async function readInProgress(id) {
  try {
    const registration = await api.getRegistration(id, { once: true });
    if (!isFinal(registration)) return registration;
  } catch (error) {
    if (!(error instanceof api.Problem) || !error.gone) return get().inProgress.find((one) => one.id === id);
  }
  forget(id);
  return undefined;
}

/**
 * Reads the registration that the address names, unless its buyer has logged out in this browser.
 * @param {string} id
 */
export async function open(id) {
  if (isLeft(id)) set({ missing: true });
  else await load(() => read(id));
}

/**
 * Reads a registration again. If that fails, the page keeps what it shows.
 * @param {string} id
 */
export async function refresh(id) {
  try {
    await read(id, { once: true });
    set({ waiting: false });
  } catch (error) {
    if (!(error instanceof api.Problem)) throw error;
    set({ waiting: true });
  }
}

/**
 * @param {string} id
 * @param {{ once?: boolean }} [options]
 */
async function read(id, options) {
  const { registration: known, attempts } = get();
  try {
    const response = await api.getRegistration(id, options);
    // A response to the visitor's action has overtaken this one, or may have: it is newer.
    if (get().registration !== known || get().attempts !== attempts) return;
    set({ readings: get().readings + 1 });
    showChange(response);
  } catch (error) {
    unlessGone(error);
    gone(id);
  }
}

/** @param {unknown} error */
function unlessGone(error) {
  if (!(error instanceof api.Problem) || !error.gone) throw error;
}

/** @param {string} id of a registration to which this browser has no access, or no longer */
function gone(id) {
  forget(id);
  if (get().place.registration === id) set({ missing: true, registration: undefined, given: undefined, person: {}, account: undefined });
}

/**
 * Accepts a registration that the gateway has pushed. A notice that the cart could not be read again stays until the
 * cart changes.
 * @param {Registration} registration
 */
export function receive(registration) {
  const { registration: known } = get();
  if (known?.id !== registration.id) return;
  const { stale, ...cart } = known.cart;
  const isSame = stale && JSON.stringify(cart) === JSON.stringify(registration.cart);
  showChange(isSame ? { ...registration, version: known.version, cart: known.cart, message: registration.message ?? known.message } : registration);
  if (get().waiting) set({ waiting: false });
}

/**
 * Shows a registration that may have changed elsewhere, and reads the schedules of what is new in its cart.
 * @param {Registration} registration
 */
function showChange(registration) {
  const { registration: before, busy } = get();
  const known = before && cartSchedules(get()).map(scheduleKey);
  const isOthers = before && !busy && (before.mandate?.state !== registration.mandate?.state || isCorrected(before, registration));
  if (isOthers) set({ account: undefined }); // another device or tab may have another user
  show(registration);
  if (known) cartSchedules(get()).filter((one) => !known.includes(scheduleKey(one))).forEach(loadSchedule);
}

/**
 * Puts a registration that was just read into the store, unless it is unchanged or the page has moved on.
 * @param {Registration} registration
 */
function show(registration) {
  if (isFinal(registration)) {
    forget(registration.id);
    settle(`pay.${registration.id}`);
  }
  const { place, registration: known } = get();
  if (place.registration !== registration.id) return;
  if (known?.id === registration.id && registration.sequence < known.sequence) return; // a newer response has overtaken this one
  if (isFinal(registration)) {
    personDraft.drop();
    set({ person: {}, given: undefined });
  }
  const isAccountUsed = isFinal(registration) || registration.mandate?.state === "signed";
  if (known?.version !== registration.version) set({ registration, ...(isCorrected(known, registration) && { given: undefined, person: {} }), ...(isAccountUsed && { account: undefined }) });
  if (registration.step === "done" && known?.step !== "done") offerConsents(registration.id);
  if (get().documents && !isPaying(registration) && registration.order?.agreements?.some((one) => !listed(one))) listAgain();
}

/**
 * Whether the buyer's details have changed, perhaps on another device: this page no longer knows them.
 * @param {Registration | undefined} known
 * @param {Registration} registration
 */
function isCorrected(known, registration) {
  const [before, now] = [known, registration].map(detailsOf);
  return !!before && !!now && before !== now;
}

/**
 * What shows that the buyer's details have changed; nothing while they cannot be corrected.
 * @param {Registration} [registration]
 */
function detailsOf(registration) {
  const { number, givenName, mobileEnding, masked } = registration?.contact ?? {}; // each correction makes a new contact
  return masked && JSON.stringify([number, givenName, mobileEnding, masked]);
}

/**
 * The item that an address names.
 * @param {import("./route.js").Place} place
 * @returns {import("./contract").NewItem}
 */
export const itemOf = ({ offer = "", startDate, debitDay }) =>
  ({ offerId: offer, ...(startDate && { startDate }), ...(Number(debitDay) > 0 && { debit: { day: Number(debitDay) } }) });

/**
 * Starts a registration with everything known: the club, the person, the offer.
 * @param {Person} person
 */
export const start = (person) =>
  attempt("start", async () => {
    const { place } = get();
    const { club = "", offer = "" } = place;
    const intention = intend("start", { clubId: club, person, items: [itemOf(place)], ...attributed() });
    const registration = await api.startRegistration(intention).catch((error) => {
      const isOfDays = error instanceof api.Problem && refuses(error, ...DAYS);
      if (isOfDays && get().place === place) go({ club, offer }, { replace: true }); // where days are chosen
      throw error;
    });
    set({ given: { registration: registration.id, person } });
    begun(registration);
    if (isTooYoungOrOld(registration)) go({ registration: registration.id, step: "person" }, { replace: true });
  });

/**
 * Goes to a registration that was just begun or continued on this device.
 * @param {Registration} registration
 */
export function begun(registration) {
  remember(registration.id);
  personDraft.drop();
  set({ registration, inProgress: [], missing: false });
  go({ registration: registration.id }, { replace: true });
}

/**
 * Starts the registration of a contact with a link from the club. The link works once: from then on
 * the address names the registration. A minor may need a guardian, whom the page then asks for.
 * @param {import("./route.js").Place} place
 * @param {import("./contract").Guardian} [guardian]
 */
export async function accept(place, guardian) {
  const { club = "", invitation = "" } = place;
  const problem = await attempt("start", async () => {
    begun(await api.startRegistration(intend("accept", { clubId: club, invitation, ...(guardian && { guardian }), ...attributed() })));
  });
  if (problem?.passing) set({ isStuck: true });
  if (problem && refuses(problem, "guardian") && get().place === place) go({ ...place, step: "guardian" }, { replace: true });
  return problem;
}

/**
 * Continues a registration of another device. The link's value is kept only in this page's memory,
 * until the response is definitive, so that "try again" is the same request.
 */
export async function resume() {
  const problem = await attempt("continue", async () => {
    const registration = await api.resumeRegistration(intend("resume", { resume: get().resume ?? "" }, { secret: true }));
    set({ resume: undefined });
    begun(registration);
  });
  if (problem?.passing) set({ isStuck: true });
  else set({ resume: undefined });
  return problem;
}

/** Makes a link to continue the registration on another device. */
export const makeLink = () =>
  attemptHere("link", async (id) => {
    const made = await api.createResumeLink(id, intend(`link.${id}`, undefined));
    set({ link: { ...made, registration: id } });
  });

/**
 * The person of a registration whose start got no response: after a reload it can be sent again unchanged, for as long as
 * details that are not sent are kept.
 * @returns {Person | undefined}
 */
export function unconfirmedPerson() {
  const start = pending("start");
  if (start && Date.now() - start.at < KEPT_FOR) return start.body.person;
  settle("start");
  return undefined;
}

/** @param {Person} person */
export const correct = (person) =>
  attemptHere("person", async (id) => {
    show(await api.putPerson(id, person));
    set({ given: { registration: id, person }, ...(get().place.registration === id && { person }) });
    corrected(id);
  });

/**
 * Corrects some of the details, which this page does not know.
 * @param {import("./contract").PersonCorrection} changes
 */
export const correctSome = (changes) =>
  attemptHere("person", async (id) => {
    show(await api.correctPerson(id, changes));
    if (get().place.registration === id) set({ person: {} });
    corrected(id);
  });

/**
 * Names who concludes the contract.
 * @param {import("./contract").Guardian} guardian
 */
export const putGuardian = (guardian) =>
  attemptHere("person", async (id) => {
    show(await api.putGuardian(id, guardian));
    goOn({ registration: id });
  });

/**
 * Leaves the form, unless the new birth date does not fit the cart: then the form says so.
 * @param {string} id
 */
function corrected(id) {
  if (!isTooYoungOrOld(get().registration)) goOn(afterCorrection({ ...get().place, registration: id }));
}

/** Leaves the form, with the details as they are. */
export const leave = () => go(afterCorrection(get().place));

/**
 * @param {string} id
 * @param {import("./contract").NewItem} item
 */
const putIn = async (id, item) => show(await api.addItem(id, intend(`item.${id}`, item)));

/** @param {import("./contract").NewItem} item */
export const add = (item) =>
  attemptHere("item", async (id) => {
    await putIn(id, item);
    goOn({ registration: id, step: "cart" });
  });

/**
 * Sends the bank account and requests the code. The account number stays in this page's memory.
 * @param {import("./contract").NewMandate} mandate
 */
export const giveAccount = (mandate) =>
  attemptHere("mandate", async (id) => show(await api.createMandate(id, intend(`mandate.${id}`, mandate, { secret: true }))));

/** @param {string} code from the SMS */
export const sign = (code) =>
  attemptHere("sign", async (id) => {
    const registration = await api.signMandate(id, intend(`sign.${id}`, { code }, { secret: true }));
    show(registration);
    if (registration.mandate?.state === "signed") goOn({ registration: id }, { replace: true });
  });

/** Requests a new code. Once another code has been sent, this is a new request, even if the response was lost. */
export const resend = () =>
  attemptHere("resend", async (id) =>
    show(await api.resendCode(id, intend(`resend.${id}`, undefined, { after: String(get().registration?.sequence) }))));

/** Cancels the signature, to enter another account. */
export const cancelSignature = () =>
  attemptHere("cancel", async (id) => {
    settle(`mandate.${id}`); // a repetition of an earlier attempt would make no mandate
    set({ account: { registration: id, holder: get().account?.holder } });
    show(await api.cancelSignature(id));
  });

/** @param {string} accessToken the visitor's own at the club system; not stored */
export async function bringAccount(accessToken) {
  const problem = await attemptHere("prospect", async (id) => {
    show(await api.migrateProspect(id, intend(`prospect.${id}`, { accessToken }, { secret: true })));
    set({ accessToken: undefined, person: {}, given: undefined, account: undefined, brought: id }); // the account replaces what was typed
    goOn({ registration: id, step: "cart" }, { replace: true });
  });
  if (problem?.code === "access_token_refused") set({ accessToken: undefined });
  return problem;
}

/**
 * Puts an offer into the cart instead of what is in it.
 * @param {import("./contract").NewItem} item
 */
export const replace = (item) => exchange(get().registration?.cart.items.filter(({ origin }) => origin === "chosen") ?? [], api.clearItems, item);

/**
 * Changes the days of an item.
 * @param {import("./contract").Cart["items"][number]} item as it is in the cart
 * @param {import("./contract").NewItem} changed
 */
export const changeItem = (item, changed) => exchange([item], (id) => api.removeItem(id, item.id ?? ""), changed);

/**
 * Puts an offer into the cart instead of others. If it is refused, they are put back.
 * @param {import("./contract").Cart["items"]} before
 * @param {(id: string) => Promise<Registration>} remove
 * @param {import("./contract").NewItem} item
 */
const exchange = (before, remove, item) =>
  attemptHere("item", async (id) => {
    settle(`item.${id}`); // a repetition of an earlier attempt would add nothing
    const removed = await remove(id);
    try {
      await putIn(id, item);
    } catch (error) {
      show(removed);
      const isRefused = error instanceof api.Problem && !error.passing;
      if (isRefused) for (const { offerId = "", startDate, debit } of before) await quietly(() => putIn(id, { offerId, startDate, debit }));
      throw error;
    }
    goOn({ registration: id, step: "cart" }, { replace: get().place.step !== "instead" });
  });

/**
 * Removes one of several items.
 * @param {string} item
 */
export const removeItem = (item) =>
  attemptHere("remove", async (id) => {
    settle(`item.${id}`); // a repetition of an earlier attempt would add nothing
    show(await api.removeItem(id, item));
    goOn({ registration: id, step: "cart" }, { replace: true });
  });

/** Makes the club system check the cart again. */
export const checkAgain = () =>
  attemptHere("check", async (id) => {
    show(await api.checkCart(id));
    goOn({ registration: id, step: "cart" }, { replace: true });
  });

/** Does what the cart's button says: pays by card, or confirms a free cart. */
export const pay = () => settleCart();

/**
 * Requests to pay at the club.
 * @param {string} dueDate until when, YYYY-MM-DD
 */
export const payLater = (dueDate) => {
  const { registration } = get();
  return registration && settleCart({ method: "later", cart: registration.cart.revision, dueDate });
};

/** Lets the visitor order although they have just bought the same: the order button appears again. */
export const wantAgain = () => {
  const { repeat } = get();
  if (repeat) set({ repeat: { ...repeat, agreed: true } });
};

/** Returns to the cart without paying: the visitor has bought this already. */
export const keepOne = () => set({ repeat: undefined });

/**
 * What the visitor has already requested, or what the gateway offers first.
 * @param {Registration} registration
 * @returns {import("./contract").StartPayment}
 */
function usualWay(registration) {
  const { id, payment, cart: { revision: cart } } = registration;
  const offered = ways(registration);
  if (offered.includes("card")) return { method: "card", cart, returnUrl: returnUrl(id) };
  const asked = pending(`pay.${id}`)?.body;
  return asked && asked.method === payment?.method ? asked : { method: "free", cart };
}

/**
 * The payment of the displayed cart, with the very documents that the visitor agrees to: the gateway refuses it if either has changed.
 * @param {Registration} registration
 * @param {import("./contract").StartPayment} way
 * @returns {import("./contract").StartPayment}
 */
const asSeen = ({ cart, order }, way) =>
  ({ ...way, cart: cart.revision, agreements: (order?.agreements ?? []).map((one) => ({ ...one, sha256: listed(one)?.sha256 })) });

/**
 * Requests the payment and, for a card, goes to the processor's page. The key outlives the response: until the gateway
 * asks for a new payment, a retry requests this one.
 * @param {import("./contract").StartPayment} [way]
 */
const settleCart = (way) =>
  attempt(way?.method === "later" ? "later" : "pay", async () => {
    const { registration, repeat } = get();
    if (!registration || !canPay(registration)) return false;
    const { id, payment, cart } = registration;
    const after = payment?.payAgain === "new_request" ? payment.id : undefined;
    const again = repeat?.agreed && repeat.registration === id && repeat.way.cart === cart.revision && { again: true };
    const wanted = { ...asSeen(registration, way ?? usualWay(registration)), ...again };
    const intention = intend(`pay.${id}`, wanted, { after, keep: true });
    try {
      show(await startPayment(id, intention));
    } catch (error) {
      if (!(error instanceof api.Problem) || error.code !== "possible_duplicate_purchase") throw error;
      set({ repeat: { registration: id, way: wanted } });
      return false;
    }
    set({ repeat: undefined, confirmed: undefined, readings: FRESH });
    return false;
  });

/**
 * Requests a payment, or another attempt at it. Earlier reads are then outdated, above all a decline.
 * @param {string} id
 * @param {import("../client/kept.js").Intention<import("./contract").StartPayment>} intention
 */
async function startPayment(id, intention) {
  const registration = await api.startPayment(id, intention);
  set({ attempts: get().attempts + 1 });
  return registration;
}

/**
 * Confirms the card that was entered into the processor's own fields on this page. After a decline it first asks the
 * gateway, as for every payment, which payment the card is for.
 * @param {(clientSecret: string) => Promise<string | undefined>} confirm makes the processor confirm it; returns the processor's message if it did not
 * @returns {Promise<string | undefined>} the processor's message
 */
export async function confirmCard(confirm) {
  /** @type {string | undefined} */
  let refusal;
  await attempt("card", async () => {
    const { registration } = get();
    const { id, payment } = registration ?? {};
    let secret = embeddedCard(payment)?.clientSecret;
    if (!registration || !id || !payment || !secret) return;
    if (canPay(registration)) {
      const after = payment.payAgain === "new_request" ? payment.id : undefined;
      const intention = intend(`pay.${id}`, asSeen(registration, usualWay(registration)), { after, keep: true });
      const asked = await startPayment(id, intention);
      secret = embeddedCard(asked.payment)?.clientSecret ?? secret;
    }
    refusal = await confirm(secret);
    if (refusal === undefined) set({ confirmed: secret });
    await refresh(id);
  });
  return refusal;
}

/** Cancels the payment and returns to the cart, to change it or to pay in another way. */
export const stepBack = () =>
  attemptHere("back", async (id) => show(await api.cancelPayment(id)));

/** Abandons the registration. */
export const abandon = () =>
  attemptHere("abandon", async (id) => show(await api.abandonRegistration(id)));

/** Ends this browser's sessions and the login, such as on a shared computer: the registrations continue only on other devices. */
export const signOff = () =>
  attemptHere("leave", async (id) => {
    await kept.endSession(api.client, id);
    await endSessions();
    dropIdentity();
    set({ identity: undefined, me: undefined, transfer: undefined, catalogue: undefined });
    go({}, { replace: true });
  });

/**
 * Drops what this browser knows of the buyers of its registrations, at once, and ends its sessions of them.
 * @returns {Promise<boolean>} whether all have ended; otherwise, `endLeftSessions` tries again
 */
export function endSessions() {
  const ended = kept.endSessions(api.client);
  browser.drop(MEMBER);
  settle("start"); // its body has the details
  personDraft.drop();
  statementDraft.drop();
  set({ person: {}, given: undefined, account: undefined, link: undefined, inProgress: [], accessToken: undefined });
  return ended;
}

/**
 * Reads what a new member may allow the club to send. This is optional: if it fails, the page shows nothing.
 * @param {string} id
 */
async function offerConsents(id) {
  const consents = await api.listBuyersConsents(id).catch(() => undefined);
  if (consents && get().place.registration === id) set({ consents });
}

/** @param {string} id */
function forget(id) {
  kept.forget(id);
  const inProgress = get().inProgress.filter((one) => one.id !== id);
  if (inProgress.length < get().inProgress.length) set({ inProgress });
}
