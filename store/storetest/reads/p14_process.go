package reads

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func watchProcess(t *harness.Test) {
	t.Add("a", fixture.Created())
	w := watch(t, t.Store, "a", 0)
	w.want(1)
	t.Start(harness.Job{Do: "append", Session: "a", Name: "child", Count: 50})
	for seq := skein.Seq(2); seq <= 51; seq++ {
		w.want(seq)
	}
}
