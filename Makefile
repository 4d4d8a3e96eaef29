# make run: the mock back end on http://localhost:8080.  make test: everything that must hold.
# make campaign: the long form of the campaigns of faults, about half an hour, for docs/reliability.md.
LINT = go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
.PHONY: run test tools generate campaign

run:
	go run .

test: tools
	go vet ./...
	$(LINT) run
	go test -race ./...

tools: # what the tests need and the machine may lack
	@.ci/tools

generate: tools # from openapi.yaml: the contract in Go, and as types of the signup site
	go generate ./api
	e2e/web/node_modules/.bin/openapi-typescript openapi.yaml --default-non-nullable=false --output web-example/openapi.d.ts

campaign: tools
	mkdir -p artefacts docs
	go build -o artefacts/campaigns ./e2e/campaign/run
	artefacts/campaigns all --out artefacts/campaigns.json; found=$$?; \
	artefacts/campaigns document artefacts/campaigns.json > docs/reliability.md && exit $$found
