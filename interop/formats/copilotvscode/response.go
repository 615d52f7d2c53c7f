package copilotvscode

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// invocation is the kind of a tool's run in a response.
const invocation = "toolInvocationSerialized"

// response makes the model's messages of what the screen showed: pieces of Markdown
// with inline references between them, thoughts and tools.
func (r *request) response(list []jsontext.Value) {
	m := r.base
	var text strings.Builder
	flush := func() {
		if strings.TrimSpace(text.String()) != "" {
			m.Parts = append(m.Parts, skein.TextPart(text.String()))
		}
		text.Reset()
	}
	say := func() {
		if flush(); len(m.Parts) > 0 {
			r.add(m)
		}
		m = r.base
	}
	for _, v := range list {
		o, err := loose.Parse(v)
		if err != nil {
			continue
		}
		switch o.Str("kind") {
		case "", "markdownContent":
			text.WriteString(markdown(o))
		case "inlineReference":
			text.WriteString(reference(o))
		case "thinking":
			flush()
			if thought := texts(o.Get("value")); thought != "" {
				m.Parts = append(m.Parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(thought)})
			}
		case invocation:
			flush()
			id := o.Str("toolCallId")
			m.Parts = append(m.Parts, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: o.Str("toolId"), Input: loose.Raw(o.Get("toolSpecificData"))}})
			say()
			res := &skein.Result{CallID: id, Name: o.Str("toolId"), Text: skein.Text(phrase(o, "pastTenseMessage", "invocationMessage"))}
			r.add(skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}})
		case "mcpServersStarting", "progressTaskSerialized", "progressMessage", "prepareToolInvocation", "undoStop", "codeblockUri":
			// progress messages of the screen
		default:
			flush()
			m.Parts = append(m.Parts, skein.Part{Kind: skein.PartOther, Raw: loose.Raw(v)})
		}
	}
	say()
}

// markdown returns the text of a piece of Markdown.
func markdown(o loose.Object) string {
	if text, ok := o.Text("value"); ok {
		return text
	}
	return phrase(o, "content", "value")
}

// phrase returns the first of these members that is a string, or Markdown.
func phrase(o loose.Object, names ...string) string {
	for _, n := range names {
		if s, ok := o.Text(n); ok {
			return s
		}
		if s, ok := o.Obj(n).Text("value"); ok {
			return s
		}
	}
	return ""
}

// reference returns the text of an inline reference.
func reference(o loose.Object) string {
	ref := o.Obj("inlineReference")
	name := o.Str("name")
	if name == "" {
		name = ref.Str("name", "fsPath", "path")
	}
	if name == "" {
		name = ref.Obj("uri").Str("fsPath", "path")
	}
	return "`" + name + "`"
}

// maxDeep is how deep the elements of a result are followed.
const maxDeep = 50

// answered returns a tool's result: texts, or elements of a prompt, whose leaves are
// texts.
func answered(v jsontext.Value) string {
	o, err := loose.Parse(v)
	if err != nil {
		return loose.Str(v)
	}
	var b strings.Builder
	for _, c := range o.List("content") {
		p, _ := loose.Parse(c) // a value that is not an object has no text
		if text, ok := p.Text("value"); ok {
			b.WriteString(text)
			continue
		}
		leaves(&b, p.Obj("value").Obj("node"), maxDeep)
	}
	return b.String()
}

func leaves(b *strings.Builder, node loose.Object, deep int) {
	if text, ok := node.Text("text"); ok {
		if node.Yes("lineBreakBefore") && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	if deep == 0 {
		return
	}
	for _, c := range node.List("children") {
		if child, err := loose.Parse(c); err == nil {
			leaves(b, child, deep-1)
		}
	}
}
