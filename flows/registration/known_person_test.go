package registration_test

import (
	"frontdesk/upstream/clubsim"
)

// uniqueEmail sets which contacts may have an e-mail address that another one has.
func (w *world) uniqueEmail(setting string) {
	w.Helper()
	if err := w.Sim.Configure(func(settings *clubsim.Settings) { settings.UniqueEmail = setting }); err != nil {
		w.Fatal(err)
	}
}
