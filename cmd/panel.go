package cmd

import (
	"io/fs"

	"frontdesk/handlers"
	"frontdesk/handlers/devtools"
)

// site is the signup site, with the panel where there is one, and what the panel
// wants to hear.
func (cfg Config) site(beside *devtools.Panel) (pages fs.FS, answered func(handlers.RequestInfo), err error) {
	if pages = assets.Site; beside == nil {
		return pages, nil, nil
	}
	pages, err = devtools.Site(pages)
	return pages, beside.Record, err
}
