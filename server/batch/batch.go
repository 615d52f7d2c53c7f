package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/upload"
)

// A fieldDecoder decodes the value that comes next.
type fieldDecoder func(*json.Decoder) error

// into returns a field that is decoded at once.
func into[T any](v *T) fieldDecoder { return func(d *json.Decoder) error { return d.Decode(v) } }

// eachIn returns a field for a list that is decoded element by element: it may
// be long.
func eachIn[T any](take func(T)) fieldDecoder {
	return func(d *json.Decoder) error { return eachOf(d, take) }
}

// readWhole decodes one object, which must be all there is.
func readWhole(d *json.Decoder, what string, fields map[string]fieldDecoder) error {
	if err := readObject(d, what, fields); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return wrong("body", errors.Join(err, errors.New("unexpected text after it")))
	}
	return nil
}

// readObject decodes an object that may have these fields, each at most once.
func readObject(d *json.Decoder, what string, fields map[string]fieldDecoder) error {
	if err := expect(d, json.Delim('{')); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return wrong("body", err)
		}
		name := fmt.Sprint(t)
		read := fields[name]
		switch {
		case read == nil:
			return fmt.Errorf("%w: %.100q is not a member of %s", skein.ErrInvalid, name, what)
		case seen[name]:
			return fmt.Errorf("%w: %s is twice in %s", skein.ErrInvalid, name, what)
		}
		seen[name] = true
		if err := read(d); err != nil {
			return wrong(name, err)
		}
	}
	return expect(d, json.Delim('}'))
}

// Read reads the body of POST /v1/sessions/{id}/events. The error wraps
// [skein.ErrInvalid], or is an [http.MaxBytesError].
func Read(d *json.Decoder, b *skein.Batch) error { return readWhole(d, "a batch", ofBatch(b)) }

// ofBatch returns the fields of a batch for a known session.
func ofBatch(b *skein.Batch) map[string]fieldDecoder {
	return map[string]fieldDecoder{
		"after":  into(&b.After),
		"fence":  into(&b.Fence),
		"events": eachIn(func(e api.Event) { b.Events = append(b.Events, e.Event) }),
		"blobs":  eachIn(func(x api.Blob) { b.Blobs = append(b.Blobs, skein.Blob(x)) }),
	}
}

// ReadAll reads the body of POST /v1/append. Errors as [Read].
func ReadAll(r io.Reader) (all []skein.Batch, err error) {
	err = readWhole(json.NewDecoder(r), "the body", map[string]fieldDecoder{"batches": objects(func(d *json.Decoder) error {
		b := skein.Batch{}
		fields := ofBatch(&b)
		fields["session"], fields["again"] = into(&b.Session), into(&b.Again)
		fields["import"] = func(d *json.Decoder) (err error) {
			b.Import, err = readImport(d)
			return err
		}
		err := readObject(d, "a batch", fields)
		all = append(all, b)
		return err
	})})
	return all, err
}

// ReadLines reads lines of events and blobs. Errors as [Read].
func ReadLines(d *json.Decoder, b *skein.Batch) error {
	for n := 1; ; n++ {
		var line struct {
			Hash skein.Hash `json:"hash"`
			Data []byte     `json:"data"`
		}
		var raw json.RawMessage
		err := d.Decode(&raw)
		if err == nil && n > 1 {
			err = fits(d)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = json.Unmarshal(raw, &line)
		}
		if err == nil && line.Hash != "" {
			b.Blobs = append(b.Blobs, skein.Blob{Hash: line.Hash, Data: line.Data})
			continue
		}
		var e api.Event
		if err == nil {
			err = e.UnmarshalJSON(raw)
		}
		if err != nil {
			return wrong(fmt.Sprintf("line %d", n), err)
		}
		b.Events = append(b.Events, e.Event)
	}
}

func readImport(d *json.Decoder) (*skein.Import, error) {
	var file api.File
	i := &skein.Import{}
	err := readObject(d, "an import", map[string]fieldDecoder{
		"file": into(&file), "forget": into(&i.Forget),
		"records": eachIn(func(r api.Record) { i.Records = append(i.Records, skein.Record(r)) }),
	})
	i.File = skein.SourceFile(file)
	return i, err
}

// objects returns a field for a list whose elements are decoded by read.
func objects(read fieldDecoder) fieldDecoder {
	return func(d *json.Decoder) error {
		if err := expect(d, json.Delim('[')); err != nil {
			return err
		}
		for n := 0; d.More(); n++ {
			if n > 0 {
				if err := fits(d); err != nil {
					return err
				}
			}
			if err := read(d); err != nil {
				return wrong(fmt.Sprintf("[%d]", n), err)
			}
		}
		return expect(d, json.Delim(']'))
	}
}

// maxBatch is how many bytes a body with more than one element may have: all of
// it is in memory at once. A single event may be longer.
const maxBatch = 96 * door.MB

// fits returns an error if a body is too long.
func fits(d *json.Decoder) error {
	if d.InputOffset() > maxBatch {
		return &http.MaxBytesError{Limit: maxBatch}
	}
	return nil
}

// Refused returns the error of reading a body. If the body was too long, the rest of it
// is read first: a client that is still sending would see a broken connection instead of
// the answer.
func Refused(ctx context.Context, body io.Reader, err error) error {
	if long := (*http.MaxBytesError)(nil); errors.As(err, &long) && long.Limit == maxBatch {
		io.Copy(io.Discard, upload.Passing(ctx, body)) //nolint:errcheck // it is of no interest any more
	}
	return err
}

// eachOf decodes a list.
func eachOf[T any](d *json.Decoder, take func(T)) error {
	return objects(func(d *json.Decoder) error {
		var v T
		if err := d.Decode(&v); err != nil {
			return err
		}
		take(v)
		return nil
	})(d)
}

func expect(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err != nil {
		return wrong("body", err)
	}
	if got != want {
		return fmt.Errorf("%w: body: %.100v at byte %d, want %v", skein.ErrInvalid, got, d.InputOffset(), want)
	}
	return nil
}

// wrong adds to err where the body is wrong. The error wraps [skein.ErrInvalid],
// unless the body is too long.
func wrong(where string, err error) error {
	var long *http.MaxBytesError
	if errors.As(err, &long) || errors.Is(err, skein.ErrInvalid) {
		return fmt.Errorf("%s: %w", where, err)
	}
	return fmt.Errorf("%w: %s: %w", skein.ErrInvalid, where, err)
}
