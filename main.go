// Frontdesk is the back end of a fitness club's signup website and app; see
// README.md. This file embeds the files that the binary carries, and runs the
// command line, which is package cmd.
package main

import (
	"embed"
	"io/fs"

	"frontdesk/cmd"
)

//go:embed openapi.yaml
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
		Contract: contract,
		Events:   events,
		Site:     sub(site, "web-example"),
		Client:   sub(client, "client"),
		Examples: sub(examples, "docs/examples"),
	})
}

func sub(files embed.FS, folder string) fs.FS {
	tree, err := fs.Sub(files, folder)
	if err != nil {
		panic(err) // the folder's name is malformed
	}
	return tree
}
