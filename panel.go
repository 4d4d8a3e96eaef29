package main

import (
	"io/fs"

	"frontdesk/handlers"
	"frontdesk/handlers/panel"
)

// site is the signup site, with the panel where there is one, and what the panel
// wants to hear.
func (cfg Config) site(beside *panel.Panel) (pages fs.FS, answered func(handlers.Answer), err error) {
	if pages, err = fs.Sub(site, "web-example"); err != nil || beside == nil {
		return pages, nil, err
	}
	pages, err = panel.Site(pages)
	return pages, beside.Note, err
}
