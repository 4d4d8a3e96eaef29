// @ts-check
/**
 * What the browser keeps for this site, as JSON. It may forbid that, or have no room: then nothing is kept, which each
 * caller must bear.
 */

/** @param {() => Storage} storage a function, because even to name a forbidden storage is an error */
const shelf = (storage) => ({
  /**
   * @param {string} name
   * @param {unknown} value
   */
  keep(name, value) {
    try {
      storage().setItem(name, JSON.stringify(value));
    } catch {
      // Storage is forbidden or full.
    }
  },

  /**
   * @param {string} name
   * @returns {any} null if nothing is kept, or something that this site did not write
   */
  kept(name) {
    try {
      return JSON.parse(storage().getItem(name) ?? "null");
    } catch {
      return null;
    }
  },

  /** @param {string} name */
  drop(name) {
    try {
      storage().removeItem(name);
    } catch {
      // Storage is forbidden: nothing is kept.
    }
  },
});

/** Of this tab alone, until it is closed. */
export const tab = shelf(() => sessionStorage);

/** Of all tabs, and of later visits. */
export const browser = shelf(() => localStorage);
