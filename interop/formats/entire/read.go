package entire

import (
	"encoding/json"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A header is the first line of a source.
type header struct {
	Session string `json:"entire_session"`
	Format  string `json:"format,omitempty"` // of the transcript; "" if none is known
}

// A trailer is a line at the end of a source.
type trailer struct {
	Checkpoint json.RawMessage `json:"entire_checkpoint"` // its metadata of the session
}

// metadata is what a checkpoint says of a session, as far as it is needed here.
type metadata struct {
	Checkpoint string `json:"checkpoint_id"`
	Session    string `json:"session_id"`
	Agent      string `json:"agent"`
	Created    string `json:"created_at"`
}

func (t transcripts) open(f interop.File) interop.Reader { return &reader{known: t, file: f} }

// A reader reads one source.
type reader struct {
	known transcripts
	file  interop.File
	agent interop.Reader // of the transcript; nil if its format is not known
}

// Read implements [interop.Reader]; the error is that of the transcript's format.
func (r *reader) Read(l interop.Line) (interop.Made, error) {
	if l.N == 0 {
		var h header
		if json.Unmarshal(l.Body, &h) == nil && h.Session != "" {
			r.begin(h)
		}
		return interop.Made{}, nil
	}
	var t trailer
	if len(l.Body) < 1<<20 && json.Unmarshal(l.Body, &t) == nil && t.Checkpoint != nil {
		return noted(t.Checkpoint), nil
	}
	if r.agent == nil {
		return interop.Made{}, nil
	}
	l.N, l.Number = l.N-1, l.Number-1
	return r.agent.Read(l)
}

// begin opens the transcript. Nothing is beside it.
func (r *reader) begin(h header) {
	f := r.known.named(h.Format)
	if f == nil {
		return
	}
	r.agent = f.Open(interop.File{Path: fileOf(r.file.Path, h.Session), Beside: func(string) ([]byte, bool) { return nil, false }})
}

// noted returns what the line of a checkpoint makes: a note in the session.
func noted(about json.RawMessage) interop.Made {
	var m metadata
	_ = json.Unmarshal(about, &m) // what cannot be read is not known
	at, _ := skein.ParseTime(m.Created)
	return interop.Made{
		Key: key(m), Floating: true,
		Items: []interop.Item{{Event: skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "entire:checkpoint", Data: about})}},
	}
}

// key returns the key of the line of a checkpoint.
func key(m metadata) skein.ClientID {
	k := "entire/" + m.Checkpoint + "/" + m.Session
	return skein.ClientID(k[:min(len(k), 90)])
}
