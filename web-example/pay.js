// @ts-check
/**
 * The gateway's own card page, /pay/…, for front ends without card fields. It is not part of the site. The gateway renders every
 * state of the payment, with all texts. This script shows the card fields, reads the page again until the payment has ended,
 * and then returns to the front end. Start reading at `begin`.
 */
import { ProcessorAway, confirm, load, mount, needsCard } from "./processor.js";

/** Pauses between readings while the payment is in progress, in ms; the last one repeats. */
const PAUSES = [500, 1_000, 2_000, 3_000, 5_000];

/** What the processor adds to the address after the bank's page. It proves nothing. */
const ADDED = ["payment_intent", "payment_intent_client_secret", "redirect_status"];

/** States after which the front end shows what happened. */
const PAID = ["recorded", "in_doubt"];

/** States that end by themselves, soon. */
const WAITING = ["processing", "unavailable"];

let main = /** @type {HTMLElement} */ (document.querySelector("main"));

/** Whether the buyer pays in this tab, which returns to the front end when the payment has ended. A page that is opened later does not. */
let pays = false;

let readings = 0;

/** How long the gateway asks to wait before the next reading, in ms; 0 unless it is busy. */
let rest = 0;

/** @type {number | undefined} */
let timer;

const address = new URL(location.href);
if (address.searchParams.has("payment_intent")) {
  pays = true;
  for (const name of ADDED) address.searchParams.delete(name);
  history.replaceState(null, "", address);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !main.dataset.busy) read();
});
begin();

/** Does what the payment's state asks for. */
function begin() {
  clearTimeout(timer);
  const state = main.dataset.pay ?? "";
  const form = main.querySelector("form");
  if (form) return showFields(form);
  if (WAITING.includes(state)) {
    pays ||= state === "processing";
    return wait();
  }
  if (pays && PAID.includes(state)) location.replace(/** @type {HTMLAnchorElement} */ (main.querySelector("[data-return]")).href);
}

/**
 * Shows the card fields, unless the buyer has paid already.
 * @param {HTMLFormElement} form
 */
async function showFields(form) {
  const { secret = "", key = "", script, failed = "", unloaded = "" } = form.dataset;
  const [fields, pay, again, error] = ["[data-card-fields]", "[data-pay-card]", "[data-card-again]", "[data-card-error]"]
    .map((selector) => /** @type {HTMLElement} */ (form.querySelector(selector)));
  const onAway = () => {
    fields.hidden = pay.hidden = true;
    again.hidden = false;
    error.textContent = unloaded;
    error.dataset.cardError = "unloaded";
  };
  again.onclick = () => readMain().then((next) => next && show(next));
  try {
    const stripe = await load(script, key);
    if (!(await needsCard(stripe, secret))) return waitForResult(() => needsCard(stripe, secret));
    const elements = mount(stripe, secret, fields.appendChild(document.createElement("div")), {
      locale: document.documentElement.lang,
      onReady() {
        fields.dataset.cardFields = "ready";
        fields.querySelector(".bone")?.remove();
        pay.hidden = false;
      },
      onAway,
    });
    form.onsubmit = async (event) => {
      event.preventDefault();
      if (main.dataset.busy) return;
      error.textContent = "";
      main.dataset.busy = "card";
      announce(pay.querySelector(".when-busy"));
      const refusal = await confirm(stripe, elements, secret, location.href, failed);
      if (refusal === undefined) return waitForResult(() => needsCard(stripe, secret));
      delete main.dataset.busy;
      error.textContent = refusal;
      read(); // after too many declines, the payment has ended
    };
  } catch (problem) {
    if (!(problem instanceof ProcessorAway)) throw problem;
    onAway();
  }
}

/**
 * Keeps the form as it is until the gateway knows what the processor knows: the payment has been made, or needs another card
 * after all.
 * @param {() => Promise<boolean>} needed
 */
function waitForResult(needed) {
  pays = true;
  main.dataset.busy = "card";
  readings = 0;
  wait(needed);
}

/**
 * Reads the page after a pause, and again while it shows the same.
 * @param {() => Promise<boolean>} [needed] whether the processor needs a card
 */
function wait(needed = async () => false) {
  const pause = Math.max(rest, PAUSES[Math.min(readings++, PAUSES.length - 1)]);
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const shown = main;
    const next = document.hidden ? undefined : await readMain();
    if (main !== shown) return; // another reading was faster
    if (next && (changed(next) || (next.querySelector("form") && (await needed())))) show(next);
    else wait(needed);
  }, pause);
}

/** Reads the page once, and shows it if the state has changed. */
async function read() {
  const next = await readMain();
  if (next && !main.dataset.busy && changed(next)) show(next);
}

/**
 * Whether a reading shows another state. A decline while the fields are on the page changes nothing: they show it themselves.
 * @param {HTMLElement} next
 */
function changed(next) {
  const takesCard = (/** @type {HTMLElement} */ one) => one.querySelector("form") !== null;
  return takesCard(next) !== takesCard(main) || (!takesCard(next) && next.textContent !== main.textContent);
}

/** @returns {Promise<HTMLElement | undefined>} what the page is now; nothing without a connection */
async function readMain() {
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    rest = Number(response.headers.get("Retry-After")) * 1_000;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const next = page.querySelector("main");
    if (!next || (!response.ok && response.status !== 404)) return undefined;
    document.title = page.title;
    return next;
  } catch {
    return undefined;
  }
}

/**
 * Replaces what is shown. The heading gets the focus, and screen readers announce the text.
 * @param {HTMLElement} next
 */
function show(next) {
  main.replaceWith(next);
  main = next;
  /** @type {HTMLElement | null} */ (main.querySelector("h1"))?.focus();
  announce(main.querySelector(".lead"));
  begin();
}

/** @param {Element | null} words for screen readers */
function announce(words) {
  const status = /** @type {HTMLElement} */ (document.querySelector("[data-announce]"));
  status.textContent = words?.textContent ?? "";
}
