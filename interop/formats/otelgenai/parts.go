package otelgenai

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// part returns a part in the conventions' form, nil for one that is left out.
func (w *writer) part(en *skein.Entry, p *skein.Part) any {
	switch {
	case p.Kind == skein.PartReasoning:
		if len(p.Raw) > 0 {
			w.losses.Add(en.Seq, "reasoning: what only its provider can read")
		}
		return textOut{"reasoning", p.Text}
	case p.Call != nil:
		return callOut{"tool_call", p.Call.ID, p.Call.Name, p.Call.Input}
	case p.Result != nil:
		return w.response(en, p.Result)
	case p.File != nil:
		return w.file(en, p.File)
	case p.Kind == skein.PartText || p.Kind == skein.PartSummary || p.Kind == skein.PartAgent:
		if p.Kind != skein.PartText {
			w.losses.Add(en.Seq, "summaries and names of agents: as text")
		}
		return textOut{"text", p.Text}
	}
	if o, err := loose.Parse(p.Raw); err == nil && o.Str("type") != "" {
		return p.Raw // any part with a type is allowed
	}
	w.losses.Add(en.Seq, "parts of other kinds: left out")
	return nil
}

func (w *writer) response(en *skein.Entry, r *skein.Result) any {
	out := responseOut{Type: "tool_call_response", ID: r.CallID, Response: r.Text, Failed: r.Failed}
	if len(r.Raw) > 0 && (r.Text == "" || string(r.Text) == string(r.Raw)) {
		out.Response = r.Raw
	}
	if len(r.Files) > 0 {
		w.losses.Add(en.Seq, "files in results: left out")
	}
	return out
}

// file returns the bytes of a file, or its address.
func (w *writer) file(en *skein.Entry, f *skein.File) any {
	modality, _, _ := strings.Cut(f.Media, "/")
	if modality != "image" && modality != "audio" && modality != "video" {
		modality = "document"
	}
	if f.Blob != "" && w.d.Blob != nil {
		if data, err := w.d.Blob(f.Blob); err == nil {
			return blobOut{"blob", f.Media, modality, base64Of(data)}
		}
	}
	if f.URL != "" {
		return uriOut{"uri", f.Media, modality, f.URL}
	}
	w.losses.Add(en.Seq, "files whose bytes are missing: their names")
	return textOut{"text", skein.Text("[File " + or(f.Name, f.Media, "without a name") + "]")}
}
