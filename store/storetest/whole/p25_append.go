package whole

import (
	"cmp"
	"strings"

	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func (m *machine) append(rt *rapid.T) {
	var bw, bg []skein.Batch
	user, want, got := m.as(rt)
	for range harness.Pick(rt, "batches", 1, 1, 1, 2) {
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
		calls = append(calls, harness.Show(b))
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
	switch harness.Pick(rt, "after", "any", "any", "any", "fresh", "last", "wrong") {
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
		Key: harness.Pick(rt, "key", "", "", "k"), Project: harness.Pick(rt, "project", "", "/p"), Agent: harness.Pick(rt, "agent", "", "g"),
		User: harness.Pick(rt, "owner", skein.User(""), "", "ann"), Title: harness.Pick(rt, "title", "", "password1 of the title"),
	}
	owner = cmp.Or(c.User, owner)
	if rapid.Bool().Draw(rt, "origin") {
		c.Origin = &skein.Origin{Format: "f", Path: pathOf(rt, owner)}
	}
	switch parent := harness.Pick(rt, "parent", skein.SessionID("a"), "b", "c"); harness.Pick(rt, "why", "", "", skein.Fork, skein.Fork, skein.Child) {
	case skein.Fork:
		c.Parent = &skein.Parent{Session: parent, Seq: skein.Seq(rapid.IntRange(0, 8).Draw(rt, "at")), Why: skein.Fork}
		c.Key = harness.Pick(rt, "fork key", "", "", "", "k")
	case skein.Child:
		c.Parent = &skein.Parent{Session: parent, Why: skein.Child}
	}
	e := fixture.Begin(c)
	e.ClientID = harness.Pick(rt, "client", skein.ClientID(""), "created")
	return e, owner
}

func pathOf(rt *rapid.T, owner skein.User) string {
	return "/" + string(owner) + "/" + harness.Pick(rt, "path", "x", "y")
}

func (m *machine) event(rt *rapid.T) (e skein.Event, blobs []skein.Blob) {
	text := harness.Pick(rt, "text", words...)
	seq := skein.Seq(rapid.IntRange(0, 9).Draw(rt, "seq"))
	switch harness.Pick(rt, "kind", "user", "user", "piece", "paid", "step", "titled", "changed", "compacted", "rewound", "amended", "tool", "noted", "blob", "ran") {
	case "user":
		e = fixture.User(text)
	case "piece":
		e = fixture.Piece(harness.Pick(rt, "message", "m1", "m2"), text)
	case "paid":
		u := skein.Usage{Input: int64(rapid.IntRange(0, 3).Draw(rt, "in")), Output: int64(rapid.IntRange(0, 9).Draw(rt, "out")), Reported: harness.Pick[int64](rt, "reported", 0, 0, 7)}
		e = fixture.Paid(harness.Pick(rt, "request", "", "r1", "r2"), fixture.Noon+skein.Time(rapid.IntRange(0, 3).Draw(rt, "hours"))*3600*fixture.Second, harness.Pick(rt, "model", "m", "n"), u)
	case "step":
		e = skein.NewEvent(skein.KindStep, fixture.Noon, skein.Step{Phase: "finish", Request: "r1", Model: "m", Usage: &skein.Usage{Output: 5}})
	case "titled":
		e = skein.NewEvent(skein.KindTitled, fixture.Noon, skein.Titled{Title: text, By: harness.Pick(rt, "by", skein.ByPerson, skein.ByModel)})
	case "changed":
		e = fixture.Changed(skein.Changed{Key: harness.Pick(rt, "key", nil, fixture.Ptr(""), fixture.Ptr("k")), Project: harness.Pick(rt, "project", nil, fixture.Ptr("/q")), Pinned: fixture.Ptr(true)})
	case "compacted":
		e = skein.NewEvent(skein.KindCompacted, fixture.Noon, skein.Compacted{To: seq, Summary: text})
	case "rewound":
		e = skein.NewEvent(skein.KindRewound, fixture.Noon, skein.Rewound{To: seq})
	case "amended":
		e = skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: seq, Payload: fixture.User(text).Payload})
		if rapid.Bool().Draw(rt, "withdrawn") {
			e = skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: seq, Withdrawn: true})
		}
	case "tool":
		e = skein.NewEvent(skein.KindTool, fixture.Noon, skein.ToolState{Call: "c", State: harness.Pick(rt, "state", skein.Running, skein.Completed, skein.Uncertain)})
	case "noted":
		e = fixture.Noted(text)
	case "blob":
		b := skein.NewBlob([]byte("blob " + text))
		if e = fixture.Shows(text, b); rapid.Bool().Draw(rt, "brought") {
			blobs = []skein.Blob{b}
		}
	case "ran":
		e = fixture.Ran(text, "c", `{"path":"/`+text+`"}`, "x", "failed")[rapid.IntRange(0, 1).Draw(rt, "half")]
	}
	e.ClientID = harness.Pick(rt, "client", skein.ClientID(""), "", "1", "2", "3")
	return e, blobs
}

func (m *machine) source(rt *rapid.T, id skein.SessionID, owner skein.User) *skein.Import {
	im := &skein.Import{File: skein.SourceFile{Format: "f", Path: pathOf(rt, owner)}}
	switch harness.Pick(rt, "of", "session", "copy", "none") {
	case "session":
		im.File.Session = id
	case "copy":
		im.File.CopyOf = id
	}
	for i := range rapid.IntRange(0, 2).Draw(rt, "records") {
		im.Records = append(im.Records, skein.Record{N: rapid.IntRange(0, 2).Draw(rt, "from") + i, Raw: []byte(harness.Pick(rt, "raw", words...))})
	}
	im.Forget = rapid.Bool().Draw(rt, "forget")
	return im
}
