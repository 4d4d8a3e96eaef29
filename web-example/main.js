// @ts-check
/**
 * The site's entry: shows the step that the address and the registration mean, and reads what the step needs. Start
 * reading at `update`; the visitor's actions are in journey.js, the steps' views in views/.
 */
import { follow } from "../client/follow.js";
import { client } from "./api.js";
import { keepIdentity, keptIdentity, takeHandover } from "./identity.js";
import * as journey from "./journey.js";
import * as member from "./member.js";
import { dropProcessorsWords, go, here, keepAttribution, stepOf, takeResume } from "./route.js";
import { get, onChange, set } from "./store.js";
import { text } from "./text.js";
import * as cart from "./views/cart.js";
import { showCard } from "./views/card.js";
import * as club from "./views/club.js";
import * as consents from "./views/consents.js";
import * as guardian from "./views/guardian.js";
import * as mandate from "./views/mandate.js";
import * as me from "./views/me.js";
import * as prospect from "./views/prospect.js";
import { mayStart } from "./views/resume.js";
import * as done from "./views/done.js";
import { footer, frame, keepTyped } from "./views/frame.js";
import * as offer from "./views/offer.js";
import * as payment from "./views/payment.js";
import * as person from "./views/person.js";
import { problemContent } from "./views/problem.js";
import { progress } from "./views/progress.js";
import * as statement from "./views/statement.js";
import * as summary from "./views/summary.js";
import * as transfer from "./views/transfer.js";

/**
 * @typedef {object} View a step, or another part of the page
 * @property {() => HTMLElement | null} show creates the elements from the store
 * @property {(state: import("./store.js").State) => unknown[]} reads the parts of the store that it shows: it is
 *   shown again when one of them changes
 */

/** @type {Record<import("./route.js").Step, View>} */
const VIEWS = { club, offer, person, guardian, prospect, cart, mandate, payment, done, me, consents, transfer, statement };

/** @param {string} hook */
const find = (hook) => /** @type {HTMLElement} */ (document.querySelector(hook));
const main = find("main");
const side = find("[data-side]");

/** Shows what changes elsewhere. */
const follower = follow(client, { changed: journey.receive, read: journey.refresh, isBusy: () => !!get().busy });

/** What the page shows: which screen, and the data that it was made from. */
let screen = "";
let shown = /** @type {unknown[]} */ ([]);
let shownBeside = /** @type {unknown[]} */ ([]);

/** Whether the visitor went back or forward, so that the browser restores the scroll position. */
let isRestored = false;

/**
 * Whether the mouse button is down. The page then stays as it is: browsers report no click on a button that was
 * replaced between press and release.
 */
let isPressed = false;

/** Updates the page from the store. */
function update() {
  if (isPressed) return;
  const state = get();
  const step = stepOf(state.place, state);
  main.dataset.step = step;
  main.dataset.state = state.missing ? "missing" : state.registration?.state ?? "";
  showStep(step, state);
  showProgress(step, state);
  showCard(find("[data-card-place]"), step, state);
  showSide(step, state);
  showProblem(state);
  showBusy(state);
  const crowded = state.busy || state.place.registration ? text.crowded : text.crowdedPage;
  statement.pointLinks(state);
  footer();
  find("[data-status]").textContent = state.waiting ? (state.crowded ? crowded : text.waiting) : "";
  follower.show(state.registration);
}

/**
 * Returns a signature's state, for comparing screens: a code that is being checked is on the screen on which codes are
 * entered, so that what is typed there stays.
 * @param {string} [state]
 */
const signing = (state) => (state === "unconfirmed" ? "awaiting_code" : state);

/**
 * @param {import("./route.js").Step} step
 * @param {import("./store.js").State} state
 */
function showStep(step, state) {
  const { registration } = state;
  const next = [step, state.missing, state.place.me && !state.identity, registration?.state, signing(registration?.mandate?.state),
    registration?.payment?.state, step === "transfer" && signing(state.transfer?.state), step === "statement" && [state.place.statement, state.statement?.stated.id, !!state.statement?.received]].join();
  const reads = VIEWS[step].reads(state);
  if (next === screen && same(reads, shown)) return;
  const isNew = next !== screen;
  const first = screen === "";
  const focused = main.contains(document.activeElement) ? document.activeElement?.id : undefined;
  screen = next;
  shown = reads;
  const typed = isNew ? [] : typedIn(find("[data-view]"));
  const unfolded = isNew ? [] : unfoldedIn(find("[data-view]"));
  find("[data-view]").dataset.view = isNew ? "new" : "same";
  find("[data-view]").replaceChildren(VIEWS[step].show() ?? "");
  typeAgain(typed);
  unfoldAgain(find("[data-view]"), unfolded);
  const heading = find("[data-heading]");
  document.title = `${heading.textContent} – ${text.brand}`;
  if (isNew && !first) {
    if (!isRestored) scrollTo(0, 0);
    const field = document.getElementById(state.place.field ?? "");
    (document.querySelector(/** @type {"input"} */ ("main [autocomplete=one-time-code]")) ?? field ?? heading).focus({ preventScroll: !field });
  } else if (focused !== undefined) (document.getElementById(focused) ?? heading).focus({ preventScroll: true });
}

