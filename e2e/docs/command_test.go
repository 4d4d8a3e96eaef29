package docs_test

import (
	"errors"
	"frontdesk/e2e/frontdesktest"
	"io"
	"os/exec"
	"sync/atomic"
	"time"
)

// errSilent is the error of a command that has written nothing for frontdesktest.Patience.
var errSilent = errors.New("the command wrote nothing for " + frontdesktest.Patience.String())

// runCommand runs a command for as long as it makes progress, which shows in what it writes to
// its Stdout and Stderr. It kills a command that is silent for frontdesktest.Patience.
func runCommand(cmd *exec.Cmd) error {
	var silent atomic.Bool
	watch := time.AfterFunc(frontdesktest.Patience, func() {
		silent.Store(true)
		cmd.Cancel() //nolint:errcheck // it may have ended meanwhile
	})
	defer watch.Stop()
	same := cmd.Stderr == cmd.Stdout
	cmd.Stdout = &progressWriter{cmd.Stdout, watch}
	if same {
		cmd.Stderr = cmd.Stdout
	} else {
		cmd.Stderr = &progressWriter{cmd.Stderr, watch}
	}
	err := cmd.Run()
	if silent.Load() {
		return errSilent
	}
	return err
}

// progressWriter postpones the end of a command's patience at each write.
type progressWriter struct {
	to    io.Writer
	watch *time.Timer
}

func (w *progressWriter) Write(p []byte) (int, error) {
	w.watch.Reset(frontdesktest.Patience)
	return w.to.Write(p)
}
