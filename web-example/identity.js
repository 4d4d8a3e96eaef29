// @ts-check
/**
 * What the club's own login hands over. It sends the browser back to this site with
 *
 *     #identityToken=…   who the visitor is, for ten minutes at most: opens /?me
 *     #accessToken=…     the visitor's own access to the club system, to bring an account along (views/prospect.js)
 *
 * Both leave the address, and with it the history, at once. The first is kept in sessionStorage as long as it can be
 * valid, so that a reload does not ask for the login again; the second in the memory of this page alone. The page
 * does not check them: the gateway does.
 *
 * @typedef {object} Identity
 * @property {string} token
 * @property {number} until when it ends, by this device's clock in ms
 *
 * @typedef {"expired" | "refused" | "left" | "moved"} Ending `refused`: it was never taken on this page
 */
import { isLocal } from "./simulator.js";

/** The longest that the gateway takes an identity token for, in ms. */
const LONGEST = 600_000;

const KEPT = "frontdesk.identity";

/** @typedef {"identityToken" | "accessToken"} Wanted */

/**
 * Where the club's login is: the `frontdesk:login` line of index.html. In it, `{return}` is the address to which the login sends
 * the browser back to, and `{token}` for which of the two it is asked for.
 * @param {Wanted} wanted
 * @param {string} back
 * @returns {string | undefined} nothing when no login is configured
 */
export function loginAddress(wanted, back) {
  const configured = document.querySelector("meta[name='frontdesk:login']")?.getAttribute("content") ?? "";
  if (!/^(https?:\/)?\//.test(configured)) return undefined;
  return configured.replaceAll("{return}", encodeURIComponent(back)).replaceAll("{token}", wanted);
}

/** Whether the visitor can log in: at the configured login or, on a developer's machine, by hand. */
export const canLogIn = () => isLocal() || !!loginAddress("identityToken", "");

/**
 * Takes what the login has put into the address off it.
 * @returns {{ identityToken?: string, accessToken?: string }}
 */
export function takeHandover() {
  const said = new URLSearchParams(location.hash.slice(1));
  const identityToken = said.get("identityToken") ?? undefined;
  const accessToken = said.get("accessToken") ?? undefined;
  if (said.has("identityToken") || said.has("accessToken")) history.replaceState(null, "", location.pathname + location.search);
  return { ...(identityToken && { identityToken }), ...(accessToken && { accessToken }) };
}

/**
 * @param {string} token
 * @returns {Identity}
 */
export function keepIdentity(token) {
  const identity = { token, until: Date.now() + lifetime(token) };
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(identity));
  } catch {
    // Storage is forbidden: the identity then lives as long as the page.
  }
  return identity;
}

/** @returns {Identity | undefined} the one of before the reload, while it can be valid */
export function keptIdentity() {
  try {
    const identity = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    if (identity?.until > Date.now()) return identity;
  } catch {
    return undefined;
  }
  dropIdentity();
  return undefined;
}

export function dropIdentity() {
  try {
    sessionStorage.removeItem(KEPT);
  } catch {
    // Storage is forbidden: there is nothing to forget.
  }
}

/**
 * How long a token is good for, by its own account: from `iat` to `exp`, since a visitor's clock may be hours wrong. One
 * that cannot be read is left to the gateway.
 * @param {string} token
 */
function lifetime(token) {
  try {
    const { iat, exp } = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    const own = 1_000 * (exp - iat);
    return own > 0 ? Math.min(own, LONGEST) : LONGEST;
  } catch {
    return LONGEST;
  }
}
