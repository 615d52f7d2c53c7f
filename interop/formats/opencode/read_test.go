package opencode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

func TestEveryKindOfPartIsRead(t *testing.T) {
	p := newPlace(t)
	p.user(2000, text("look <here>"), `{"type":"text","text":"by a plugin","synthetic":true,"ignored":true}`,
		`{"type":"file","mime":"image/png","filename":"a.png","url":"data:image/png;base64,iVBORw0KGgo="}`,
		`{"type":"agent","name":"plan","source":{"value":"@plan","start":0,"end":5}}`,
		`{"type":"subtask","prompt":"p","description":"d","agent":"general"}`)
	p.model(3000, `,"finish":"tool-calls"`, `{"type":"step-start","snapshot":"abc"}`,
		`{"type":"reasoning","text":"hm","metadata":{"anthropic":{"signature":"s"}},"time":{"start":3001,"end":3002}}`,
		`{"type":"tool","callID":"c1","tool":"task","state":{"status":"completed","input":{"n":1.50},"output":"out","title":"T","metadata":{"sessionId":"ses_5a0000000000BBBBBBBBBBBBBB","output":"out","x":1},"time":{"start":3003,"end":3004},"attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,iVBORw0KGgo="}]}}`,
		`{"type":"tool","callID":"c2","tool":"bash","state":{"status":"error","input":{},"error":"no","time":{"start":3005,"end":3006}}}`,
		`{"type":"patch","hash":"h","files":["a"]}`, `{"type":"snapshot","snapshot":"s"}`,
		`{"type":"retry","attempt":2,"error":{"name":"APIError","data":{"message":"busy","statusCode":529,"isRetryable":true}},"time":{"created":3007}}`,
		`{"type":"step-finish","reason":"tool-calls","cost":0.0015,"tokens":{"input":10,"output":5,"reasoning":2,"cache":{"read":7,"write":1}}}`,
		`{"type":"of-tomorrow","x":"<"}`)
	p.model(4000, `,"error":{"name":"MessageAbortedError","data":{"message":"stopped"}}`, text("I was"))
	s := store(t)
	if rep := p.bring(s); rep.Damaged+rep.Skipped != 0 || rep.Sessions != 1 {
		t.Fatalf("Import = %+v, want one session", rep)
	}
	got := told(t, s, ses)
	for _, want := range []string{
		`{"kind":"text","text":"look <here>"}`,
		`"text":"by a plugin","synthetic":true,"meta":{"ignored":true}`,
		`{"kind":"file","file":{"name":"a.png","media":"image/png","blob":`,
		`{"kind":"agent","text":"plan"}`,
		`{"kind":"other","raw":{"type":"subtask","prompt":"p","description":"d","agent":"general"}}`,
		`step {"phase":"start","provider":"p","model":"m"}`,
		`{"kind":"reasoning","text":"hm","start":"1970-01-01T00:00:03.001Z","end":"1970-01-01T00:00:03.002Z","meta":{"metadata":{"anthropic":{"signature":"s"}}}}`,
		`"call":{"id":"c1","name":"task","input":{"n":1.50}}`,
		`tool {"call":"c1","state":"completed","title":"T","start":"1970-01-01T00:00:03.003Z","end":"1970-01-01T00:00:03.004Z","child":"ses_5a0000000000BBBBBBBBBBBBBB","meta":{"metadata":{"sessionId":"ses_5a0000000000BBBBBBBBBBBBBB","x":1}}}`,
		`"result":{"call_id":"c1","name":"task","text":"out","files":[{"media":"image/png","blob":`,
		`"result":{"call_id":"c2","name":"bash","text":"no","failed":true}`,
		`noted {"name":"opencode:patch","data":{"type":"patch","hash":"h","files":["a"]}}`,
		`noted {"name":"opencode:snapshot","data":{"type":"snapshot","snapshot":"s"}}`,
		`"error":{"kind":"APIError","message":"busy","status":529},"attempt":2`,
		`"usage":{"input":10,"output":7,"reasoning":2,"cache_read":7,"cache_write":1,"reported":1500000},"stop":"tool-calls"`,
		`noted {"name":"opencode:of-tomorrow","data":{"type":"of-tomorrow","x":"<"}}`,
		`"error":{"kind":"MessageAbortedError","message":"stopped"},"interrupted":true`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the events lack %s:\n%s", want, got)
		}
	}
	sess, err := s.Session(t.Context(), ses)
	if err != nil || sess.Usage.Output != 7 || sess.Usage.Reported != 1_500_000 || sess.Title != "" {
		t.Errorf("Session() = %+v, %v, want 7 tokens written, a cost of 0.0015 and no title", sess, err)
	}
}

