package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestGeneratedClients has the usual generators write clients, and the compiler check all of them at once, with use.ts: it calls each
// client, and expects that a body with an unknown field does not compile.
func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	folder := filepath.Join("e2e", "web", "generators")
	w := nodeProject{t, t.TempDir(), "http://localhost:8080"}
	installed := filepath.Join(frontdesktest.Root(), folder, "node_modules")
	if _, err := os.Stat(installed); err != nil {
		t.Fatal("this test needs the packages of e2e/web/generators: run .ci/tools")
	}
	frontdesktest.Must(t, os.Symlink(installed, filepath.Join(w.dir, "node_modules")))
	frontdesktest.Must(t, os.Mkdir(filepath.Join(w.dir, "out"), 0o755))
	w.write("package.json", read(t, filepath.Join(folder, "package.json"))) // generators look for the version of zod
	for _, name := range []string{"orval.config.mjs", "hey.config.mjs", "tsconfig.json", "use.ts"} {
		w.write(name, read(t, filepath.Join(folder, name)))
	}
	w.write("openapi.yaml", string(client.Do("GET", "/openapi.yaml", nil).Body))
	w.write("problem-codes.d.ts", string(client.Do("GET", "/problem-codes.d.ts", nil).Body))
	tools := filepath.Join(nodeModules(t), ".bin")
	t.Run("generate", func(t *testing.T) {
		for _, command := range []string{
			"orval --config orval.config.mjs",
			"openapi-ts -f hey.config.mjs",
			"oazapfts openapi.yaml out/oazapfts.ts",
			"swagger-typescript-api generate -p openapi.yaml -o out -n swagger.ts",
			"openapi-zod-client openapi.yaml -o out/zodios.ts",
			"node " + filepath.Join(tools, "openapi-typescript") + " openapi.yaml -o out/openapi-typescript.ts",
		} {
			words := strings.Fields(command)
			t.Run(words[0], func(t *testing.T) {
				t.Parallel()
				each := w
				each.t = t
				each.must(words[0], words[1:]...)
			})
		}
	})
	swagger := filepath.Join(w.dir, "out", "swagger.ts")
	code, err := os.ReadFile(swagger)
	frontdesktest.Must(t, err)
	frontdesktest.Must(t, os.WriteFile(swagger, []byte(strings.Replace(string(code), "// @ts-nocheck", "", 1)), 0o644))
	w.must("node", filepath.Join(tools, "tsc"), "-p", ".")
}
