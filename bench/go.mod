module github.com/skein-dev/skein/bench

go 1.26.0

require github.com/skein-dev/skein v0.0.0

replace github.com/skein-dev/skein => ../
