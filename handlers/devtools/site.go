package devtools

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
)

// script brings the panel into a page. The page needs no more: its content
// security policy lets it load what comes from its own origin.
const script = `  <script type="module" src="/panel/panel.js"></script>` + "\n"

// index is the page that gets the panel.
const index = "index.html"

// Site is a site as it is, but for one line in its index.html.
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
	return &pageFile{File: file, Reader: bytes.NewReader(s.page)}, nil
}

// pageFile is a file with another content.
type pageFile struct {
	fs.File
	*bytes.Reader
}

// Read implements fs.File.
func (f *pageFile) Read(p []byte) (int, error) { return f.Reader.Read(p) }

// Stat implements fs.File.
func (f *pageFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return pageInfo{info, f.Size()}, err
}

type pageInfo struct {
	fs.FileInfo
	size int64
}

// Size implements fs.FileInfo.
func (i pageInfo) Size() int64 { return i.size }