/**
 * @param {import("./route.js").Step} step
 * @param {import("./store.js").State} state
 */
function showProgress(step, state) {
  const [place, bar] = [find("[data-progress]"), progress(step, state)];
  if (!place.firstChild?.isEqualNode(bar)) place.replaceChildren(bar);
}

/**
 * What the visitor is typing while the step is shown again because of a change.
 * @param {HTMLElement} view
 */
function typedIn(view) {
  const controls = [...view.querySelectorAll(/** @type {"input"} */ ("input[id]:not([type=radio], [type=checkbox])"))];
  return controls.filter((control) => control.value !== control.defaultValue).map(({ id, value, selectionStart: from, selectionEnd: to }) => ({ id, value, from, to }));
}

/** @param {ReturnType<typeof typedIn>} typed */
function typeAgain(typed) {
  for (const { id, value, from, to } of typed) {
    const control = /** @type {HTMLInputElement | null} */ (document.getElementById(id));
    if (!control || control.readOnly) continue;
    control.value = value;
    if (from !== null) control.setSelectionRange(from, to);
    control.dispatchEvent(new Event("input")); // for what the field's own listener shows; the form has the input already
  }
}

/**
 * The unfolded parts of a step, by their labels: they stay unfolded when the step is shown again.
 * @param {HTMLElement} view
 */
const unfoldedIn = (view) => [...view.querySelectorAll(/** @type {"details"} */ ("details[open]"))].map(foldName);

/** @param {HTMLDetailsElement} fold its id, or its summary where that does not change */
const foldName = (fold) => fold.id || (fold.querySelector(":scope > summary")?.textContent ?? "");

/**
 * @param {HTMLElement} view
 * @param {string[]} unfolded
 */
function unfoldAgain(view, unfolded) {
  for (const fold of view.querySelectorAll("details")) {
    if (unfolded.includes(foldName(fold))) fold.open = true;
  }
}

/**
 * @param {import("./route.js").Step} step
 * @param {import("./store.js").State} state
 */
function showSide(step, state) {
  const reads = [step, ...summary.reads(state)];
  if (same(reads, shownBeside)) return;
  shownBeside = reads;
  const content = summary.show();
  side.hidden = !content;
  side.replaceChildren(content ?? "");
}

/** @type {import("./api.js").Problem | undefined} */
let shownProblem;
/** The sign-up in progress that was shown with it. @type {unknown} */
let shownWith;

/** @param {import("./store.js").State} state */
function showProblem({ problem, isStuck, inProgress }) {
  if (problem === shownProblem && inProgress === shownWith) return;
  shownProblem = problem;
  shownWith = inProgress;
  const place = find("[data-error]");
  place.dataset.error = problem?.code ?? "";
  place.hidden = !problem;
  place.replaceChildren(problem ? problemContent(problem, isStuck ? arriveAgain : undefined) : "");
  if (problem) place.scrollIntoView({ block: "nearest" });
}

/** What had the focus when the visitor's action began: its id, or "" without one. @type {string | undefined} */
let focusedBefore;

/** @param {import("./store.js").State} state */
function showBusy({ busy }) {
  if (busy && !main.dataset.busy) focusedBefore = main.contains(document.activeElement) ? document.activeElement?.id : undefined;
  const isOver = !busy && !!main.dataset.busy;
  main.dataset.busy = busy ?? "";
  main.setAttribute("aria-busy", String(!!busy));
  find("[data-announce]").textContent = busy ? text.busy : "";
  for (const element of main.querySelectorAll("button, fieldset")) element.toggleAttribute("disabled", !!busy);
  // A button loses the focus while it is disabled, and with it a keyboard its place on the page.
  if (isOver && focusedBefore !== undefined && document.activeElement === document.body) (document.getElementById(focusedBefore) ?? find("[data-heading]")).focus({ preventScroll: true });
}

/**
 * @param {unknown[]} one
 * @param {unknown[]} other
 */
const same = (one, other) => one.length === other.length && one.every((value, at) => value === other[at]);

/** Reads what the place in the address needs. */
async function arrive() {
  const ended = member.finishLogOut(); // of this browser's last visitor
  if (get().resume) await ended; // it may be of the same registration
  if (get().resume && (await journey.resume()) === undefined) return; // the address names the registration now
  const { place, registration } = get();
  if (place.statement) return void Promise.all([journey.loadDetails(place.club), journey.loadDocuments(place.club ?? get().identity?.club, journey.quietly), !place.club && journey.loadClubs(journey.quietly)]);
  if (place.registration) {
    await ended;
    if (registration?.id !== place.registration) await journey.open(place.registration);
    if (get().place.registration !== place.registration) return; // the visitor has left it meanwhile
    const clubId = get().registration?.clubId;
    await Promise.all([clubId && journey.loadCatalogue(clubId), journey.loadDetails(clubId), journey.loadDocuments(clubId)]);
    await Promise.all(journey.cartSchedules(get()).map(journey.loadSchedule));
    return;
  }
  if (place.me) return arriveAsMember(place);
  if (place.invitation && place.step !== "guardian") {
    const isWanted = await mayStart();
    if (get().place !== place) return;
    if (!isWanted) return go({ club: place.club }, { replace: true });
    if ((await journey.accept(place)) === undefined) return; // the address names the registration now
  }
  const offers = place.club && (place.offer ? journey.loadOffer(place) : journey.loadCatalogue(place.club));
  await Promise.all([journey.loadClubs(), offers, journey.loadDetails(place.club), journey.loadDocuments(place.club, journey.quietly), journey.findInProgress()]);
  await Promise.all(journey.offerSchedules(get()).map(journey.loadSchedule));
  const { clubs } = get();
  if (clubs?.length === 1 && !get().place.club) go({ club: clubs[0].id }, { replace: true });
}

