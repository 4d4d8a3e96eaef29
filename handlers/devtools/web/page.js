// @ts-check
/**
 * What the panel does with the page it is shown on. It knows no more about the page than a visitor's browser does: its
 * address, and what each field is for.
 */

/**
 * Copies text, even where the browser has no clipboard for pages (plain http on another address than localhost).
 * @param {string} text
 * @returns {Promise<string>} the result, in words
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return COPIED;
  } catch {
    let before = document.activeElement;
    while (before?.shadowRoot?.activeElement) before = before.shadowRoot.activeElement;
    const field = document.createElement("textarea");
    field.value = text;
    field.readOnly = true;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    return copied ? COPIED : `The browser does not allow copying: ${text}`;
  }
}

const COPIED = "Copied.";

/** How a page marks the field for a value: the attributes that browsers and password managers use. */
const FIELDS = {
  code: "input[autocomplete~='one-time-code']",
  iban: "input[name='iban']",
};

/**
 * Types a value into the page's field for it, if it has one.
 * @param {keyof typeof FIELDS} kind
 * @param {string} value
 * @returns {boolean} whether there was one
 */
export function fill(kind, value) {
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector(FIELDS[kind]));
  if (!field || field.disabled || !field.checkVisibility()) return false;
  // The prototype's own setter: frameworks override it, and would otherwise miss the change.
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
  field.focus();
  return true;
}

/** The registration that the address names. */
export const registration = () => new URLSearchParams(location.search).get("registration");

/**
 * Returns from the club's own login to the member area, logged in as a persona.
 * @param {string} identityToken
 */
export const signIn = (identityToken) => go(`/?me#identityToken=${encodeURIComponent(identityToken)}`);

/**
 * Returns from the club system's login with a persona's own access token, to the registration that the address names.
 * @param {string} accessToken
 */
export function bringAccount(accessToken) {
  const query = new URLSearchParams(location.search);
  query.set("step", "prospect");
  go(`${location.pathname}?${query}#accessToken=${encodeURIComponent(accessToken)}`);
}

/** Goes to the start like a new browser, except for its cookies, which scripts cannot see. */
export function startAgain() {
  for (const storage of [localStorage, sessionStorage]) {
    for (const name of Object.keys(storage)) if (name !== SETTINGS) storage.removeItem(name);
  }
  go("/");
}

/**
 * Loads an address again, even if it differs from the current one only in its fragment.
 * @param {string} address
 */
export function go(address) {
  const to = new URL(address, location.origin);
  const here = to.pathname + to.search === location.pathname + location.search;
  if (!here) return location.assign(to);
  history.replaceState(null, "", to);
  location.reload();
}

const SETTINGS = "frontdesk.panel";

/**
 * @typedef {{ open?: boolean, tab?: string, worlds?: string[] }} Settings what the panel remembers
 * @returns {Settings}
 */
export function settings() {
  try {
    return JSON.parse(localStorage.getItem(SETTINGS) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {Settings} change */
export function remember(change) {
  try {
    localStorage.setItem(SETTINGS, JSON.stringify({ ...settings(), ...change }));
  } catch {
    // Storage is forbidden: the panel then opens as if for the first time.
  }
}