func TestAPartThatChangesInPlaceIsAmended(t *testing.T) {
	p := newPlace(t)
	p.user(2000, text("run it"))
	p.model(3000, "", `{"type":"tool","callID":"c1","tool":"bash","state":{"status":"running","input":{"command":"ls"},"metadata":{"output":"a"},"time":{"start":3001}}}`)
	s := store(t)
	p.bring(s)
	before := shown(t, s, ses)
	p.run(`UPDATE part SET time_updated = 3009, data = ? WHERE id = 'prt_3000_0'`,
		`{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a\nb","title":"ls","metadata":{"output":"a\nb"},"time":{"start":3001,"end":3009}}}`)
	p.model(4000, `,"finish":"stop"`, text("Two files."))
	p.bring(s)
	want := before + "tool answers \"a\\nb\"\nassistant text \"Two files.\"\n"
	if diff := cmp.Diff(want, shown(t, s, ses)); diff != "" {
		t.Errorf("after the call ended (-want +got):\n%s", diff)
	}
	if got := told(t, s, ses); strings.Count(got, "amended") != 1 || !strings.Contains(got, `"state":"completed"`) {
		t.Errorf("the events should have one amendment, of the call's state:\n%s", got)
	}
	if rep := p.bring(s); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing", rep)
	}
}

func TestWhatWasGoneBackOverIsSaidAgainIfThatIsTakenBack(t *testing.T) {
	p := newPlace(t)
	p.user(2000, text("one"))
	p.model(3000, `,"finish":"stop"`, text("first"))
	p.user(4000, text("two"))
	p.model(5000, `,"finish":"stop"`, text("second"), text("third"))
	s := store(t)
	p.bring(s)
	all := shown(t, s, ses)
	p.run(`UPDATE session SET revert = '{"messageID":"msg_4000","snapshot":"x"}'`)
	p.bring(s)
	const first = "user text \"one\"\nassistant text \"first\"\n"
	if got := shown(t, s, ses); got != first {
		t.Errorf("gone back to a message, the session says\n%swant\n%s", got, first)
	}
	p.run(`UPDATE session SET revert = '{"messageID":"msg_5000","partID":"prt_5000_1"}'`)
	p.bring(s)
	if got, want := shown(t, s, ses), strings.TrimSuffix(all, "assistant text \"third\"\n"); got != want {
		t.Errorf("gone back to a part, the session says\n%swant\n%s", got, want)
	}
	p.run(`UPDATE session SET revert = NULL`)
	p.bring(s)
	if got := shown(t, s, ses); got != all {
		t.Errorf("not gone back any more, the session says\n%swant\n%s", got, all)
	}
	p.run(`UPDATE session SET revert = '{"messageID":"msg_4000"}'`)
	p.bring(s)
	p.run(`DELETE FROM part WHERE message_id IN ('msg_4000', 'msg_5000')`)
	p.run(`DELETE FROM message WHERE id IN ('msg_4000', 'msg_5000')`)
	p.run(`UPDATE session SET revert = NULL`)
	p.user(6000, text("three"))
	p.bring(s)
	if got, want := shown(t, s, ses), first+"user text \"three\"\n"; got != want {
		t.Errorf("with something else said, the session says\n%swant\n%s", got, want)
	}
}

