# make run: the mock back end on http://localhost:8080.  make test: everything that must hold.
LINT = go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
.PHONY: run test tools generate

run:
	go run .

test: tools
	go vet ./...
	$(LINT) run
	go test -race ./...

tools: # what the tests need and the machine may lack
	@.ci/tools

generate: # api/ from openapi.yaml
	go generate ./api
