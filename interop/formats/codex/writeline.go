package codex

import (
	"bytes"
	"encoding/json"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A fileState is the relevant state of a rollout that is continued.
type fileState struct {
	bare    bool   // of the first generation: items without an envelope
	counted bool   // its lines have ordinals, and its turns items
	next    uint64 // ordinal of the next line
}

// A lineOut is a line that is written.
type lineOut struct {
	Timestamp string  `json:"timestamp"`
	Ordinal   *uint64 `json:"ordinal,omitempty"`
	Type      string  `json:"type"`
	Payload   any     `json:"payload"`
}

// look reads the state of the rollout that is continued.
func (w *writer) look() error {
	begun := false
	for r, err := range w.d.Known {
		if err != nil {
			return err
		}
		if begun && !bytes.Contains(r.Raw, []byte(`"ordinal"`)) {
			continue
		}
		l, err := unmarshal[struct {
			Type    string          `json:"type"`
			Payload json.RawMessage `json:"payload"`
			Ordinal *uint64         `json:"ordinal"`
		}](bytes.TrimSpace(r.Raw))
		if err != nil {
			continue // damaged: Codex skips it too
		}
		if !begun {
			w.file.bare, begun = l.Payload == nil, true
		}
		if l.Ordinal != nil {
			w.file.counted, w.file.next = true, *l.Ordinal+1
		}
	}
	return nil
}

// emit writes a line, unless the file has it.
func (w *writer) emit(t skein.Time, typ string, payload any) {
	if w.quiet {
		return
	}
	if t == 0 {
		t = w.at
	}
	t = max(t, w.since)
	w.at = t
	if w.file.bare {
		if typ == typeItem {
			w.out = append(w.out, interop.OutLine{Body: append(interop.JSON(payload), '\n'), Seq: w.seq})
		}
		return
	}
	l := lineOut{Timestamp: stampOf(t), Type: typ, Payload: payload}
	if w.file.counted {
		n := w.file.next
		l.Ordinal = &n
		w.file.next++
	}
	w.out = append(w.out, interop.OutLine{Body: append(interop.JSON(l), '\n'), Seq: w.seq})
}

// item writes what goes to the model.
func (w *writer) item(t skein.Time, payload any) { w.emit(t, typeItem, payload) }

// shows reports whether what is being written is also sent to the screen: not if
// Codex's own lines do so.
func (w *writer) shows() bool { return !w.ours[w.acting] }

// show writes a line for the screen.
func (w *writer) show(t skein.Time, payload any) {
	if w.shows() {
		w.emit(t, typeEvent, payload)
	}
}

// lose reports that something is lost, unless the file already has it.
func (w *writer) lose(at skein.Seq, what string) {
	if !w.quiet {
		w.losses.Add(at, what)
	}
}
