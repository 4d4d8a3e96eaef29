package docs_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// bundle has esbuild bundle a file for browsers, as Vite does, and returns what it wrote.
func (w nodeProject) bundle(file string) string {
	w.t.Helper()
	w.must("esbuild", file, "--bundle", "--minify", "--format=esm", "--outfile=bundle.mjs", "--log-level=warning")
	text, err := os.ReadFile(filepath.Join(w.dir, "bundle.mjs"))
	frontdesktest.Must(w.t, err)
	return string(text)
}

// TestClientBundled: the bundle of an app that uses the client signs up.
func TestClientBundled(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	w := newNodeProject(t, localhost(client.URL), "client.ts", "signup.ts", "screens.ts")
	w.bundle("signup.ts")
	if said := w.must("node", "bundle.mjs"); !strings.Contains(said, "Welcome!\nmember 11-") {
		t.Errorf("it says:\n%s", said)
	}
	expectOnePayment(t, client)
}

// TestClientIsSmall: the whole client takes less than 6 KB, compressed.
func TestClientIsSmall(t *testing.T) {
	t.Parallel()
	w := newNodeProject(t, "")
	w.write("all.js", `export * from "@frontdesk/client";`)
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write([]byte(w.bundle("all.js"))); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Must(t, writer.Close())
	if packed.Len() < 1000 || packed.Len() > 6*1024 {
		t.Errorf("it takes %d bytes", packed.Len())
	}
}

// TestOpenAPIFetchCompiles: the types that the gateway serves are those that openapi-fetch expects.
func TestOpenAPIFetchCompiles(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	w := newNodeProject(t, client.URL)
	w.write("frontdesk.d.ts", string(client.Do("GET", "/frontdesk.d.ts", nil).Body))
	w.write("fetch.ts", `import createClient from "openapi-fetch";
import type { Later, paths } from "./frontdesk.d.ts";
const { data } = await createClient<paths>().GET("/v1/registrations/{id}", { params: { path: { id: "" } } });
if (data?.step === "done") console.log(data.contact?.number);
`)
	if out, err := w.compile("--noEmit", "fetch.ts"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestMockServiceWorker signs up with the handlers for Mock Service Worker alone: by the example, and with a problem in between.
func TestMockServiceWorker(t *testing.T) {
	t.Parallel()
	w := newNodeProject(t, "http://localhost:8080", "client.ts", "signup.ts", "screens.ts", "tsconfig.json")
	w.must("tsc")
	w.write("mocked.ts", `import { createClient, Problem } from "@frontdesk/client";
import { mockFrontdesk, problem } from "@frontdesk/client/msw";
import { setupServer } from "msw/node";

const mock = mockFrontdesk();
const server = setupServer(...mock.handlers);
server.listen({ onUnhandledRequest: "error" });
server.use(problem("POST", "/v1/registrations/{id}/payment", "cart_changed", { once: true }));
await import("./signup.js" as string);
while (!mock.registration().final) await new Promise((resolve) => setTimeout(resolve, 50));

mock.show("declined");
const api = createClient({ baseUrl: "http://localhost:8080" });
const path = { id: mock.registration().id };
server.use(problem("DELETE", "/v1/registrations/{id}/items", "token_required"));
const refused = await api.request("DELETE", "/v1/registrations/{id}/items", { path }).catch((error) => error as Problem);
console.log(refused instanceof Problem && refused.code, refused instanceof Problem && refused.gone);

const { body } = await fetch("http://localhost:8080/v1/registrations/x/events");
const events = body!.pipeThrough(new TextDecoderStream()).getReader();
console.log((await events.read()).value!.slice(0, 19));
mock.show("done");
console.log((await events.read()).value!.includes('"step":"done"'), (await events.read()).value);
`)
	w.must(
		"tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable", "--skipLibCheck", "--outDir", "out",
		"mocked.ts",
	)
	said := w.must("node", "out/mocked.js")
	for _, want := range []string{"Welcome!\nmember 11-", "token_required true", "event: registration\ntrue event: end"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
}

// TestRecordedAnswers compares what the handlers for Mock Service Worker answer with what the simulator answers now: every member, its
// type, and the codes.
func TestRecordedAnswers(t *testing.T) {
	t.Parallel()
	w := nodeProject{t, t.TempDir(), ""}
	now := filepath.Join(w.dir, "now.js")
	w.must("node", filepath.Join(frontdesktest.Root(), "client", "msw", "record.mjs"), frontdesktest.NewMock(t).URL, now)
	text, err := os.ReadFile(now)
	frontdesktest.Must(t, err)
	recorded, answered := traitsOf(t, read(t, "client/msw/recorded.js")), traitsOf(t, string(text))
	for trait := range recorded {
		if !answered[trait] {
			t.Errorf("the simulator no longer answers %s: run client/msw/record.mjs", trait)
		}
	}
	for trait := range answered {
		if !recorded[trait] {
			t.Errorf("the recording lacks %s: run client/msw/record.mjs", trait)
		}
	}
	if len(recorded) < 500 {
		t.Errorf("the recording has only %d members", len(recorded))
	}
}

// traitsOf returns the members of a recording with their types and, of those whose values are words of the contract, the values.
func traitsOf(t *testing.T, text string) map[string]bool {
	t.Helper()
	_, text, _ = strings.Cut(text, "export default ")
	var recorded any
	frontdesktest.Must(t, json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(text), ";")), &recorded))
	traits := map[string]bool{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				walk(path+"."+name, member)
			}
		case []any:
			for _, member := range value {
				walk(path+"[]", member)
			}
		case string:
			traits[path+": text"] = true
			if codeMember.MatchString(path) {
				traits[path+": "+value] = true
			}
		default:
			traits[fmt.Sprintf("%s: %T", path, value)] = true
		}
	}
	walk("", recorded)
	return traits
}

