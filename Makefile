# make run: the mock back end on http://localhost:8080.
# make test: what to run on every change: vet, all tests outside e2e with the race detector (except a dozen that
#   repeat one thing many times), and the main journeys through the real binary, a real Redis and a real Chromium.
#   About four minutes on two cores, and less where Go has cached results.
# make check: the rest: linters, linters of the contract, every journey, screen and attack, executed documentation,
#   the image, licences, and short fault campaigns. About eleven minutes on two cores.
# make image: the image frontdesk, with docker, podman or buildah, and its bill of materials, artefacts/frontdesk.cdx.json.
# make client: the package of the typed client, artefacts/frontdesk-client-VERSION.tgz.
# make release-snapshot: what a release of this commit publishes, but for the image: archives, checksums and bills of materials
#   in artefacts/release, npm packages, with the client, in artefacts/npm. make release publishes a tag; .github/workflows/release.yml runs it.
# make bench: whole journeys, crowds, streams and starts, in one table; fails when a threshold is missed.
#   What one process can measure is a Go benchmark in the code's package: go test -run '^$' -bench . -count 10 ./handlers
# make campaign: the long form of the fault campaigns, two to three hours on two cores, into docs/explanation/reliability.txt.
#   It continues a run of the same commit that was interrupted.

# golangci-lint includes gosec. On its own, gosec finds nothing more and takes as long again:
# go run github.com/securego/gosec/v2/cmd/gosec@v2.24.7 -exclude-generated -exclude-dir=e2e ./...
LINT = go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
# goreleaser looks at the commit only where the repository has a remote; this one is used where there is none.
GORELEASER = GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/frontdesk/frontdesk \
  go run github.com/goreleaser/goreleaser/v2@v2.16.0
.PHONY: run test check contract tools image client release release-snapshot generate campaign bench

# -count=1: Go caches results without regard to the binary that these tests run.
# -timeout ends a hang, and says where, before CI's 90 minutes are over; a busy machine takes several times as long as an idle one.
E2E = go test -count=1 -timeout 40m
# LONG tests repeat one thing, often thousands of times: a decision of the protocol, in another state each time; a payment,
# with another message broken each time; and a request, from another address, as another caller or with other headers each
# time. The race detector would take several times as long over them, and sees the same code in other tests.
LONG = ^(TestWalk|TestDecisionsAreExplained|TestAllowedIsNext|TestRefusingRoute|TestWipe|TestEveryMessageBreaks|TestSettlementBreaks|TestRedisForgets|TestLossInsideARebuild|TestManyAddresses|TestAuthorisationMatrix|TestAuthorisationMatrixOfExpiredAndForeign|TestCachedResponseEqualsTheRouters)$$
MAIN = ^(TestJourneys|TestVisitorBecomesMember|TestDirectDebit|TestTwoGatewaysUnderConcurrentPayment)$$

run:
	go run -buildvcs=true . # with the commit, for frontdesk version

test:
	@.ci/tools test
	go vet ./...
	go test -race -p 3 -parallel 8 -timeout 40m -skip '$(LONG)' $$(go list ./... | grep -v /e2e)
	go test -parallel 8 -timeout 40m -run '$(LONG)' ./flows/payment/... ./handlers
	FULL_CHROMIUM=1 $(E2E) -parallel 4 -run '$(MAIN)' ./e2e/journey ./e2e/site

check: tools contract
	$(LINT) run
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	$(GORELEASER) check
	$(E2E) -p 3 -parallel 4 -skip '$(MAIN)' ./e2e/site ./e2e/docs ./e2e/... # the longest first, and more of them than cores, because many wait

contract: tools # linters of openapi.yaml and asyncapi.yaml, with the exceptions of e2e/web/spectral*.yaml, and a comparison with the contract that was released last, but for what only a processor saw (oasdiff-ignore.txt)
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true e2e/web/node_modules/.bin/redocly lint openapi.yaml --skip-rule operation-4xx-response # see problems-are-the-default in e2e/web/spectral.yaml
	e2e/web/node_modules/.bin/spectral lint openapi.yaml --ruleset e2e/web/spectral.yaml --fail-severity hint
	e2e/web/node_modules/.bin/spectral lint asyncapi.yaml --ruleset e2e/web/spectral-asyncapi.yaml --fail-severity hint
	go run github.com/oasdiff/oasdiff@v1.37.0 breaking e2e/web/testdata/openapi.yaml openapi.yaml --fail-on WARN --severity-levels e2e/web/oasdiff.txt --err-ignore e2e/web/oasdiff-ignore.txt

image: VERSION = $(shell git describe --tags --always --dirty)
image: BUILDER = $(firstword $(foreach tool,docker podman buildah,$(shell command -v $(tool))))
image:
	@test -n "$(BUILDER)" || { echo "An image is built with docker, podman or buildah; install one." >&2; exit 1; }
	$(BUILDER) build $(if $(findstring buildah,$(BUILDER))$(findstring podman,$(BUILDER)),--format docker) --build-arg VERSION=$(VERSION) -t frontdesk .
	mkdir -p artefacts
	CGO_ENABLED=0 GOOS=linux go build -trimpath -o artefacts/frontdesk .
	go run ./e2e/sbom artefacts/frontdesk $(VERSION) > artefacts/frontdesk.cdx.json

client: VERSION = $(shell git describe --tags --match 'v*' 2>/dev/null || echo 0.0.0-$$(git rev-parse --short HEAD))
client: e2e/web/node_modules
	node client/pack.mjs $(VERSION:v%=%) artefacts

release-snapshot: SKIP = --skip=docker
release-snapshot: e2e/web/node_modules
	$(GORELEASER) release --snapshot --clean $(SKIP)
	node npm/pack.mjs artefacts/release artefacts/npm

release: TAG = $(shell git describe --tags --exact-match)
release: e2e/web/node_modules # its notes are the tag's list in CHANGELOG.md
	@mkdir -p artefacts
	awk '/^## \[/ { listed = index($$0, "[$(TAG:v%=%)]") } listed' CHANGELOG.md > artefacts/notes.md && test -s artefacts/notes.md
	$(GORELEASER) release --clean --release-notes artefacts/notes.md
	node npm/pack.mjs artefacts/release artefacts/npm

e2e/web/node_modules: # the compiler of TypeScript, for the client
	npm ci --prefix e2e/web --silent --no-audit --no-fund

tools: # what the tests need and the machine may lack
	@.ci/tools

generate: tools # from openapi.yaml: the contract in Go, and the types of the client; the pages below /docs; docs/reference/{configuration,cli,problems}.md
	node e2e/web/types.mjs openapi.yaml client/openapi.d.ts
	go generate ./api ./handlers ./handlers/docs ./cmd

campaign: tools
	mkdir -p artefacts
	go build -o artefacts/campaigns ./e2e/campaign/run
	artefacts/campaigns all --out artefacts/campaigns.yaml; found=$$?; \
	artefacts/campaigns document artefacts/campaigns.yaml > docs/explanation/reliability.txt && exit $$found

bench: tools
	@mkdir -p artefacts
	go build -o artefacts/bench ./e2e/bench
	artefacts/bench $(ROWS)
