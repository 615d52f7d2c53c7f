package blocks_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/blocks"
)

func TestBlocksOfBothKindsArePartsAlike(t *testing.T) {
	for name, content := range map[string]string{
		"Anthropic": `[{"type":"text","text":"a"},{"type":"thinking","thinking":"b","signature":"s"},{"type":"redacted_thinking","data":"x"},
			{"type":"tool_use","id":"1","name":"ls","input":{"n":1.50}},{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}],"is_error":true},
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]`,
		"AI SDK": `[{"type":"text","text":"a"},{"type":"reasoning","text":"b"},{"type":"redacted-reasoning","data":"x"},
			{"type":"tool-call","toolCallId":"1","toolName":"ls","args":{"n":1.50}},{"type":"tool-result","toolCallId":"1","output":{"type":"error-text","value":"c\nd"}},
			{"type":"image","image":"data:image/png;base64,iVBORw0KGgo="}]`,
	} {
		t.Run(name, func(t *testing.T) {
			var r blocks.Reader
			c := r.Read(jsontext.Value(content))
			hash := skein.NewBlob([]byte("\x89PNG\r\n\x1a\n")).Hash
			want := []skein.Part{
				skein.TextPart("a"),
				{Kind: skein.PartReasoning, Text: "b"},
				c.Parts[2],
				{Kind: skein.PartCall, Call: &skein.Call{ID: "1", Name: "ls", Input: []byte(`{"n":1.50}`)}},
				{Kind: skein.PartResult, Result: &skein.Result{CallID: "1", Name: "ls", Text: "c\nd", Failed: true}},
				{Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: hash, Size: 8}},
			}
			if diff := cmp.Diff(want, c.Parts); diff != "" {
				t.Errorf("Read(%s) (-want +got):\n%s", content, diff)
			}
			if p := c.Parts[2]; p.Kind != skein.PartReasoning || !strings.Contains(string(p.Raw), `"data":"x"`) {
				t.Errorf("the opaque thought is %+v, want its bytes", p)
			}
			if len(c.Blobs) != 1 || c.Blobs[0].Hash != hash {
				t.Errorf("Read gives the blobs %v, want the image's", c.Blobs)
			}
			all := c.Messages(skein.Message{Role: skein.RoleUser})
			if len(all) != 2 || all[0].Role != skein.RoleTool || len(all[0].Parts) != 1 || len(all[1].Parts) != 5 {
				t.Errorf("Messages = %+v, want the tool's and then the user's", all)
			}
		})
	}
}

func TestWhatIsNoKnownBlockIsKept(t *testing.T) {
	for _, content := range []string{
		`[{"type":"novel","x":1}]`, `[7]`, `[{"type":"text","text":7}]`, `[{"type":"tool_use","name":"no ID"}]`,
		`[{"type":"tool_result","content":"whose?"}]`, `[{"type":"image","source":{}}]`, `[["a"]]`,
	} {
		var r blocks.Reader
		c := r.Read(jsontext.Value(content))
		if len(c.Parts) != 1 || c.Parts[0].Kind != skein.PartOther || string(c.Parts[0].Raw) != content[1:len(content)-1] {
			t.Errorf("Read(%s) = %+v, want a part with its bytes", content, c.Parts)
		}
	}
	var r blocks.Reader
	if c := r.Read(jsontext.Value(`null`)); len(c.Parts) != 0 {
		t.Errorf("Read(null) = %+v, want nothing", c.Parts)
	}
	r.NewID = func() string { return "made" }
	if c := r.Read(jsontext.Value(`[{"type":"tool_use","name":"ls"}]`)); len(c.Parts) != 1 || c.Parts[0].Call == nil || c.Parts[0].Call.ID != "made" {
		t.Errorf("Read of a call without an ID, with NewID = %+v, want a call", c.Parts)
	}
}
