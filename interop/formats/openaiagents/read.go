package openaiagents

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the rows of one session.
type reader struct {
	id       string // session's; "" for the source with rows of no session
	at       skein.Time
	run      bool // see [interop.Line.Run]
	branches branches
	threads  map[string]*thread // by branch; "" for the main one
	equals   map[string]int     // number of equal items, by their hash
	tools    map[string]string  // call ID → tool
}

// A thread is the state of a branch while it is read.
type thread struct {
	begun bool
	items int
	group group
}

func open(f interop.File) interop.Reader {
	return &reader{id: f.Name, branches: newBranches(), threads: map[string]*thread{"": {}}, equals: map[string]int{}, tools: map[string]string{}}
}

// Read implements [interop.Reader]; the error says that the row is damaged.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	r.run = l.Run
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return m, err
	case !ok || r.id == "":
		return m, nil
	case row.Damage != "":
		return m, errors.New(row.Damage)
	}
	switch row.Table {
	case "agent_sessions":
		r.at, _ = loose.SQLTime(row.Get("created_at")) // 0 if it is not one
		r.threads[""].begun = true
		m.Begin, m.Floating = append(m.Begin, r.begin()), true
	case "message_structure":
		r.branches.add(row)
	case messages:
		r.item(&m, row)
	case "turn_usage":
		r.usage(&m, row)
	}
	return m, nil
}

func (r *reader) begin() interop.Begin {
	return interop.Begin{ID: skein.SessionID(r.id), Time: r.at, Created: skein.Created{
		Surface: "api", Agent: Name, Program: Name, Origin: &skein.Origin{ID: r.id},
	}}
}

// put makes e the next event of a branch.
func (r *reader) put(m *interop.Made, branch string, e skein.Event, blobs ...skein.Blob) {
	th := r.threads[branch]
	if th == nil {
		th = &thread{}
		r.threads[branch] = th
	}
	if !th.begun {
		th.begun = true
		m.Begin = append(m.Begin, r.beginBranch(branch, e.Time))
	}
	th.items++
	m.Items = append(m.Items, interop.Item{Session: branch, Event: e, Blobs: blobs})
}

// beginBranch begins a branch where it diverges from the one from which it was made.
func (r *reader) beginBranch(branch string, at skein.Time) interop.Begin {
	b := r.begin()
	if branch == "" {
		return b
	}
	b.Name, b.Time, b.ID = branch, at, skein.SessionID(r.id+":"+branch)
	b.Created.Origin.ID = string(b.ID)
	b.Created.Parent = &skein.Parent{Why: skein.Continuation} // it shares nothing with another
	if of, ordinal := r.branches.from(branch); ordinal > 0 {
		b.Of, b.At, b.Created.Parent.Why = of, ordinal, skein.Fork
	}
	return b
}

// item reads a row with an item.
func (r *reader) item(m *interop.Made, row foreign.Row) {
	at, ok := loose.SQLTime(row.Get("created_at"))
	if !ok && row.Get("created_at") != nil {
		m.Damage = fmt.Sprintf("created_at %.40q is no time", fmt.Sprint(row.Get("created_at")))
	}
	id := row.Int("id")
	branch := r.branches.of(id)
	for _, e := range r.events(m, branch, at, row.Text("message_data")) {
		r.put(m, branch, e.event, e.blobs...)
	}
	r.branches.markRead(id, r.threads[branch])
}

// key returns an item's key, made from its content: when the program compacts a
// session, it writes what it keeps under new IDs.
func (r *reader) key(branch string, content []byte) skein.ClientID {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s%d:%s", len(r.id), r.id, len(branch), branch)
	h.Write(content)
	sum := hex.EncodeToString(h.Sum(nil)[:16])
	r.equals[sum]++
	return skein.ClientID(fmt.Sprintf("openai-agents:%s:%d", sum, r.equals[sum]))
}

// usage reads a turn's usage, repeated as it grows.
func (r *reader) usage(m *interop.Made, row foreign.Row) {
	name, turn := row.Text("branch_id"), row.Int("user_turn_number")
	branch := branchName(name)
	if th := r.threads[branch]; th == nil || !th.begun {
		branch = ""
	}
	in, _ := loose.Parse([]byte(row.Text("input_tokens_details"))) // a value that is not an object has no members
	out, _ := loose.Parse([]byte(row.Text("output_tokens_details")))
	u := skein.Usage{
		Input: count(row, "input_tokens"), Output: count(row, "output_tokens"),
		CacheRead: in.Count("cached_tokens"), Reasoning: out.Count("reasoning_tokens"),
	}
	u.Input = max(u.Input-u.CacheRead, 0)
	if u == (skein.Usage{}) {
		return
	}
	at, _ := loose.SQLTime(row.Get("created_at"))
	request := fmt.Sprintf("openai-agents:%s:%s:%d", r.id, name, turn)
	m.Key = skein.ClientID(request)
	r.put(m, branch, skein.NewEvent(skein.KindStep, at, skein.Step{Phase: "finish", Request: request, Usage: &u, Several: true}))
}

func count(row foreign.Row, column string) int64 {
	if n := row.Int(column); n > 0 && n < 1<<53 {
		return n
	}
	return 0
}
