package mcp

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A provider rejects every request with an image that does not have its
// declared type, and so every later request.
func TestAnImageHasTheTypeOfItsBytes(t *testing.T) {
	jpeg := []byte("\xff\xd8\xff\xe0 and so on")
	for _, c := range []struct {
		said, want string
		data       []byte
	}{
		{"image/jpeg", "image/jpeg", jpeg},
		{"image/png", "image/jpeg", jpeg},
		{"image/jpg", "image/jpeg", jpeg},
		{"image/png", "application/octet-stream", []byte("no image")},
		{"audio/wav", "audio/wav", []byte("whatever")},
	} {
		out := output(&sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: c.said, Data: c.data}}})
		if len(out.Files) != 1 || out.Files[0].Media != c.want {
			t.Errorf("%q, said to be %s, becomes %+v, want %s", c.data, c.said, out.Files, c.want)
		}
	}
}
