package transcript

import (
	"html/template"

	"github.com/skein-dev/skein"
)

// transcriptItem is a piece of a transcript: a message, a mark between two messages,
// the end of a turn, or the time. One of its fields is set.
type transcriptItem struct {
	Message *message
	Mark    *divider
	Turn    *turnEnd
	Clock   *clockMark
}

// message is a message as the page shows it.
type message struct {
	Seq         skein.Seq
	Class       string // chosen by us
	Who         string
	Turn        int // 0 if none begins here
	Model       string
	Time        skein.Time
	Used        string // tokens and cost, for people
	Blocks      []block
	Error       string
	Interrupted bool
	Same        bool      // same speaker as the message before
	Fork        skein.Seq // seq of a fork that keeps it and the results of its calls
}

// block is a part of a message. Which fields are set depends on Kind.
type block struct {
	Kind  string        // text, reasoning, summary, program, call, file, raw, agent
	Title string        // the line that stays when it is collapsed
	HTML  template.HTML // of text, from package render
	Code  template.HTML // the content of a pre
	Rest  int           // bytes that are left out
	Call  *call
	Image string // where its bytes are; "" if no picture is shown
}

// call is a tool call with its result.
type call struct {
	ID          string
	Seq         skein.Seq // of its message
	Kind        callKind
	Name        string
	Gist        string
	Title       string // given by the tool
	State       string // completed, error, running, pending, uncertain, open
	Class       string // good, bad, warn or ""
	Start       skein.Time
	Took        string
	Command     template.HTML // of a shell
	CommandRest int           // bytes of it that are left out
	Exit        string        // code that a shell ended with; "" if that is not known
	Diffs       []drawnDiff
	Tasks       []taskItem
	Asks        []question
	Link        string // of a web page; "" if it is none
	Told        bool   // the output says no more than what is drawn
	Short       []field
	Long        []field
	Output      []field
	Extent      string // length of the result
	Images      []block
	Child       *child
	Anchors     []skein.Seq // messages that its results were in

	path string // of the file that it reads
}

// Fell reports whether a command ended with another exit code than 0, though its tool
// did what it should.
func (c *call) Fell() bool {
	return c.Exit != "" && c.Exit != "0"
}

// Unfold reports whether the call is shown expanded: it is short, and people want to see
// it.
func (c *call) Unfold() bool {
	if len(c.Tasks) > 0 || len(c.Asks) > 0 {
		return true
	}
	size := 0
	for i := range c.Diffs {
		size += len(c.Diffs[i].Code)
	}
	return size > 0 && size < maxUnfold
}

// maxUnfold is the longest change that is shown expanded, in bytes of HTML.
const maxUnfold = 6 << 10

// field is a piece of a tool's input or output.
type field struct {
	Name  string
	Value string        // if it is short
	Code  template.HTML // if it is long
	Prose template.HTML // if it is Markdown
	Rest  int           // bytes that are left out
}

// child is a session that a call started.
type child struct {
	ID       skein.SessionID
	Name     string
	Messages int
	Known    bool // it is in this store
}

// divider is shown between messages.
type divider struct {
	Seq     skein.Seq
	Class   string // compacted, rewound, fork, note, error
	Text    string
	To      skein.Seq // the message that it refers to; 0 for none
	Session skein.SessionID
	Title   string // of the collapsed content
	HTML    template.HTML
	Code    template.HTML
}

// turnEnd is what a turn used.
type turnEnd struct {
	N    int
	Used string
	Took string
	Part bool // covers only the part of it on this page
	Fork skein.Seq
}
