package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/store/remote"
)

// errUsage says that the command line was wrong.
var errUsage = errors.New("bad command line")

// errSilent ends a command with its exit code when everything has been said.
var errSilent = errors.New("failed")

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2   // the command line was wrong, or the name ambiguous
	exitNotFound    = 3   // there is no such session, file or turn
	exitLocked      = 4   // another program writes to the session
	exitInterrupted = 130 // Ctrl-C, as in shells: 128 + SIGINT
)

// outcomes maps errors to exit codes and to what a person can do next; the first
// match counts. {cmd} is the command.
var outcomes = []struct {
	err  error
	code int
	hint string
}{
	{context.Canceled, exitInterrupted, ""},
	{errUsage, exitUsage, "see: {cmd} --help"},
	{skein.ErrAmbiguous, exitUsage, "write more of the ID or title of the one you mean"},
	{skein.ErrLocked, exitLocked, "wait until it is done, or work on a copy: skein fork NAME"},
	{skein.ErrFenced, exitLocked, "what was stored before that is safe; see what is new with: skein show NAME --last 5"},
	{llm.ErrDenied, exitFailed, "look at the key, and at whether it may use this model"},
	{llm.ErrTooLong, exitFailed, "say less at once, put it into a file for the agent to read, or take a model that can read more"},
	{llm.ErrBusy, exitFailed, "try again later: skein continue takes the prompt up"},
	{llm.ErrCut, exitFailed, "try again: skein continue takes the prompt up"},
	{llm.ErrNoWay, exitFailed, "see whether the network is there and the server runs, then: skein continue takes the prompt up"},
	{llm.ErrModel, exitUsage, "see which models the provider has, and name one: --model PROVIDER:MODEL"},
	{llm.ErrRequest, exitFailed, "what the provider says is wrong has to change first; to let another model answer: --model PROVIDER:MODEL"},
	{skein.ErrNewer, exitFailed, "install the newer skein, or name another store with --store; this one was not touched"},
	{skein.ErrDeleted, exitFailed, "it was deleted for good; use another ID, or bring it back with: skein import --again PATH"},
	{skein.ErrMismatch, exitFailed, "use another client ID for other content; nothing was changed"},
	{skein.ErrConflict, exitFailed, "look at what is new with: skein show NAME --last 5"},
	{skein.ErrExists, exitFailed, "see what is there: skein list --all"},
	{skein.ErrRefused, exitFailed, "see: {cmd} --help"},
	{skein.ErrCorrupt, exitFailed, "see what is damaged, and what can be mended: skein doctor"},
	{skein.ErrAway, exitFailed, "see whether the database runs and can be reached, then try again"},
	{skein.ErrReadOnly, exitFailed, "give yourself the right to write there, or name another store with --store"},
	{skein.ErrFull, exitFailed, "make room on the disk; nothing of this was stored, all else is safe"},
	{skein.ErrUnknown, exitFailed, "look whether it is there, or try again with the same --id: nothing is stored twice"},
	{skein.ErrReplaced, exitFailed, "put the former file back; or, to go on with what is there now, stop what has the former one open (skein serve) and move its log away (FILE-wal, FILE-shm)"},
	{remote.ErrUnreachable, exitFailed, "see whether the network is there and skein serve runs at that address"},
	{remote.ErrToken, exitFailed, "see whether it is the right one, and has not expired: skein token list, where the server is"},
	{remote.ErrForbidden, exitFailed, "make a token that may, where the server is: skein token add NAME --scope write,read:raw"},
	{remote.ErrVersion, exitFailed, "see whether it is the right address, and install the same version of skein on both sides"},
	{skein.ErrInvalid, exitUsage, "see: {cmd} --help"},
	{skein.ErrNotFound, exitNotFound, "see what there is: skein list --all"},
}

// cutShort are the kinds of errors with which an interruption can end what was under way;
// all others say what a command found out.
var cutShort = []error{
	context.Canceled, skein.ErrInvalid, skein.ErrUnknown, skein.ErrAway, remote.ErrUnreachable, llm.ErrBusy, llm.ErrCut, llm.ErrNoWay,
}

// An advised is an error with its own advice instead of the table's.
type advised struct {
	err  error
	hint string
}

func (a *advised) Error() string { return a.err.Error() }
func (a *advised) Unwrap() error { return a.err }

// advise returns err with advice on what to do next.
func advise(err error, format string, args ...any) error {
	return &advised{err, fmt.Sprintf(format, args...)}
}

// usagef returns an error that says what is wrong with the command line.
func usagef(format string, args ...any) error {
	return &told{fmt.Sprintf(format, args...), errUsage}
}

// flagText says what is wrong with a flag, in the style of our own checks.
func flagText(err error) string {
	var value *pflag.InvalidValueError
	var needs *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		return fmt.Sprintf("--%s %q: %s", value.GetFlag().Name, value.GetValue(), wanted(value.GetFlag()))
	case errors.As(err, &needs):
		return fmt.Sprintf("--%s needs a value", needs.GetFlag().Name)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == unknown.GetSpecifiedName():
		return fmt.Sprintf("no flag -%s", unknown.GetSpecifiedName())
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Sprintf("no flag -%s in -%s", unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		return fmt.Sprintf("no flag --%s", unknown.GetSpecifiedName())
	}
	return err.Error()
}

// wanted says what a flag's value must be.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64", "uint64":
		return "want a whole number"
	case "float64":
		return "want a number"
	case "duration":
		return "want a time like 500ms, 10s or 2m"
	case "bool":
		return "want true or false"
	}
	return "want a " + f.Value.Type()
}

// missing returns an error that says what does not exist.
func missing(format string, args ...any) error {
	return &told{fmt.Sprintf(format, args...), skein.ErrNotFound}
}

// A told is an error whose text is complete: its kind adds no words.
type told struct {
	text string
	kind error
}

func (t *told) Error() string { return t.text }
func (t *told) Unwrap() error { return t.kind }

// outcome returns the exit code of err and what to do next, "" if there is no
// advice. cmd is the command as a person types it.
func outcome(err error, cmd string) (code int, hint string) {
	code = exitFailed
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			code, hint = o.code, strings.ReplaceAll(o.hint, "{cmd}", cmd)
			break
		}
	}
	if l := (*skein.LockedError)(nil); errors.Is(err, skein.ErrLocked) && !errors.As(err, &l) {
		hint = "" // the whole store is locked, and the error says by whom and what to do
	}
	if q := (*skein.QuotaError)(nil); errors.As(err, &q) {
		hint = "destroy what is not needed (skein prune), or let who runs the database give you more: skein user set"
	}
	if a := (*advised)(nil); errors.As(err, &a) {
		hint = a.hint
	}
	return code, hint
}
