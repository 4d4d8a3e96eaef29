// Frontdesk is the back end of a fitness club's signup website and app; see
// README.md. This file embeds the files that the binary carries, and runs the
// command line, which is package cmd.
package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"io/fs"

	"frontdesk/cmd"
)

// Without compression, the contract would be a hundredth of the binary.
//
//go:embed openapi.yaml.gz
var contract []byte

//go:embed asyncapi.yaml
var events []byte

// The site without what only its developers need: types, editor settings, a README.
//
//go:embed web-example/*.html web-example/*.css web-example/*.svg web-example/*.js web-example/views
var site embed.FS

// The client without types, and without what the site does not use of it.
//
//go:embed client/*.js
var client embed.FS

//go:embed docs/examples
var examples embed.FS

func main() {
	cmd.Execute(cmd.Assets{
		Contract: unpacked(contract),
		Events:   events,
		Site:     sub(site, "web-example"),
		Client:   sub(client, "client"),
		Examples: sub(examples, "docs/examples"),
	})
}

func unpacked(file []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		panic(err) // the embedded file is not compressed
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		panic(err) // as above
	}
	return text
}

func sub(files embed.FS, folder string) fs.FS {
	tree, err := fs.Sub(files, folder)
	if err != nil {
		panic(err) // the folder's name is malformed
	}
	return tree
}
