package docs_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
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
