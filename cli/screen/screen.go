package screen

import (
	"context"
	"errors"
	"time"

	"github.com/skein-dev/skein/cli/prose"
)

// ErrLeft says that the person has left: by Ctrl-D, or by Ctrl-C twice.
var ErrLeft = errors.New("the person has left")

// A Screen is where a conversation takes place. Its methods may be called by
// several goroutines; they never wait for the person, but Read and Ask.
type Screen interface {
	// Read returns what the person says next, without space around it; never
	// "". The error is [ErrLeft], that of ctx, or the terminal's; at the end
	// of a pipe io.EOF.
	Read(ctx context.Context) (string, error)

	// Print shows text, which may have colours, on lines of its own.
	Print(text string)

	// Note is Print for what is no answer: through a pipe it goes elsewhere.
	Note(text string)

	// Say shows the next piece of an answer in Markdown.
	Say(piece string)

	// Said ends the answer.
	Said()

	// Begin says that the person waits from now on. When they want it to
	// stop, stop is called, once. What goes on is told by Work.
	Begin(stop func())

	// Work says what the person waits for.
	Work(w Work)

	// End says that the person need not wait any longer. It reports whether
	// they want to leave.
	End() (left bool)

	// Ask puts a question. The answer is the Value of one of its choices.
	// Errors are those of Read.
	Ask(ctx context.Context, q Question) (string, error)

	// Prefill puts text where the person types.
	Prefill(text string)

	// Close gives the terminal back as it was. Errors are the terminal's.
	Close() error
}

// Work is what a person waits for.
type Work struct {
	Doing  string // such as: thinking, or what a tool does
	Detail string // the newest line of what comes of it; "" for none
	Tokens int64  // that have come so far; 0 if not known
}

// A Question is something that only the person can decide.
type Question struct {
	Text    string // what is asked; may have several lines, and colours
	Choices []Choice
}

// A Choice is an answer to a Question.
type Choice struct {
	Key   rune   // that chooses it
	Label string // such as: yes, always in this project
	Value string // never ""
}

// A Completion is what the word before the cursor may become.
type Completion struct {
	From  int // byte of the text where that word begins
	Words []Word
}

// A Word is one thing that a word may become.
type Word struct {
	Text  string // in place of the word
	About string // what it is; "" if that is clear
}

// Options say how to open a Screen. Its zero value will do.
type Options struct {
	Paint   prose.Paint
	History *History // nil for none

	// Complete returns what may stand before byte at of text. It is called
	// while Read waits, and must not use the Screen. Nil: nothing.
	Complete func(text string, at int) Completion

	// Open is called when the person wants to see the whole of what was cut
	// short (Ctrl-O), and prints it; by another goroutine, but not before the
	// first Read. Nil: nothing was.
	Open func()

	Now func() time.Time // nil is time.Now
}
