// Twenty visitors sign up against one process, each in a separate world: no test sees another's data or waits for another
// test. Start the mock back end (go run .), then:
//
//   npm install --save-dev playwright-core
//   node parallel-signups.mjs [http://localhost:8080] [/usr/bin/chromium]
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { chromium } from "playwright-core";

const [site = "http://localhost:8080", executablePath = "/usr/bin/chromium"] = process.argv.slice(2);
const SIGNUPS = 20;
const AT_ONCE = availableParallelism(); // signups that run at the same time; more of them would only wait for a core
const PATIENCE = 300_000; // milliseconds for a page or a field; long, because a busy machine is not a failure

const person = {
  givenName: "Ada", familyName: "Martin", birthDate: "1990-05-17", email: "ada@example.com", mobile: "+33612345678",
  street: "12 rue des Lilas", postalCode: "75011", city: "Paris",
};

/** Signs up a visitor in a world, with a separate browser context. The world is created when it is first named. */
async function signUp(browser, world) {
  // Every request of the context carries the header: pages, fetch, server-sent events, and the way back from the processor.
  const context = await browser.newContext({ extraHTTPHeaders: { "X-Frontdesk-World": world } });
  context.setDefaultTimeout(PATIENCE);
  try {
    const page = await context.newPage();
    await page.goto(`${site}/?club=11&offer=201&startDate=2030-01-15`);
    for (const [field, text] of Object.entries(person)) await page.fill(`[data-field="${field}"]`, text);
    await page.click('form[data-form="person"] [data-continue]');
    await page.click("[data-pay]");
    const card = page.frameLocator('iframe[src*="/v3/element"]'); // the processor's card fields
    for (const [field, text] of [["number", "4242424242424242"], ["expiry", "12/40"], ["cvc", "123"]]) await card.locator(`#${field}`).fill(text);
    await page.click("[data-pay-card]");
    return await page.locator("[data-member]").first().getAttribute("data-member");
  } finally {
    await context.close();
  }
}

/** Asserts on the club's records, whatever the page says. */
async function expectOnePayment(world) {
  const read = async (name) => (await fetch(`${site}/sim/${world}/_control/${name}`)).json();
  const { items } = await read("ledger");
  assert.equal(items.length, 1, `${world} has ${items.length} payments`);
  assert.ok((await read("audit")).ok, `the audit of ${world}`);
}

const run = Date.now().toString(36); // gives a second run other worlds
const waiting = Array.from({ length: SIGNUPS }, (_, i) => `demo-${run}-${i + 1}`);
const browser = await chromium.launch({ executablePath, timeout: PATIENCE });
try {
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let world; (world = waiting.shift()); ) {
      const member = await signUp(browser, world);
      await expectOnePayment(world);
      console.log(`${world}: member ${member}`);
    }
  }));
} finally {
  await browser.close();
}
