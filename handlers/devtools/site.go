package devtools

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
)

// script loads the panel. The page's content security policy allows scripts of its own origin.
const script = `  <script type="module" src="/panel/panel.js"></script>` + "\n"

const index = "index.html"

// Site returns the site with one line more in its index.html, for fs.ReadFile. It fails without a </head> there.
func Site(site fs.FS) (fs.FS, error) {
	page, err := fs.ReadFile(site, index)
	if err != nil {
		return nil, err
	}
	before, after, found := strings.Cut(string(page), "</head>")
	if !found {
		return nil, errors.New("panel: the site's index.html has no </head>")
	}
	return withPanel{site, []byte(before + script + "</head>" + after)}, nil
}

// withPanel replaces the index page.
type withPanel struct {
	fs.FS
	page []byte
}

// ReadFile implements fs.ReadFileFS.
func (s withPanel) ReadFile(name string) ([]byte, error) {
	if name == index {
		return bytes.Clone(s.page), nil
	}
	return fs.ReadFile(s.FS, name)
}
