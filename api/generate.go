// Package api is the public contract in Go: the request and response types, the
// server interface and its routes. All of it except this file is generated from
// openapi.yaml, which documents the fields. Only handlers imports it.
package api

import _ "embed"

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml ../openapi.yaml

// JSON is openapi.yaml as JSON, which is read in half the time. TestContractAsJSON writes it.
//
//go:embed openapi.json
var JSON []byte
