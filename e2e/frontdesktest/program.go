package frontdesktest

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"
)

// Program is a program other than a gateway that a test needs beside it.
type Program struct {
	cmd *exec.Cmd
	log *syncBuffer
}

// StartProgram runs a program, and whatever it starts itself, until the test ends.
// install names the package that has it.
func StartProgram(t testing.TB, install string, environment []string, name string, args ...string) *Program {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name) // where it is on Debian, and not everybody looks
	}
	if err != nil {
		t.Fatalf("this test needs %s: apt-get install %s, or the like", name, install)
	}
	p := &Program{cmd: exec.Command(path, args...), log: &syncBuffer{}}
	p.cmd.Env = environment
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // nginx's workers would outlive it
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it is gone either way
		p.cmd.Wait()                                      //nolint:errcheck // killed is what it was
		if t.Failed() {
			t.Logf("%s said:\n%s", fmt.Sprint(name, " ", args), p.log)
		}
	})
	return p
}

// Log is what the program has said so far.
func (p *Program) Log() string { return p.log.String() }
