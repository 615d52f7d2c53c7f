package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
)

func TestManifestNamesIconsThatAreThere(t *testing.T) {
	v := visiting(t, composed(t), nil)
	wants(t, "a page", v.get("/usage"), `<link rel="manifest" href="/manifest.webmanifest">`)
	v.client = &http.Client{} // browsers ask without a login
	var m struct {
		Name, Display string
		Start         string `json:"start_url"`
		Icons         []struct{ Src, Sizes, Type string }
	}
	if err := json.Unmarshal([]byte(v.get("/manifest.webmanifest")), &m); err != nil {
		t.Fatal(err)
	}
	if m.Name != "skein" || m.Display != "standalone" || m.Start != "/" || len(m.Icons) < 3 {
		t.Errorf("the manifest is %+v, want an app of its own with icons", m)
	}
	for _, i := range m.Icons {
		data := v.get(i.Src)
		if !strings.HasSuffix(i.Src, ".png") {
			continue
		}
		c, err := png.DecodeConfig(bytes.NewReader([]byte(data)))
		if err != nil || fmt.Sprintf("%dx%d", c.Width, c.Height) != i.Sizes {
			t.Errorf("%s is %dx%d, %v; the manifest says %s", i.Src, c.Width, c.Height, err, i.Sizes)
		}
	}
}
