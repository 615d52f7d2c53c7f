package provenance_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skein-dev/skein/internal/gitai"
	"github.com/skein-dev/skein/store/provenance"
)

// traceSchema has the rules of Agent Trace's schema, schemas/trace-record.json, without
// its words.
const traceSchema = `{"type":"object","additionalProperties":false,"required":["version","id","timestamp","files"],"properties":{
 "version":{"type":"string","pattern":"^[0-9]+\\.[0-9]+$"},
 "id":{"type":"string","pattern":"^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"},
 "timestamp":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]+)?)?Z$"},
 "vcs":{"type":"object","additionalProperties":false,"required":["type","revision"],"properties":{"type":{"enum":["git","jj","hg","svn"]},"revision":{"type":"string"}}},
 "tool":{"type":"object","additionalProperties":false,"required":["name","version"],"properties":{"name":{"type":"string"},"version":{"type":"string"}}},
 "files":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["path","conversations"],"properties":{"path":{"type":"string"},
  "conversations":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["ranges"],"properties":{"url":{"type":"string","pattern":"^[a-z]+://"},
   "contributor":{"$ref":"#/$defs/contributor"},
   "ranges":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["start_line","end_line"],"properties":{
    "start_line":{"type":"integer","minimum":1},"end_line":{"type":"integer","minimum":1},"content_hash":{"type":"string"},"contributor":{"$ref":"#/$defs/contributor"}}}},
   "related":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["type","url"],"properties":{"type":{"type":"string"},"url":{"type":"string"}}}}}}}}}},
 "metadata":{"type":"object"}},
 "$defs":{"contributor":{"type":"object","additionalProperties":false,"required":["type"],"properties":{"type":{"enum":["human","ai","mixed","unknown"]},"model_id":{"type":"string","maxLength":250}}}}}`

func (w *world) report(hash string) (*provenance.Tracer, *provenance.CommitReport) {
	w.Helper()
	tr := w.tracer()
	r, err := tr.Commit(w.Context(), hash)
	if err != nil {
		w.Fatal(err)
	}
	return tr, r
}

func TestACommitAsAnAgentTraceRecord(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.file("b.go", gamma)
	w.file("a.go", alpha+gamma+beta)
	hash := w.commit("Begin")
	tr, r := w.report(hash)
	record, err := tr.Trace(t.Context(), r, "v1")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(traceSchema), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(b, &value); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(value); err != nil {
		t.Errorf("%s does not fit the schema: %v", b, err)
	}
	if len(record.Files) != 1 || record.Files[0].Path != "a.go" || record.VCS.Revision != hash || len(record.Files[0].Conversations) != 1 {
		t.Fatalf("the record is %s", b)
	}
	c := record.Files[0].Conversations[0]
	if c.URL != "skein://session/one" || len(c.Ranges) != 2 || c.Ranges[0].First != 1 || c.Ranges[1].Last != 3 {
		t.Errorf("the conversation is %+v", c)
	}
	again, err := tr.Trace(t.Context(), r, "v1")
	if diff := cmp.Diff(record, again); err != nil || diff != "" {
		t.Errorf("the same commit has another record: %v\n%s", err, diff)
	}
}

func TestACommitAsANoteOfGitAI(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a b.go", alpha+beta)
	hash := w.commit("Begin")
	tr, r := w.report(hash)
	n, err := tr.Note(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if text := n.String(); !strings.HasPrefix(text, "\"a b.go\"\n  "+gitai.Key("coder", "one")+"::t_") || !strings.Contains(text, " 1-2\n---\n{") {
		t.Errorf("the note is\n%s", text)
	}
	if err := tr.Notes.Write(t.Context(), hash, &n); err != nil {
		t.Fatal(err)
	}
	if has, err := tr.Notes.Has(t.Context(), hash); err != nil || !has {
		t.Errorf("HasNote = %v, %v", has, err)
	}
	if err := tr.Notes.Write(t.Context(), hash, &n); err == nil {
		t.Error("a second note replaces the first")
	}
}

func TestANoteOfGitAINamesASession(t *testing.T) {
	w := newWorld(t)
	w.call("one", "read", map[string]any{"path": "a.go"}, "", false)
	w.file("a.go", alpha+beta)
	hash := w.commit("Begin")
	w.is("a.go", "- -")
	note := "a.go\n  s_c9883b05a2487d::t_9f8e7d6c5b4a32 2\n---\n" + `{"schema_version":"authorship/3.0.0","base_commit_sha":"x","prompts":{},"sessions":{"s_c9883b05a2487d":{"agent_id":{"tool":"claude","id":"one","model":"m"}}}}`
	w.git("notes", "--ref=refs/notes/ai", "add", "-m", note, hash)
	w.is("a.go", "- one/note")
	w.git("notes", "--ref=refs/notes/ai", "add", "-f", "-m", "not such a note", hash)
	w.is("a.go", "- -")
	r, err := w.tracer().Blame(t.Context(), provenance.Question{File: filepath.Join(w.dir, "a.go")})
	if err != nil || len(r.Answers) != 2 {
		t.Errorf("Blame beside a damaged note: %+v, %v", r, err)
	}
}
