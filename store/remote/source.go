package remote

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/store/inspect"
)

// ofFile is a query about a source file.
type ofFile struct {
	Format string `json:"format"`
	Path   string `json:"path"`
	From   int    `json:"from,omitempty"`
}

// Find implements [skein.Sources].
func (s sources) Find(ctx context.Context, keys []skein.ClientID) (_ map[skein.ClientID]skein.Place, err error) {
	defer skein.Wrapf(&err, "remote: find")
	got, err := ask[struct {
		Places []api.Place `json:"places"`
	}](ctx, s.view, "find", struct {
		Keys []skein.ClientID `json:"client_ids"`
	}{append([]skein.ClientID{}, keys...)})
	if err != nil {
		return nil, err
	}
	out := make(map[skein.ClientID]skein.Place, len(got.Places))
	for _, p := range got.Places {
		out[p.ClientID] = skein.Place{Session: p.Session, Seq: p.Seq}
	}
	return out, nil
}

// File implements [skein.Sources].
func (s sources) File(ctx context.Context, format, path string) (_ skein.SourceFile, err error) {
	defer skein.Wrapf(&err, "remote: file %s", path)
	f, err := ask[api.File](ctx, s.view, "file", ofFile{Format: format, Path: path})
	return skein.SourceFile(f), err
}

// Files implements [skein.Sources].
func (s sources) Files(ctx context.Context, format string) iter.Seq2[skein.SourceFile, error] {
	return list(ctx, s.view, "files", struct {
		Format string `json:"format,omitempty"`
	}{format}, readFile)
}

func readFile(line []byte) (skein.SourceFile, error) {
	f, err := readJSON[api.File](line)
	return skein.SourceFile(f), err
}

// FilesNamed implements [skein.Sources].
func (s sources) FilesNamed(ctx context.Context, part string) iter.Seq2[skein.SourceFile, error] {
	return list(ctx, s.view, "files-named", struct {
		Part string `json:"part"`
	}{part}, readFile)
}

// Records implements [skein.Sources].
func (s sources) Records(ctx context.Context, format, path string, n int) iter.Seq2[skein.Record, error] {
	return list(ctx, s.view, "records", ofFile{format, path, n}, func(line []byte) (skein.Record, error) {
		r, err := readJSON[api.Record](line)
		return skein.Record(r), err
	})
}

// Lag implements [inspect.IndexLag]: it is that of the server's store. It requires a
// token with the scope admin.
func (s inspection) Lag(ctx context.Context) (_ inspect.Lag, err error) {
	defer skein.Wrapf(&err, "remote: lag of the index")
	l, err := ask[api.Lag](ctx, s.view, "lag", struct{}{})
	return inspect.Lag(l), err
}

// Examine implements [inspect.Examiner]: the server examines its store.
func (s inspection) Examine(ctx context.Context, x inspect.Examination) iter.Seq2[inspect.Finding, error] {
	return list(ctx, s.view, "examine", struct {
		Repair bool `json:"repair,omitempty"`
		Quick  bool `json:"quick,omitempty"`
	}{x.Repair, x.Quick}, readJSON[inspect.Finding])
}
