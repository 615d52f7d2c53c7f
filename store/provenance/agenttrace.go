package provenance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/gitai"
)

// A TraceRecord says which conversations wrote which lines of a commit, as Agent Trace
// has it (application/vnd.agent-trace.record+json). The schema allows only two numbers in
// a version, though the specification's is 0.1.0.
//
// See https://github.com/cursor/agent-trace: README.md and schemas/trace-record.json
// (2026-02-06).
type TraceRecord struct {
	Version   string      `json:"version"`
	ID        string      `json:"id"`
	Timestamp skein.Time  `json:"timestamp"`
	VCS       TraceVCS    `json:"vcs"`
	Tool      TraceTool   `json:"tool"`
	Files     []TraceFile `json:"files"`
}

// TraceVCS is the commit that a record is about.
type TraceVCS struct {
	Type     string `json:"type"`
	Revision string `json:"revision"`
}

// A TraceTool is the program that made a record.
type TraceTool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// A TraceFile is a file with lines that agents wrote.
type TraceFile struct {
	Path          string              `json:"path"`
	Conversations []TraceConversation `json:"conversations"`
}

// A TraceConversation is what one session wrote.
type TraceConversation struct {
	URL         string           `json:"url"`
	Contributor TraceContributor `json:"contributor"`
	Ranges      []TraceRange     `json:"ranges"`
}

// A TraceContributor is who wrote it.
type TraceContributor struct {
	Type  string `json:"type"` // ai
	Model string `json:"model_id,omitempty"`
}

// A TraceRange is lines of a file, from 1.
type TraceRange struct {
	First int    `json:"start_line"`
	Last  int    `json:"end_line"`
	Hash  string `json:"content_hash,omitempty"` // sha256: and the hash of the lines, each with \n
}

// Trace returns the record of a commit, with the version of this program. Its ID follows
// from the commit. The error is the store's.
func (t *Tracer) Trace(ctx context.Context, r *CommitReport, version string) (TraceRecord, error) {
	id := sha256.Sum256([]byte("agent-trace:" + r.Commit.Hash))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUID of version 8, RFC 9562
	x := TraceRecord{
		Version: "0.1", ID: fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16]), Timestamp: r.Commit.Time,
		VCS: TraceVCS{"git", r.Commit.Hash}, Tool: TraceTool{"skein", version}, Files: []TraceFile{},
	}
	for i := range r.Added {
		of, err := t.bySession(ctx, &r.Added[i])
		if err != nil {
			return x, err
		}
		f := TraceFile{Path: r.Added[i].File}
		for _, s := range of {
			c := TraceConversation{URL: "skein://session/" + url.PathEscape(string(s.Session.ID)), Contributor: TraceContributor{Type: "ai", Model: modelID(s.Session.Provider, s.Model)}}
			for _, lines := range gitai.Ranges(s.Lines) {
				c.Ranges = append(c.Ranges, TraceRange{lines.First, lines.Last, hashOf(&r.Added[i], lines)})
			}
			f.Conversations = append(f.Conversations, c)
		}
		if len(f.Conversations) > 0 {
			x.Files = append(x.Files, f)
		}
	}
	return x, nil
}

// modelID returns a model as models.dev names it, provider/model; "" if it is not known.
func modelID(provider, model string) string {
	if provider == "" || model == "" {
		return model
	}
	return (provider + "/" + model)[:min(len(provider)+1+len(model), 250)]
}

func hashOf(r *Report, lines gitai.NotedLines) string {
	sum := sha256.New()
	for _, l := range r.Lines {
		if lines.First <= l.Number && l.Number <= lines.Last {
			sum.Write([]byte(l.Text + "\n"))
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