func TestACompactionCoversAllButWhatItLeaves(t *testing.T) {
	for name, tail := range map[string]string{"all": "", "but the tail": `,"tail_start_id":"msg_4000"`} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.user(2000, text("one"))
			p.model(3000, `,"finish":"stop"`, text("first"))
			p.user(4000, text("two"))
			p.user(5000, `{"type":"compaction","auto":true`+tail+`}`)
			p.model(6000, `,"summary":true`, text("summed"))
			s := store(t)
			p.run(`UPDATE message SET data = json_remove(data, '$.time.completed') WHERE id = 'msg_6000'`)
			p.bring(s)
			if got := told(t, s, ses); strings.Contains(got, "compacted") {
				t.Errorf("a summary that is not yet whole counts:\n%s", got)
			}
			p.run(`UPDATE message SET data = json_set(data, '$.finish', 'stop') WHERE id = 'msg_6000'`)
			p.user(7000, text("three"))
			p.bring(s)
			var evs []skein.Event
			for e, err := range s.Events(t.Context(), ses, 0) {
				if err != nil {
					t.Fatal(err)
				}
				evs = append(evs, e)
			}
			var c skein.Compacted
			var last skein.Seq // that is covered
			for _, e := range evs {
				switch e.Kind {
				case skein.KindCompacted:
					c, _ = skein.Decode[skein.Compacted](e)
				case skein.KindSaid:
					if m, _ := skein.Decode[skein.Message](e); len(m.Parts) > 0 && m.Parts[0].Text == "first" && tail != "" || tail == "" && len(m.Parts) > 0 && m.Parts[0].Text == "two" {
						last = e.Seq
					}
				}
			}
			if c.Summary != "summed" || c.To < last || tail != "" && c.To != last {
				t.Errorf("compacted = %+v, want the summary, and events up to %d covered", c, last)
			}
		})
	}
}

func TestTheNewerTableIsReadWhereThereIsNoOther(t *testing.T) {
	p := newPlace(t)
	row := func(seq int, kind, data string) {
		valid(t, data)
		p.run(`INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)`, fmt.Sprintf("msg_n%d", seq), ses, kind, seq, 1000*seq, 1000*seq, data)
	}
	row(2, "user", `{"time":{"created":2000},"text":"list <them>","files":[{"uri":"data:image/png;base64,iVBORw0KGgo=","mime":"image/png","name":"a.png"}]}`)
	row(3, "assistant", `{"time":{"created":3000,"completed":3009},"agent":"build","model":{"id":"m","providerID":"p"},"content":[{"type":"reasoning","id":"r","text":"hm"},{"type":"text","id":"t","text":"I look."},{"type":"tool","id":"c1","name":"bash","state":{"status":"completed","input":{"command":"ls"},"content":[{"type":"text","text":"a\n"}],"structured":{"exit":0}},"time":{"created":3001,"ran":3002,"completed":3003}}],"finish":"tool-calls","cost":0.5,"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}`)
	row(4, "model-switched", `{"time":{"created":4000},"model":{"id":"n","providerID":"p"}}`)
	row(5, "compaction", `{"time":{"created":5000},"reason":"auto","summary":"listed","recent":""}`)
	s := store(t)
	p.bring(s)
	known, err := s.Session(t.Context(), ses)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 { // of kinds that are still to come, 20 bytes each
		row(6+i, fmt.Sprintf("to-come-%d", i%7), fmt.Sprintf(`{"unheard-of":%d}`, i))
	}
	p.bring(s)
	if now, err := s.Session(t.Context(), ses); err != nil || now.Last <= known.Last || now.Last > known.Last+100 {
		t.Errorf("400 rows of unknown kinds make %d events of %d, %v, want a few", now.Last, known.Last, err)
	}
	want := "user text \"list <them>\"\nuser file \"\"\nassistant reasoning \"hm\"\nassistant text \"I look.\"\nassistant calls bash {\"command\":\"ls\"}\ntool answers \"a\\n\"\n"
	if diff := cmp.Diff(want, shown(t, s, ses)); diff != "" {
		t.Errorf("the newer table says (-want +got):\n%s", diff)
	}
	sess, err := s.Session(t.Context(), ses)
	if err != nil || sess.Usage.Output != 5 || sess.Usage.Reported != 500_000_000 || sess.Compactions != 1 {
		t.Errorf("Session() = %+v, %v, want 5 tokens written, a cost of 0.5 and a compaction", sess, err)
	}

	both := newPlace(t)
	both.user(2000, text("list <them>"))
	both.run(`INSERT INTO session_message VALUES ('msg_2000', ?, 'user', 1, 2000, 2000, '{"time":{"created":2000},"text":"list <them>"}')`, ses)
	s = store(t)
	both.bring(s)
	if got, want := shown(t, s, ses), "user text \"list <them>\"\n"; got != want {
		t.Errorf("with both tables the session says\n%swant\n%s", got, want)
	}
}
