package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/store/remote"
)

// ErrUsage says that the command line was wrong.
var ErrUsage = errors.New("bad command line")

// ErrSilent ends a command with its exit code when everything has been said.
var ErrSilent = errors.New("failed")

// The exit codes.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2   // the command line was wrong, or the name ambiguous
	ExitNotFound    = 3   // there is no such session, file or turn
	ExitLocked      = 4   // another program writes to the session
	ExitInterrupted = 130 // Ctrl-C, as in shells: 128 + SIGINT
)

// Outcomes maps errors to exit codes and to what a person can do next; the first
// match counts. {cmd} is the command, {session} the ID of the session if the error says it.
var Outcomes = []struct {
	Err  error
	code int
	hint string
}{
	{context.Canceled, ExitInterrupted, ""},
	{ErrUsage, ExitUsage, "see: {cmd} --help"},
	{skein.ErrAmbiguous, ExitUsage, "write more of the ID or title of the one you mean"},
	{skein.ErrLocked, ExitLocked, "wait until it is done, or work on a copy: skein fork {session}"},
	{skein.ErrFenced, ExitLocked, "what was stored before that is safe; see what is new with: skein show {session} --last 5"},
	{llm.ErrDenied, ExitFailed, "check the API key, and whether it may use this model"},
	{llm.ErrTooLong, ExitFailed, "shorten the prompt, put the text into a file for the agent to read, or use a model with a larger context"},
	{llm.ErrBusy, ExitFailed, "try again later with: skein continue"},
	{llm.ErrCut, ExitFailed, "try again with: skein continue"},
	{llm.ErrNoWay, ExitFailed, "check that the network and the server are up, then try again with: skein continue"},
	{llm.ErrModel, ExitUsage, "see which models the provider has, and name one: --model PROVIDER:MODEL"},
	{llm.ErrRequest, ExitFailed, "correct what the provider reports, or use another model: --model PROVIDER:MODEL"},
	{skein.ErrNewer, ExitFailed, "install a newer skein, or name another store with --store; this one was not changed"},
	{skein.ErrDeleted, ExitFailed, "the session was deleted for good; use another ID, or bring it back with: skein import --again PATH"},
	{skein.ErrMismatch, ExitFailed, "use another client ID for other content; nothing was changed"},
	{skein.ErrConflict, ExitFailed, "look at what is new with: skein show {session} --last 5"},
	{skein.ErrExists, ExitFailed, "see all sessions: skein list --all"},
	{skein.ErrRefused, ExitFailed, "see: {cmd} --help"},
	{skein.ErrCorrupt, ExitFailed, "see what is damaged, and what can be repaired: skein doctor"},
	{skein.ErrAway, ExitFailed, "check that the database is running and can be reached, then try again"},
	{skein.ErrReadOnly, ExitFailed, "get permission to write there, or name another store with --store"},
	{skein.ErrFull, ExitFailed, "make room on the disk; this change was not stored, everything else is safe"},
	{skein.ErrUnknown, ExitFailed, "check whether it was stored, or try again with the same --id, which stores nothing twice"},
	{skein.ErrReplaced, ExitFailed, "put the former file back; or, to continue without it, stop the programs that have it open (skein serve) and move its write-ahead log away (FILE-wal, FILE-shm)"},
	{remote.ErrUnreachable, ExitFailed, "check the network, and that skein serve is running at that address"},
	{remote.ErrToken, ExitFailed, "check that it is the right token and has not expired, on the server's machine: skein token list"},
	{remote.ErrAdmin, ExitFailed, "make a token that may, on the server's machine: skein token add NAME --scope admin,read:raw"},
	{remote.ErrForbidden, ExitFailed, "make a token that may, on the server's machine: skein token add NAME --scope write,read:raw"},
	{remote.ErrVersion, ExitFailed, "check the address, and install the same version of skein on both sides"},
	{skein.ErrInvalid, ExitUsage, "see: {cmd} --help"},
	{skein.ErrNotFound, ExitNotFound, "see all sessions: skein list --all"},
}

// CutShort are the kinds of errors with which an interruption can end what was under way;
// all others say what a command found out.
var CutShort = []error{
	context.Canceled, skein.ErrInvalid, skein.ErrUnknown, skein.ErrAway, remote.ErrUnreachable, llm.ErrBusy, llm.ErrCut, llm.ErrNoWay,
}

// An AdvisedError is an error with its own advice instead of the table's.
type AdvisedError struct {
	Err  error
	Hint string
}

// Error implements error.
func (a *AdvisedError) Error() string { return a.Err.Error() }

