package traces

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// settings are what the variables of OpenTelemetry set
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
type settings struct {
	about   []wireAttribute // of the resource
	sampler string
	ratio   float64
	queue   int           // spans that wait at most
	batch   int           // spans in one request at most
	delay   time.Duration // between two requests
	timeout time.Duration // of one request
}

// most is the largest queue and batch, and the longest wait in milliseconds.
const most = 1_000_000

// samplers are the values of OTEL_TRACES_SAMPLER.
var samplers = map[string]bool{
	"always_on": true, "always_off": true, "traceidratio": true,
	"parentbased_always_on": true, "parentbased_always_off": true, "parentbased_traceidratio": true,
}

// readSettings returns the settings of a program of this version.
func readSettings(version string, getenv func(string) string) (s settings, err error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	if s.sampler = cmp.Or(getenv("OTEL_TRACES_SAMPLER"), "parentbased_always_on"); !samplers[s.sampler] {
		return s, fmt.Errorf("OTEL_TRACES_SAMPLER is %q: %w: want always_on, always_off, traceidratio, or one of these after parentbased_", s.sampler, skein.ErrInvalid)
	}
	s.ratio = 1
	if arg := getenv("OTEL_TRACES_SAMPLER_ARG"); arg != "" && strings.HasSuffix(s.sampler, "ratio") {
		if s.ratio, err = strconv.ParseFloat(arg, 64); err != nil || !(s.ratio >= 0 && s.ratio <= 1) {
			return s, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %q: %w: want a number from 0 to 1", arg, skein.ErrInvalid)
		}
	}
	var delay, timeout int
	for _, n := range []struct {
		to    *int
		name  string
		usual int
	}{
		{&s.queue, "OTEL_BSP_MAX_QUEUE_SIZE", 2048},
		{&s.batch, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512},
		{&delay, "OTEL_BSP_SCHEDULE_DELAY", 5_000},
		{&timeout, "OTEL_BSP_EXPORT_TIMEOUT", 30_000},
	} {
		*n.to = n.usual
		if v := getenv(n.name); v != "" {
			if *n.to, err = strconv.Atoi(v); err != nil || *n.to < 1 || *n.to > most {
				return s, fmt.Errorf("%s is %q: %w: want a number from 1 to %d", n.name, v, skein.ErrInvalid, most)
			}
		}
	}
	s.delay, s.timeout = time.Duration(delay)*time.Millisecond, time.Duration(timeout)*time.Millisecond
	s.about, err = resource(version, getenv)
	return s, err
}

// resource returns the attributes of the resource: the program.
func resource(version string, getenv func(string) string) ([]wireAttribute, error) {
	set, err := pairs("OTEL_RESOURCE_ATTRIBUTES", getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		return nil, err
	}
	about := map[string]string{"service.name": "skein", "service.version": version}
	for _, p := range set {
		about[p[0]] = p[1]
	}
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		about["service.name"] = name
	}
	var all []wireAttribute
	for name, value := range about {
		all = append(all, text(name, value))
	}
	return all, nil
}

// sample reports whether a span below parent is recorded.
func (s settings) sample(parent spanContext, trace [16]byte) bool {
	kind, byParent := strings.CutPrefix(s.sampler, "parentbased_")
	if byParent && parent != (spanContext{}) {
		return parent.sampled
	}
	switch kind {
	case "always_off":
		return false
	case "traceidratio":
		return float64(binary.BigEndian.Uint64(trace[8:])>>1) < s.ratio*(1<<63)
	}
	return true
}
