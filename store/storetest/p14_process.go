package storetest

import "github.com/skein-dev/skein"

func watchProcess(t *test) {
	t.add("a", created())
	w := t.watch(t.s, "a", 0)
	w.want(1)
	t.start(job{Do: "append", Session: "a", Name: "child", Count: 50})
	for seq := skein.Seq(2); seq <= 51; seq++ {
		w.want(seq)
	}
}
