package mcp

import (
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
)

// output converts a server's answer for the model.
func output(res *sdk.CallToolResult) (out tool.Output) {
	var b strings.Builder
	for i, c := range res.Content {
		name := fmt.Sprintf("part %d", i+1)
		switch c := c.(type) {
		case *sdk.TextContent:
			b.WriteString(c.Text + "\n")
		case *sdk.ImageContent:
			attach(&out, &b, name, c.MIMEType, c.Data)
		case *sdk.AudioContent:
			attach(&out, &b, name, c.MIMEType, c.Data)
		case *sdk.ResourceLink:
			fmt.Fprintf(&b, "[link: %s %s]\n", c.URI, c.MIMEType)
		case *sdk.EmbeddedResource:
			if c.Resource == nil {
				continue
			}
			if len(c.Resource.Blob) > 0 {
				attach(&out, &b, c.Resource.URI, c.Resource.MIMEType, c.Resource.Blob)
			} else {
				fmt.Fprintf(&b, "[%s]\n%s\n", c.Resource.URI, c.Resource.Text)
			}
		default:
			fmt.Fprintf(&b, "[%s of an unknown kind]\n", name)
		}
	}
	if b.Len() == 0 && res.StructuredContent != nil {
		b.Write(skein.MustJSON(res.StructuredContent))
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		b.WriteString("[no output]\n")
	}
	out.Put("output", []byte(b.String()))
	out.Failed = res.IsError
	return out
}

// typeOf returns the media type of data that the server declares as said. If an
// image were invalid or of another type, providers would reject every request
// from then on.
func typeOf(said string, data []byte) string {
	if !strings.HasPrefix(said, "image/") {
		return said
	}
	if is := http.DetectContentType(data); strings.HasPrefix(is, "image/") {
		return is
	}
	return "application/octet-stream"
}

// attach adds a file.
func attach(out *tool.Output, b *strings.Builder, name, media string, data []byte) {
	if len(data) == 0 {
		fmt.Fprintf(b, "[%s: an empty %s]\n", name, media)
		return
	}
	media = typeOf(media, data)
	blob := skein.NewBlob(data)
	out.Blobs = append(out.Blobs, blob)
	out.Files = append(out.Files, skein.File{Name: name, Media: media, Blob: blob.Hash, Size: int64(len(data))})
	fmt.Fprintf(b, "[%s: %s, %d bytes]\n", name, media, len(data))
}