/** @param {import("./route.js").Place} place */
async function arriveAsMember({ club, step }) {
  const me = member.loadMe(!step && !club).then(() => {
    const { me } = get();
    return Promise.all([journey.loadDetails(club ?? me?.clubId), journey.loadDocuments(club ?? me?.clubId, journey.quietly), club && journey.findInProgress()]); // not what ends with it
  });
  await Promise.all([journey.loadClubs(), me, step === "consents" && member.loadConsents(), step === "transfer" && member.loadTransfer(), club && journey.loadCatalogue(club)]);
}

function arriveAgain() {
  set({ problem: undefined, isStuck: false });
  arrive();
}

/** @type {import("./route.js").Place | undefined} */
let arrived;

/** @type {import("./identity.js").Identity | undefined} */
let arrivedAs;

onChange(() => {
  const { place, registration, identity, given } = get();
  if (place === arrived && (!place.me || identity === arrivedAs)) return update();
  arrived = place;
  arrivedAs = identity;
  const left = place.registration !== registration?.id;
  set({
    problem: undefined, isStuck: false, missing: false, target: undefined, statement: undefined,
    ...(left && { registration: undefined, account: undefined, readings: 0, consents: undefined, consentRequests: {}, consentResults: undefined }),
    ...(left && { person: given && given.registration === place.registration ? given.person : {} }), // not what was typed for another one
  });
  arrive();
});

addEventListener("popstate", () => {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close(); // it is about the place that was left
  isRestored = true;
  set({ place: here() });
  isRestored = false; // only for the screen that this has shown, if it is a new one
});

/** The club's login can return to a page that is already open. */
addEventListener("hashchange", () => takeOver(takeHandover()));

/** @param {ReturnType<typeof takeHandover>} handover the login's tokens from the address */
function takeOver({ identityToken, accessToken }) {
  if (identityToken) member.signIn(identityToken);
  if (accessToken) set({ accessToken });
}

addEventListener("offline", () => set({ waiting: true }));
addEventListener("online", () => {
  set({ waiting: false });
  if (get().isStuck) arriveAgain();
  else member.finishLogOut();
});
document.addEventListener("visibilitychange", member.watchEnd);

addEventListener("pointerdown", ({ pointerType, button }) => (isPressed = pointerType === "mouse" && button === 0));
addEventListener("click", () => (isPressed = false), { capture: true });
for (const end of ["pointerup", "pointercancel", "blur"]) addEventListener(end, () => setTimeout(release));

/** Shows what has changed while the mouse button was down, after the click. */
function release() {
  isPressed = false;
  update();
}

/** Follows links to a place without loading the page again. */
document.addEventListener("click", (event) => {
  const link = /** @type {Element} */ (event.target).closest("a");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.hash || link.origin + link.pathname !== location.origin + location.pathname) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  set({ place: here() });
  if (!here().field) scrollTo(0, 0); // a field to correct is in view already
});

/**
 * The back button can restore the page as it was left, with disabled buttons: it then starts from the current state, or
 * reloads if another person has logged in meanwhile.
 */
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  if (keptIdentity()?.token !== get().identity?.token) return location.reload();
  const { registration } = get();
  set({ busy: undefined, readings: 0 });
  if (registration) journey.refresh(registration.id);
});

/** The browser asks before it drops consents that are ticked and not saved. */
addEventListener("beforeunload", (event) => {
  if (Object.keys(get().consentRequests).length) event.preventDefault();
});

/** Shows everything again, in the language that the visitor has just chosen; typed text and unfolded parts stay. */
function sayAgain() {
  const putBack = keepTyped();
  [shown, shownBeside, shownProblem] = [[], [], undefined];
  update();
  putBack();
  const { registration } = get();
  journey.readAgain();
  follower.restart(); // for its message and its cart's names in that language
  if (registration?.final) journey.refresh(registration.id); // it is not followed
}

frame(sayAgain);
const resume = takeResume();
const { identityToken, accessToken } = takeHandover();
dropProcessorsWords();
keepAttribution();
onStart();

/** Loads everything from the address and this browser at once, so that the first step shown is the right one. */
function onStart() {
  const identity = identityToken ? keepIdentity(identityToken) : keptIdentity();
  set({ resume, identity, accessToken, waiting: !navigator.onLine, place: here() });
  member.watchEnd();
}
