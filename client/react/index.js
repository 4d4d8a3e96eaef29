// @ts-check
/**
 * A registration on a React page.
 *
 * @import { Registration } from "../openapi.js"
 * @import { Client } from "../types.js"
 */
import { useCallback, useEffect, useRef, useState } from "react";
import { follow } from "../follow.js";
import { Problem } from "../request.js";

/**
 * @typedef {object} Shown
 * @property {Registration} [registration] as it is now; undefined until it has been read, and once this browser has no access to it
 * @property {Problem} [problem] of the last action or, without a registration, why there is none
 * @property {boolean} isBusy whether an action is in progress
 */

/**
 * What the hook follows at the moment.
 * @typedef {object} Followed
 * @property {(registration: Registration) => void} show
 * @property {() => Promise<void>} read
 * @property {() => void} rest follows what is shown, after an action
 */

/**
 * Reads a registration, follows its changes, and carries out the visitor's actions, one at a time.
 * @param {Client} client the same object at each rendering
 * @param {string | undefined} id undefined while there is none
 * @returns {Shown & { act: (action: () => Promise<Registration>) => Promise<void> }} `act` shows the registration that the action
 *   returns; a second action meanwhile, such as that of a double click, is ignored
 */
export function useRegistration(client, id) {
  const [shown, setShown] = useState(/** @type {Shown} */ ({ isBusy: false }));
  const busy = useRef(false);
  const current = useRef(/** @type {Followed | undefined} */ (undefined));

  useEffect(() => {
    setShown({ isBusy: false });
    if (!id) return undefined;
    /** @type {Registration | undefined} */
    let latest;
    const take = (/** @type {Registration} */ registration) => {
      latest = registration;
      setShown((before) => ({ ...before, registration }));
    };
    const gone = (/** @type {Problem} */ problem) => setShown({ problem, isBusy: false });
    const follower = follow(client, { changed: take, gone, isBusy: () => busy.current });
    /** @type {Followed} */
    const mine = {
      show(registration) {
        if (current.current !== mine || (latest && registration.sequence < latest.sequence)) return; // a newer response has overtaken it
        take(registration);
        follower.show(registration);
      },
      async read() {
        try {
          mine.show(await client.request("GET", "/v1/registrations/{id}", { path: { id } }));
        } catch (problem) {
          if (!(problem instanceof Problem)) throw problem;
          if (current.current !== mine) return;
          if (problem.gone) follower.show(undefined);
          if (problem.gone || !latest) gone(problem);
        }
      },
      rest: () => current.current === mine && latest && follower.show(latest),
    };
    current.current = mine;
    mine.read();
    return () => {
      current.current = undefined;
      follower.show(undefined);
    };
  }, [client, id]);

  const act = useCallback(async (/** @type {() => Promise<Registration>} */ action) => {
    const mine = current.current;
    if (busy.current || !mine) return;
    busy.current = true;
    setShown((before) => ({ ...before, problem: undefined, isBusy: true }));
    /** @type {Problem | undefined} */
    let problem;
    try {
      mine.show(await action());
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problem = error;
      if (error.registration) mine.show(error.registration);
      else if (error.gone || error.then === "read_again") await mine.read();
    } finally {
      busy.current = false;
      mine.rest();
      if (current.current === mine) setShown((before) => ({ ...before, ...(problem && { problem }), isBusy: false }));
    }
  }, []);

  return { ...shown, act };
}
