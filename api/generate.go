// Package api is the public contract in Go: the request and response types, the
// server interface and its routes. All of it except this file is generated from
// openapi.yaml, which documents the fields. Only handlers imports it.
package api

// A list that can grow has constants like a closed one: clients must expect values that they do not know, the gateway has none.
//
//go:generate sh -c "sed s/x-extensible-enum:/enum:/ ../openapi.yaml > closed.yaml"
//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml closed.yaml
//go:generate rm closed.yaml