// codeMember matches members whose values are words of the contract.
var codeMember = regexp.MustCompile(
	`\.(code|state|step|action|then|retry|kind|type|method|methods\[\]|needs\[\]|button|presentation|payAgain)$`,
)

// reactPage is a page that pays by card with the hook.
const reactPage = `import { createElement as h, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createClient, intend } from "@frontdesk/client";
import { useRegistration } from "@frontdesk/client/react";

const api = createClient({ baseUrl: "http://localhost:8080", credentials: "include" });
const body = { clubId: "11", items: [{ offerId: "201", startDate: "2030-01-15" }], person: {
  givenName: "Ada", familyName: "Martin", birthDate: "1990-05-17", email: "ada@example.com", mobile: "+33612345678",
  address: { street: "12 rue des Lilas", postalCode: "75011", city: "Paris", country: "FR" },
} };
const headers = { "X-Frontdesk-Session": "cookie" };
const { id } = await api.request("POST", "/v1/registrations", { intention: intend("start", body), headers });

function Page() {
  const { registration, problem, isBusy, act } = useRegistration(api, id);
  if (!registration) return h("p", { "data-missing": problem?.code ?? "" });
  const { step, cart, payment } = registration;
  const pay = (revision) => act(() => api.request("POST", "/v1/registrations/{id}/payment", {
    path: { id },
    intention: intend("pay", { method: "card", cart: revision, agreements: registration.order?.agreements }, { keep: true }),
  }));
  const leave = () => act(() => api.request("DELETE", "/v1/registrations/{id}", { path: { id } }));
  const secret = payment?.card?.clientSecret;
  return h("main", { "data-step": step, "data-busy": String(isBusy), "data-problem": problem?.code ?? "", "data-secret": secret },
    h("button", { id: "stale", onClick: () => pay("0".repeat(16)) }, "Pay another cart"),
    h("button", { id: "pay", onClick: () => { pay(cart.revision); pay(cart.revision); } }, "Pay"),
    h("button", { id: "leave", onClick: leave }, "Leave"));
}
createRoot(document.body).render(h(StrictMode, null, h(Page)));
`

// TestReactHook: a page of another origin pays with the hook, and shows what happens elsewhere.
func TestReactHook(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	w := newNodeProject(t, client.URL)
	w.write("page.js", reactPage)
	script := strings.ReplaceAll(w.bundle("page.js"), "</script", "<\\/script")
	site := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(response, "<!doctype html><title>React</title><body></body><script type=module>"+script+"</script>")
	}))
	t.Cleanup(site.Close)
	browser := frontdesktest.NewBrowser(t, 800, 600)
	browser.AllowConsole("409")
	browser.Open(site.URL)
	browser.WaitVisible(`[data-step="ready"]`)
	browser.Click("#stale")
	browser.WaitVisible(`[data-step="ready"][data-busy="false"][data-problem="cart_changed"]`)
	browser.Click("#pay")
	browser.WaitVisible(`[data-step="at_processor"][data-busy="false"][data-problem=""]`)
	secret := frontdesktest.Eval[string](browser, `document.querySelector("main").dataset.secret`)
	payment, _, _ := strings.Cut(secret, "_secret_")
	client.Do("POST", "/sandbox/payments/"+payment+"/confirm", map[string]string{"card": "4242424242424242"})
	browser.WaitVisible(`[data-step="done"]`)
	expectOnePayment(t, client)
	browser.Click("#leave")
	browser.WaitVisible(`[data-step="done"][data-busy="false"]:not([data-problem=""])`)
}

// keysPage prints how many keys the attempts at one payment had, when something before the gateway answers each, and when the browser's
// storage is full; and the pause before the next poll, when a proxy tells it as a date.
const keysPage = `import { createClient, intend } from "@frontdesk/client";
const kept = new Map();
let isFull = false;
globalThis.sessionStorage = {
  getItem: (name) => kept.get(name) ?? null,
  setItem: (name, text) => { if (isFull) throw new Error("QuotaExceededError"); kept.set(name, text); },
  removeItem: (name) => kept.delete(name),
};
globalThis.setTimeout = (run) => queueMicrotask(run);
const client = createClient({ baseUrl: "http://localhost:8080" });
for (const status of [403, 404, 425, 504, 520, 522, 524, 530]) {
  const keys = new Set();
  globalThis.fetch = async (_, { headers }) => { keys.add(headers["Idempotency-Key"]); return new Response("<html>", { status }); };
  for (let attempt = 0; attempt < 2; attempt++) {
    const intention = intend("pay.1", { method: "card" }, { keep: true });
    await client.request("POST", "/v1/registrations/{id}/payment", { path: { id: "1" }, intention }).catch(() => {});
  }
  console.log(status, keys.size);
}
intend("pay.2", { cart: "a" });
isFull = true;
console.log("full", new Set([intend("pay.2", { cart: "b" }).key, intend("pay.2", { cart: "b" }).key]).size);
globalThis.fetch = async () => new Response("{}", { headers: { "Retry-After": "Mon, 30 Nov 2026 12:00:00 GMT" } });
await client.request("GET", "/v1/config");
console.log("rest", client.rest());
`

// TestClientKeepsKeys: a payment that is requested again has the key of before, unless the gateway itself has answered for good.
func TestClientKeepsKeys(t *testing.T) {
	t.Parallel()
	w := newNodeProject(t, "")
	w.write("keys.mjs", keysPage)
	const want = "403 1\n404 1\n425 1\n504 1\n520 1\n522 1\n524 1\n530 1\nfull 1\nrest 0\n"
	if said := w.must("node", "keys.mjs"); said != want {
		t.Errorf("it says:\n%s", said)
	}
}
