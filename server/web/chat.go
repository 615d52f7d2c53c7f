package web

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/skein-dev/skein"
)

// A Talker lets an agent answer in a session, on the server's machine.
type Talker interface {
	// Talk takes the lease of the session, says the text there, lets its agent
	// answer until it has no more to say, and gives the lease back. It reports
	// progress to t, from its own goroutine. When ctx ends, it stops; complete
	// messages are kept.
	//
	// The error wraps [skein.ErrLocked] if another program works on the
	// session, or says what is wrong with the agent, the model or the text.
	Talk(ctx context.Context, t *RunningTurn) error

	// Choices returns what a person who sees store can choose for a turn in a session,
	// which has no ID if it does not exist yet.
	Choices(ctx context.Context, store skein.Store, in *skein.Session) TurnChoices
}

// TurnChoices are the agents and models that a person can choose for a turn. Other names
// may work too.
type TurnChoices struct {
	Agents []AgentChoice
	Models []string
	Model  string // the one that answers if none is chosen; "" if that is not known
}

// An AgentChoice is an agent that can be chosen.
type AgentChoice struct{ Name, About string }

// A Question is something that a person must decide.
type Question struct {
	ID     string
	Text   string
	Always string      // what "always" would mean, such as "in this project"; "" if that is not offered
	Call   *skein.Call // the tool call that it is about; nil if it is about none
}

// A TurnFile is a file that a person attached to a message.
type TurnFile struct {
	Name string // without folders
	Data []byte
}

// The replies to a question.
const (
	Yes    = "yes" // only this time
	Always = "always"
	No     = "no"
)

// A RunningTurn is a running turn: what was said, and what is known of the answer
// before it is stored.
type RunningTurn struct {
	Session skein.SessionID // "" begins a new one
	From    skein.SessionID // that a new one is a fork of; "" for none
	At      skein.Seq       // up to which the fork shows it
	User    skein.User      // the owner of a new one; "" for the server's own user
	Agent   string          // "" for the one that answered before, or the default
	Model   string          // "" for the one that answered before, or the agent's
	Effort  string          // how much the model thinks: low, medium or high; "" for the default
	Text    string
	Files   []TurnFile
	Edits   skein.Seq // the message of From that Text is in place of, with the files that were sent with it; 0 for none
	Again   bool      // let the last prompt be answered, instead of Text

	chat  *Turns
	place int // in the queue: it began as a waiting message; 0 if it did not wait
	stop  context.CancelFunc
	begun chan struct{} // closed when the session's ID is known and the text is stored
	asks  chan struct{} // closed when a question is asked before that
	over  chan struct{} // closed at the end
	err   error         // after over

	mu     sync.Mutex
	words  string // the answer so far
	doing  string // what the agent is doing
	notes  []string
	asked  int
	open   []Question
	answer map[string]chan string
}

