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

// Site returns the site with one line more in its index.html. It fails without a </head> there.
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

// Open implements fs.FS.
func (s withPanel) Open(name string) (fs.File, error) {
	file, err := s.FS.Open(name)
	if err != nil || name != index {
		return file, err
	}
	return pageFile{file, bytes.NewReader(s.page)}, nil
}

// pageFile is a file with other content.
type pageFile struct {
	fs.File
	*bytes.Reader
}

// Read implements fs.File.
func (f pageFile) Read(p []byte) (int, error) { return f.Reader.Read(p) }

// Stat implements fs.File.
func (f pageFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return pageInfo{info, f.Size()}, err
}

type pageInfo struct {
	fs.FileInfo
	size int64
}

// Size implements fs.FileInfo.
func (i pageInfo) Size() int64 { return i.size }
