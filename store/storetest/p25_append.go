package storetest

import (
	"cmp"
	"strings"

	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
)

func (m *machine) append(rt *rapid.T) {
	var bw, bg []skein.Batch
	user, want, got := m.as(rt)
	for range pick(rt, "batches", 1, 1, 1, 2) {
		w := m.batch(rt, cmp.Or(user, skein.Local))
		g := w
		if len(m.leases) > 0 && rapid.Bool().Draw(rt, "fenced") {
			l := rapid.SampledFrom(m.leases).Draw(rt, "lease")
			w.Fence, g.Fence = l[0].Fence, l[1].Fence
			if l[0].Session != w.Session {
				w.Fence, g.Fence = 1<<40, 1<<40
			}
		}
		bw, bg = append(bw, w), append(bg, g)
	}
	rw, ew := want.Append(ctx, bw...)
	rg, eg := got.Append(ctx, bg...)
	var calls []string
	for _, b := range bw {
		calls = append(calls, show(b))
	}
	if known(ew) && known(eg) {
		ew, eg = nil, nil // a store may choose which of several reasons it reports
	}
	agree(rt, "Append("+strings.Join(calls, "; ")+")", rw, ew, rg, eg)
}

var words = []string{"alpha", "beta", "gamma", "password1", "password2"}

// batch returns a batch for a user; sessions that it creates without naming a
// user are that user's. What is read from a file is read from its owner's: a
// store may choose whether what one user deleted keeps another from importing
// the same.
func (m *machine) batch(rt *rapid.T, owner skein.User) (b skein.Batch) {
	b.Session = m.id(rt)
	switch pick(rt, "after", "any", "any", "any", "fresh", "last", "wrong") {
	case "fresh":
		b.After = skein.Fresh
	case "last":
		if s, err := m.want.Session(ctx, b.Session); err == nil {
			b.After = s.Last
		}
	case "wrong":
		b.After = skein.Seq(rapid.IntRange(1, 9).Draw(rt, "wrong"))
	}
	x, err := m.want.Session(ctx, b.Session)
	if err != nil || rapid.IntRange(0, 20).Draw(rt, "anew") == 0 {
		var e skein.Event
		e, owner = m.created(rt, owner)
		b.Events = append(b.Events, e)
	}
	owner = cmp.Or(x.User, owner)
	for range rapid.IntRange(1, 3).Draw(rt, "events") {
		e, blobs := m.event(rt)
		b.Events = append(b.Events, e)
		b.Blobs = append(b.Blobs, blobs...)
	}
	b.Again = rapid.IntRange(0, 3).Draw(rt, "again") == 0
	if rapid.IntRange(0, 3).Draw(rt, "import") == 0 {
		b.Import = m.source(rt, b.Session, owner)
	}
	return b
}

func (m *machine) created(rt *rapid.T, owner skein.User) (skein.Event, skein.User) {
	c := skein.Created{
		Key: pick(rt, "key", "", "", "k"), Project: pick(rt, "project", "", "/p"), Agent: pick(rt, "agent", "", "g"),
		User: pick(rt, "owner", skein.User(""), "", "ann"), Title: pick(rt, "title", "", "password1 of the title"),
	}
	owner = cmp.Or(c.User, owner)
	if rapid.Bool().Draw(rt, "origin") {
		c.Origin = &skein.Origin{Format: "f", Path: pathOf(rt, owner)}
	}
	switch parent := pick(rt, "parent", skein.SessionID("a"), "b", "c"); pick(rt, "why", "", "", skein.Fork, skein.Fork, skein.Child) {
	case skein.Fork:
		c.Parent = &skein.Parent{Session: parent, Seq: skein.Seq(rapid.IntRange(0, 8).Draw(rt, "at")), Why: skein.Fork}
		c.Key = pick(rt, "fork key", "", "", "", "k")
	case skein.Child:
		c.Parent = &skein.Parent{Session: parent, Why: skein.Child}
	}
	e := begin(c)
	e.ClientID = pick(rt, "client", skein.ClientID(""), "created")
	return e, owner
}

func pathOf(rt *rapid.T, owner skein.User) string {
	return "/" + string(owner) + "/" + pick(rt, "path", "x", "y")
}

func (m *machine) event(rt *rapid.T) (e skein.Event, blobs []skein.Blob) {
	text := pick(rt, "text", words...)
	seq := skein.Seq(rapid.IntRange(0, 9).Draw(rt, "seq"))
	switch pick(rt, "kind", "user", "user", "piece", "paid", "step", "titled", "changed", "compacted", "rewound", "amended", "tool", "noted", "blob", "ran") {
	case "user":
		e = user(text)
	case "piece":
		e = piece(pick(rt, "message", "m1", "m2"), text)
	case "paid":
		u := skein.Usage{Input: int64(rapid.IntRange(0, 3).Draw(rt, "in")), Output: int64(rapid.IntRange(0, 9).Draw(rt, "out"))}
		e = paid(pick(rt, "request", "", "r1", "r2"), noon+skein.Time(rapid.IntRange(0, 3).Draw(rt, "hours"))*3600*second, pick(rt, "model", "m", "n"), u)
	case "step":
		e = skein.NewEvent(skein.KindStep, noon, skein.Step{Phase: "finish", Request: "r1", Model: "m", Usage: &skein.Usage{Output: 5}})
	case "titled":
		e = skein.NewEvent(skein.KindTitled, noon, skein.Titled{Title: text, By: pick(rt, "by", skein.ByPerson, skein.ByModel)})
	case "changed":
		e = changed(skein.Changed{Key: pick(rt, "key", nil, ptr(""), ptr("k")), Project: pick(rt, "project", nil, ptr("/q")), Pinned: ptr(true)})
	case "compacted":
		e = skein.NewEvent(skein.KindCompacted, noon, skein.Compacted{To: seq, Summary: text})
	case "rewound":
		e = skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: seq})
	case "amended":
		e = skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: seq, Payload: user(text).Payload})
		if rapid.Bool().Draw(rt, "withdrawn") {
			e = skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: seq, Withdrawn: true})
		}
	case "tool":
		e = skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: "c", State: pick(rt, "state", skein.Running, skein.Completed, skein.Uncertain)})
	case "noted":
		e = noted(text)
	case "blob":
		b := skein.NewBlob([]byte("blob " + text))
		if e = shows(text, b); rapid.Bool().Draw(rt, "brought") {
			blobs = []skein.Blob{b}
		}
	case "ran":
		e = ran(text, "c", `{"path":"/`+text+`"}`, "x", "failed")[rapid.IntRange(0, 1).Draw(rt, "half")]
	}
	e.ClientID = pick(rt, "client", skein.ClientID(""), "", "1", "2", "3")
	return e, blobs
}

func (m *machine) source(rt *rapid.T, id skein.SessionID, owner skein.User) *skein.Import {
	im := &skein.Import{File: skein.SourceFile{Format: "f", Path: pathOf(rt, owner)}}
	switch pick(rt, "of", "session", "copy", "none") {
	case "session":
		im.File.Session = id
	case "copy":
		im.File.CopyOf = id
	}
	for i := range rapid.IntRange(0, 2).Draw(rt, "records") {
		im.Records = append(im.Records, skein.Record{N: rapid.IntRange(0, 2).Draw(rt, "from") + i, Raw: []byte(pick(rt, "raw", words...))})
	}
	im.Forget = rapid.Bool().Draw(rt, "forget")
	return im
}