// Begun reports that the text is stored in the session id. It may be called
// more than once.
func (t *RunningTurn) Begun(id skein.SessionID) {
	t.mu.Lock()
	first := !isClosed(t.begun)
	if first {
		t.Session = id
	}
	t.mu.Unlock()
	if first {
		t.chat.claim(t)
		close(t.begun)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Write adds a piece to the answer.
func (t *RunningTurn) Write(piece string) {
	t.mu.Lock()
	t.words += piece
	t.mu.Unlock()
	t.chat.tell(t.Session, turnNews{Kind: "piece", Text: piece})
}

// Doing reports what the agent is doing, such as running a tool; "" for nothing
// in particular. What it wrote so far is stored.
func (t *RunningTurn) Doing(what string) {
	t.mu.Lock()
	t.doing, t.words = what, ""
	t.mu.Unlock()
	t.changed()
}

// Note shows the person a text that is not part of the answer.
func (t *RunningTurn) Note(text string) {
	t.mu.Lock()
	t.notes = append(t.notes, text)
	t.mu.Unlock()
	t.changed()
}

func (t *RunningTurn) changed() { t.chat.tell(t.Session, turnNews{Kind: "state"}) }

// Ask puts a question to the person and waits for the reply. It returns ctx's
// error when ctx ends. Before a new session has begun there is no page to ask
// on: the answer is no.
func (t *RunningTurn) Ask(ctx context.Context, q Question) (string, error) {
	got := make(chan string, 1)
	t.mu.Lock()
	if t.Session == "" {
		t.mu.Unlock()
		return No, nil
	}
	if !isClosed(t.asks) {
		close(t.asks)
	}
	t.asked++
	q.ID = strconv.Itoa(t.asked)
	t.open = append(t.open, q)
	t.answer[q.ID] = got
	t.mu.Unlock()
	t.changed()
	defer func() {
		t.mu.Lock()
		t.open = slices.DeleteFunc(slices.Clone(t.open), func(o Question) bool { return o.ID == q.ID })
		delete(t.answer, q.ID)
		t.mu.Unlock()
		t.changed()
	}()
	select {
	case reply := <-got:
		return reply, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Turns are the running turns of this server. Close it after the server has
// stopped.
type Turns struct {
	talker Talker
	ctx    context.Context //nolint:containedctx // turns outlive the request that began them
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu    sync.Mutex
	ended bool
	talks map[skein.SessionID]*RunningTurn
	last  map[skein.SessionID]string // error of the newest turn; "" if it succeeded
	queue map[skein.SessionID][]*RunningTurn
	waits int // how many messages have waited so far
	ears  map[skein.SessionID]map[chan turnNews]bool
}

// turnNews is something that happened in a turn, and is not stored.
type turnNews struct {
	Kind string // piece, state
	Text string
}

// NewChat returns a Chat whose turns talker runs.
func NewChat(talker Talker) *Turns {
	c := &Turns{talker: talker, talks: map[skein.SessionID]*RunningTurn{}, last: map[skein.SessionID]string{}, queue: map[skein.SessionID][]*RunningTurn{}, ears: map[skein.SessionID]map[chan turnNews]bool{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close stops the running turns and waits for them.
func (c *Turns) Close() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.cancel()
	c.done.Wait()
}

// Interrupt stops the running turns.
func (c *Turns) Interrupt() { c.cancel() }

// say begins a turn, and returns the session's ID once the text is stored.
//
// If this server already runs a turn there, the text waits for its end.
//
// The error wraps [skein.ErrFull] if too many wait already, or is the talker's.
func (c *Turns) say(ctx context.Context, t *RunningTurn) (skein.SessionID, error) {
	t.prepare(c)
	if t.Session != "" && !c.claim(t) {
		return t.Session, c.wait(t)
	}
	if !c.start(t) {
		return "", skein.ErrClosed
	}
	select {
	case <-t.begun:
	case <-t.asks:
	case <-t.over:
	case <-ctx.Done():
	}
	if isClosed(t.over) && t.err != nil && !isClosed(t.begun) && !isClosed(t.asks) {
		return "", t.err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Session, ctx.Err()
}

// prepare lets t run in c.
func (t *RunningTurn) prepare(c *Turns) {
	t.chat, t.begun, t.asks, t.over, t.answer = c, make(chan struct{}), make(chan struct{}), make(chan struct{}), map[string]chan string{}
}

// start starts the talker; false if the server is stopping.
func (c *Turns) start(t *RunningTurn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	turn, stop := context.WithCancel(c.ctx)
	t.stop = stop
	c.done.Go(func() { c.run(turn, t) })
	return true
}

func (c *Turns) run(ctx context.Context, t *RunningTurn) {
	defer t.stop()
	t.err = c.talker.Talk(ctx, t)
	c.mu.Lock()
	if c.talks[t.Session] == t {
		delete(c.talks, t.Session)
	}
	delete(c.last, t.Session)
	begun := isClosed(t.begun)
	if t.err != nil && !errors.Is(t.err, context.Canceled) && (begun || isClosed(t.asks) || t.place > 0) {
		c.last[t.Session] = skein.Reason(t.err)
	}
	if t.err != nil && !begun && t.place > 0 {
		c.queue[t.Session] = slices.Insert(c.queue[t.Session], 0, t.afresh())
	}
	c.mu.Unlock()
	close(t.over)
	if t.err == nil && ctx.Err() == nil {
		c.next(t.Session)
	}
	c.tell(t.Session, turnNews{Kind: "state"})
}

// claim records t as the turn of its session; false if there is another one.
func (c *Turns) claim(t *RunningTurn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.talks[t.Session]; other != nil && other != t {
		return false
	}
	c.talks[t.Session] = t
	return true
}

// at returns the running turn of a session, nil if there is none, and the error
// of the turn before.
func (c *Turns) at(id skein.SessionID) (*RunningTurn, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.talks[id], c.last[id]
}

// reply answers a question; false if it is not open.
func (c *Turns) reply(id skein.SessionID, question, answer string) bool {
	t, _ := c.at(id)
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	got, ok := t.answer[question]
	if ok {
		got <- answer
		delete(t.answer, question)
	}
	return ok
}

// maxNews is how many news a reader may be behind. One that is further behind
// misses some, and asks for the whole state instead.
const maxNews = 256

// listen returns the news of a session from now on, and a function that ends
// them.
func (c *Turns) listen(id skein.SessionID) (<-chan turnNews, func()) {
	ear := make(chan turnNews, maxNews)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ears[id] == nil {
		c.ears[id] = map[chan turnNews]bool{}
	}
	c.ears[id][ear] = true
	return ear, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.ears[id], ear)
		if len(c.ears[id]) == 0 {
			delete(c.ears, id)
		}
	}
}

// tell sends n to all listeners. One that is too far behind misses it, and sees
// the answer when it is stored.
func (c *Turns) tell(id skein.SessionID, n turnNews) {
	c.mu.Lock()
	ears := slices.Collect(maps.Keys(c.ears[id]))
	c.mu.Unlock()
	for _, ear := range ears {
		select {
		case ear <- n:
		default:
		}
	}
}
