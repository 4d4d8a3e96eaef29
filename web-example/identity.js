// @ts-check
/**
 * The tokens that the club's own login returns. It sends the browser back to this site with
 *
 *     #identityToken=…   who the visitor is, for ten minutes at most: opens /?me
 *     #accessToken=…     the visitor's own access to the club system, to bring in an account (views/prospect.js)
 *
 * Both are immediately removed from the address, and so from the history. The identity token is kept in sessionStorage
 * while it can be valid, so that a reload needs no new login, unless the browser forbids that; the access token only in
 * this page's memory. The page does not check them: the gateway does.
 *
 * @typedef {object} Identity
 * @property {string} token
 * @property {number} until when it ends, by this device's clock in ms
 * @property {string} [club] the member's, as the token says
 *
 * @typedef {"expired" | "refused" | "left" | "unfinished" | "moved"} Ending `refused`: the gateway never
 *   accepted it on this page; `unfinished`: logged out, but sessions of registrations could not be ended
 */
import { isLocal } from "./simulator.js";
import { tab } from "../client/kept.js";

/** The longest lifetime of an identity token that the gateway accepts, in ms. */
const LONGEST = 600_000;

const KEPT = "frontdesk.identity";

/** @typedef {"identityToken" | "accessToken"} Wanted */

/**
 * The address of the club's login: the `frontdesk:login` line of index.html. In it, `{return}` is the address to which the
 * login sends the browser back, and `{token}` is the token that the site wants.
 * @param {Wanted} wanted
 * @param {string} back
 * @returns {string | undefined} undefined when no login is configured
 */
export function loginAddress(wanted, back) {
  const configured = document.querySelector("meta[name='frontdesk:login']")?.getAttribute("content") ?? "";
  if (!/^(https?:\/)?\//.test(configured)) return undefined;
  return configured.replaceAll("{return}", encodeURIComponent(back)).replaceAll("{token}", wanted);
}

/** Whether the visitor can log in: at the configured login or, on a developer's machine, by hand. */
export const canLogIn = () => isLocal() || !!loginAddress("identityToken", "");

/**
 * Removes the login's tokens from the address, and returns them.
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
  const { iat, exp, club } = claimsOf(token);
  const identity = { token, until: Date.now() + lifetime(exp - iat), club };
  tab.keep(KEPT, identity);
  return identity;
}

/** @returns {Identity | undefined} the identity from before the reload, while it can be valid */
export function keptIdentity() {
  const identity = tab.kept(KEPT);
  if (identity?.until > Date.now()) return identity;
  dropIdentity();
  return undefined;
}

export const dropIdentity = () => tab.drop(KEPT);

/**
 * A token's lifetime in ms, from `iat` to `exp`, because a visitor's clock may be hours wrong.
 * @param {number} seconds not a number if the token has none
 */
const lifetime = (seconds) => (seconds > 0 ? Math.min(1_000 * seconds, LONGEST) : LONGEST);

/**
 * What a token says; nothing if it cannot be read, because the gateway judges it.
 * @param {string} token
 * @returns {any}
 */
function claimsOf(token) {
  try {
    return JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))) ?? {};
  } catch {
    return {};
  }
}
