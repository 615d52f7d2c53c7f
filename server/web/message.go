package web

import (
	"html/template"

	"github.com/skein-dev/skein"
)

// item is a piece of a transcript: a message, a mark between two, or the end of
// a turn. One of its fields is set.
type item struct {
	Message *message
	Mark    *mark
	Turn    *turnEnd
}

// message is one as the page shows it.
type message struct {
	Seq         skein.Seq
	Class       string // of our own words
	Who         string
	Turn        int // 0 if none begins here
	Model       string
	Time        skein.Time
	Used        string // tokens and cost, for people
	Blocks      []block
	Error       string
	Interrupted bool
	Same        bool      // the message before is by the same speaker
	Fork        skein.Seq // where to fork to keep it and what tools answered
}

// block is a part of a message. Which fields are set depends on Kind.
type block struct {
	Kind  string        // text, reasoning, summary, program, call, file, raw, agent
	Title string        // the line that stays when it is folded
	HTML  template.HTML // of text, from package render
	Code  template.HTML // of what stands in a pre
	Rest  int           // bytes that are not shown
	Call  *call
	Image string // where its bytes are; "" if it is none that is shown
}

// call is a tool call with its answer.
type call struct {
	ID      string
	Seq     skein.Seq // of its message
	Name    string
	Gist    string
	Title   string // as the tool said
	State   string // completed, error, running, pending, uncertain, open
	Class   string // good, bad, warn or ""
	Start   skein.Time
	Took    string
	Short   []field
	Long    []field
	Output  []field
	Extent  string // how much it answered
	Images  []block
	Child   *child
	Anchors []skein.Seq // messages that its answers stood in
}

// Unfold reports whether the call is shown unfolded: it is a change of some
// lines, which people want to see.
func (c *call) Unfold() bool {
	for i := range c.Long {
		if c.Long[i].Diff && len(c.Long[i].Code) < maxUnfold {
			return true
		}
	}
	return false
}

// maxUnfold is how long a change may be that is shown unfolded, in bytes of
// HTML.
const maxUnfold = 6 << 10

// field is a piece of a tool's input or output.
type field struct {
	Name  string
	Value string        // of a short one
	Code  template.HTML // of a long one
	Diff  bool
	Rest  int // bytes that are not shown
}

// child is a session that a call started.
type child struct {
	ID       skein.SessionID
	Name     string
	Messages int
	Known    bool // it is stored here
}

// mark stands between messages.
type mark struct {
	Seq     skein.Seq
	Class   string // compacted, rewound, fork, note, error
	Text    string
	To      skein.Seq // the message that it speaks of; 0 for none
	Session skein.SessionID
	Title   string // of what is folded
	HTML    template.HTML
	Code    template.HTML
}

// turnEnd is what a turn used.
type turnEnd struct {
	N    int
	Used string
	Took string
	Part bool // only what this page has of it
	Fork skein.Seq
}