// Unwrap returns the error without its advice.
func (a *AdvisedError) Unwrap() error { return a.Err }

// Advise returns err with advice on what to do next.
//
// The error wraps err.
func Advise(err error, format string, args ...any) error {
	return &AdvisedError{err, fmt.Sprintf(format, args...)}
}

// Usage returns an error that says what is wrong with the command line.
func Usage(format string, args ...any) error {
	return &StatedError{fmt.Sprintf(format, args...), ErrUsage}
}

// Missing returns an error that says what does not exist.
func Missing(format string, args ...any) error {
	return &StatedError{fmt.Sprintf(format, args...), skein.ErrNotFound}
}

// Open opens a file that a person named for reading.
//
// The error wraps [skein.ErrNotFound] if there is no such file; others are the
// system's.
func Open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Advise(Missing("there is no file %s", path), "see whether the name is right, and whether the folder is there")
	}
	return f, err
}

// A StatedError is an error whose text is complete: its kind adds no words.
type StatedError struct {
	Text string
	Kind error
}

// Error implements error.
func (t *StatedError) Error() string { return t.Text }

// Unwrap returns the kind of the error.
func (t *StatedError) Unwrap() error { return t.Kind }

// Outcome returns the exit code of err and what to do next, "" if there is no
// advice. cmd is the command as a person types it.
func Outcome(err error, cmd string) (code int, hint string) {
	code = ExitFailed
	for _, o := range Outcomes {
		if errors.Is(err, o.Err) {
			code, hint = o.code, strings.NewReplacer("{cmd}", cmd, "{session}", sessionOf(err)).Replace(o.hint)
			break
		}
	}
	if l := (*skein.LockedError)(nil); errors.Is(err, skein.ErrLocked) && !errors.As(err, &l) {
		hint = "" // the whole store is locked, and the error says by whom and what to do
	}
	if q := (*skein.QuotaError)(nil); errors.As(err, &q) {
		hint = "destroy sessions that you do not need (skein prune), or ask the administrator of the database to raise the limit: skein user set"
	}
	if hint == "" && code == ExitFailed {
		hint = systemHint(err)
	}
	if a := (*AdvisedError)(nil); errors.As(err, &a) {
		hint = a.Hint
	}
	return code, hint
}

// sessionOf returns the ID of the session that err is about; NAME if it does not say.
func sessionOf(err error) string {
	var locked *skein.LockedError
	var fenced *skein.FencedError
	var moved *skein.ConflictError
	id := skein.SessionID("")
	switch {
	case errors.As(err, &locked):
		id = locked.Session
	case errors.As(err, &fenced):
		id = fenced.Session
	case errors.As(err, &moved):
		id = moved.Session
	}
	return cmp.Or(string(id), "NAME")
}

// Sentence returns err in words for a person: the cause and what it is about,
// without the call path through our packages. The full text, err.Error(), is shown
// by --verbose and in logs.
func Sentence(err error) string {
	if errors.Is(err, skein.ErrFenced) {
		return "another program took this session over, so nothing more was stored here"
	}
	return once(plainly(skein.Reason(err), err))
}

// once returns text without lines that were there before: what failed in several ways
// for one reason is said once.
func once(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// FlagText says what is wrong with a flag, in the style of our own checks.
func FlagText(err error) string {
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
	if of := flagGroup().FindStringSubmatch(err.Error()); of != nil {
		return groupText(strings.Fields(of[1]), strings.Fields(of[2]))
	}
	return err.Error()
}

// flagGroup matches what cobra says of flags that belong together, or exclude each
// other: all of them, then those that are missing.
var flagGroup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^if any flags in the group \[(.*?)\] are set (?:they must all be set; missing \[(.*)\]|none of the others can be)`)
})

// groupText says what is wrong with flags that belong together, of which some are
// missing, or that exclude each other.
func groupText(group, missing []string) string {
	if len(missing) == 0 {
		return listed(group) + ": want one of them"
	}
	return fmt.Sprintf("%s belong together: %s is missing", listed(group), listed(missing))
}

// listed returns flags as a list.
func listed(names []string) string {
	text := "--" + names[0]
	for i, n := range names[1:] {
		sep := ", "
		if i == len(names)-2 {
			sep = " and "
		}
		text += sep + "--" + n
	}
	return text
}

// wanted says what a flag's value must be.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64", "uint64":
		return "want a whole number"
	case "intSlice", "int64Slice":
		return "want whole numbers, such as 3,4"
	case "float64":
		return "want a number"
	case "duration":
		return "want a time like 500ms, 10s or 2m"
	case "bool":
		return "want true or false"
	}
	return "want a " + f.Value.Type()
}
