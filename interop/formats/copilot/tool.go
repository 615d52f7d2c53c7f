package copilot

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// toolStarted adds that a call runs. A call that is in no message was made by the
// user.
func (ms *messages) toolStarted(l line) (ps []piece) {
	d := l.data
	id := d.Str("toolCallId")
	if _, known := ms.calls[id]; !known {
		ms.calls[id] = l.session
		call := &skein.Call{ID: id, Name: d.Str("toolName"), Input: loose.Raw(d.Get("arguments"))}
		ps = append(ps, say(l.at, skein.Message{Role: skein.RoleAssistant, Synthetic: true, Parts: []skein.Part{{Kind: skein.PartCall, Call: call}}}))
	}
	if id == "" {
		return append(ps, note(l, "", nil))
	}
	t := skein.ToolState{Call: id, State: skein.Running, Start: l.at}
	if meta := loose.Raw(d.Without("toolCallId", "toolName", "arguments")); len(meta) > len("{}") {
		t.Meta = meta
	}
	return append(ps, piece{event: skein.NewEvent(skein.KindTool, l.at, t)})
}

// toolEnded adds that a call has ended, and its result.
func (ms *messages) toolEnded(l line) []piece {
	d := l.data
	id := d.Str("toolCallId")
	if id == "" {
		return []piece{note(l, "", nil)}
	}
	res := &skein.Result{CallID: id, Name: d.Str("toolName"), Failed: !d.Yes("success")}
	o := d.Obj("result")
	text, ok := o.Text("content")
	switch {
	case ok:
		res.Text = skein.Text(text)
	case d.Get("result").Kind() == '"':
		res.Text = skein.Text(loose.Str(d.Get("result")))
	case o != nil:
		res.Raw = loose.Raw(d.Get("result"))
	}
	if message, ok := d.Obj("error").Text("message"); ok && res.Text == "" {
		res.Text = skein.Text(message)
	}
	var blobs []skein.Blob
	for _, v := range o.List("binaryResultsForLlm") {
		b, _ := loose.Parse(v) // a value that is not an object is skipped
		if f, found := ms.assets.file(b); f != nil {
			res.Files = append(res.Files, *f)
			blobs = append(blobs, found...)
		} else if f, blob := loose.Attach("", b.Str("mimeType"), loose.Str(b.Get("data"))); f != nil {
			res.Files = append(res.Files, *f)
			if blob != nil {
				blobs = append(blobs, *blob)
			}
		}
	}
	t := skein.ToolState{Call: id, State: skein.Completed, End: l.at, Meta: endMeta(d, o, text)}
	if res.Failed {
		t.State = skein.Failed
	}
	m := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}}
	return []piece{{event: skein.NewEvent(skein.KindTool, l.at, t)}, {event: skein.Say(l.at, m), blobs: blobs}}
}

// endMeta returns what the end of a call has besides what the model was sent.
func endMeta(d, result loose.Object, text string) []byte {
	o := append(loose.Object(nil), d...)
	if long, ok := result.Text("detailedContent"); ok && long != text {
		o = append(o, loose.Member{Name: "detailedContent", Value: jsontext.Value(skein.AppendQuoted(nil, long))})
	}
	if v := result.Get("structuredContent"); !loose.IsNull(v) {
		o = append(o, loose.Member{Name: "structuredContent", Value: v})
	}
	meta := loose.Raw(o.Without("toolCallId", "toolName", "result", "success"))
	if len(meta) <= len("{}") {
		return nil
	}
	return meta
}

// assets are the attachments that events refer to by an ID.
type assets map[string]asset

type asset struct {
	file skein.File
	blob skein.Blob
}

// maxAssets is how many assets are held until an event refers to them.
const maxAssets = 64

func (a assets) add(d loose.Object) {
	f, b := loose.Attach(d.Str("description"), d.Str("mimeType"), loose.Str(d.Get("data")))
	if f != nil && b != nil && len(a) < maxAssets {
		a[d.Str("assetId")] = asset{*f, *b}
	}
}

// file returns the asset that an attachment refers to.
func (a assets) file(o loose.Object) (*skein.File, []skein.Blob) {
	at, ok := a[o.Str("assetId")]
	if !ok {
		return nil, nil
	}
	f := at.file
	if name := loose.Clip(o.Str("path", "displayName")); name != "" {
		f.Name = name
	}
	return &f, []skein.Blob{at.blob}
}
