package screen

import (
	"context"
	"errors"
	"time"

	"github.com/skein-dev/skein/cli/prose"
)

// ErrLeft says that the person has left: by Ctrl-D, or by Ctrl-C twice.
var ErrLeft = errors.New("the person has left")

// A Screen is where a conversation takes place. Its methods are safe for concurrent
// use; only Read and Ask wait for the person.
type Screen interface {
	// Read returns what the person says next, without space around it; never "". The
	// error is [ErrLeft], that of ctx, or the terminal's; at the end of a pipe io.EOF.
	Read(ctx context.Context) (string, error)

	// Print shows text, which may contain colors, on lines of its own.
	Print(text string)

	// Note is Print for text that is not an answer: a [PlainScreen] writes it to Streams.Err.
	Note(text string)

	// Say shows the next piece of an answer in Markdown.
	Say(piece string)

	// Said ends the answer.
	Said()

	// Begin says that the person waits from now on. If they want to stop the work, stop
	// is called once. Work says what is going on.
	Begin(stop func())

	// Work says what the person waits for.
	Work(w Busy)

	// End says that the person need not wait any longer. It reports whether
	// they want to leave.
	End() (left bool)

	// Ask asks a question. It returns the Value of one of the choices. Errors are those
	// of Read.
	Ask(ctx context.Context, q Question) (string, error)

	// Prefill puts text into the editor, before what is being typed there.
	Prefill(text string)

	// Unread returns what the person has typed and Read has not returned, the line
	// that is not finished last, and forgets it. What is still in a pipe is not read.
	Unread() []string

	// Close restores the terminal. Errors are the terminal's.
	Close() error
}

// Busy is what a person waits for.
type Busy struct {
	Doing  string // such as: thinking, or what a tool does
	Detail string // the newest line of its output; may be ""
	Tokens int64  // received so far; 0 if not known
}

// A Question is something that only the person can decide.
type Question struct {
	Text    string // may have several lines, and colors
	Choices []Choice
}

// A Choice is an answer to a Question.
type Choice struct {
	Key   rune   // the key that chooses it
	Label string // such as: yes, always in this project
	Value string // never ""
}

// A Completion is the possible completions of the word before the cursor.
type Completion struct {
	From  int // byte offset at which that word begins
	Words []Word
}

// A Word is one completion.
type Word struct {
	Text  string // replaces the word
	About string // its description; may be ""
}

// Options are the settings of a Screen. The zero value is ready to use.
type Options struct {
	Paint   prose.Paint
	History *History // nil for none

	// Complete returns the completions at byte at of text. It is called while Read
	// waits, and must not use the Screen. It may be nil.
	Complete func(text string, at int) Completion

	// Open is called when the person wants to see in full what was cut short (Ctrl-O),
	// and prints it. It is called by another goroutine, but not before the first Read.
	// It may be nil.
	Open func()

	Now func() time.Time // nil means time.Now
}
