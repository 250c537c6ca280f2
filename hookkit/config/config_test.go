package config_test

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/config"
)

func keys() []config.Key {
	return []config.Key{
		{Name: "name", Default: "none", Env: "APP_NAME"},
		{Name: "part.on", Default: true, Env: "APP_ON"},
		{Name: "part.count", Default: 3, Env: "APP_COUNT", Check: func(v any) error {
			if n, ok := v.(int); !ok || n < 0 {
				return errors.New("too small")
			}
			return nil
		}},
		{Name: "list", Default: []string{"a"}, Env: "APP_LIST"},
	}
}

func env(entries ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, entry := range entries {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

// Each layer beats those below it: flag, environment, nearer file, farther file, default.
func TestLayers(t *testing.T) {
	t.Parallel()
	near := config.File{Path: "near.yml", Data: []byte("name: near\npart:\n  count: 1\n")}
	far := config.File{Path: "far.yml", Data: []byte("name: far\npart: {on: false, count: 2}\nlist: [b, c]\n")}
	l := config.Layers{Keys: keys()}
	look := func() string {
		v, err := l.Settle()
		assert.NilError(t, err)
		on := "off"
		if v.Bool("part.on") {
			on = "on"
		}
		return strings.Join([]string{
			v.String("name"), v.Origin("name"), on, v.Origin("part.on"), string(rune('0' + v.Int("part.count"))),
			v.Origin("part.count"), strings.Join(v.Strings("list"), "+"), v.Origin("list"),
		}, " ")
	}
	assert.Equal(t, look(), "none default on default 3 default a default")
	l.Files = []config.File{far}
	assert.Equal(t, look(), "far far.yml:1 off far.yml:2 2 far.yml:2 b+c far.yml:3")
	l.Files = []config.File{near, far}
	assert.Equal(t, look(), "near near.yml:1 off far.yml:2 1 near.yml:3 b+c far.yml:3")
	l.Env = env("APP_NAME=env", "APP_ON=YES", "APP_COUNT=", "APP_LIST=x, y")
	assert.Equal(t, look(), "env APP_NAME on APP_ON 1 near.yml:3 x+y APP_LIST")
	l.Flags = map[string]any{"name": "flag", "part.count": 0}
	assert.Equal(t, look(), "flag flag on APP_ON 0 flag x+y APP_LIST")
}

// A key without a value says nothing.
func TestNull(t *testing.T) {
	t.Parallel()
	v, err := config.Layers{Keys: keys(), Files: []config.File{{Path: "f", Data: []byte("name:\npart:\nlist: ~\n")}}}.Settle()
	assert.NilError(t, err)
	assert.Equal(t, v.String("name")+v.Origin("part.on"), "nonedefault")
}

// What Decode takes for true must not become false on the way.
func TestWordsForTrueAndFalse(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"yes", "Yes", "on", "ON", "y", "true", "no", "off", "N", "false"} {
		data := []byte("part:\n  on: " + word + "\n")
		var s settings
		assert.NilError(t, config.Decode("f", data, &s))
		l := config.Layers{Keys: keys(), Files: []config.File{{Path: "f", Data: data}}}
		l.Keys[1].Default = !s.Part.On
		v, err := l.Settle()
		assert.NilError(t, err)
		assert.Equal(t, v.Bool("part.on"), s.Part.On, word)
	}
}

func TestUnusableValues(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]config.Layers{
		"APP_ON=maybe: expected true or false":    {Env: env("APP_ON=maybe")},
		"APP_COUNT=1e3: expected a whole number":  {Env: env("APP_COUNT=1e3")},
		"APP_COUNT: part.count: too small":        {Env: env("APP_COUNT=-1")},
		"f.yml:2: part.count: too small":          {Files: []config.File{{Path: "f.yml", Data: []byte("part:\n  count: -1\n")}}},
		"flag: part.count: too small":             {Flags: map[string]any{"part.count": -1}},
		"f.yml: While parsing config: yaml: line": {Files: []config.File{{Path: "f.yml", Data: []byte("a: [")}}},
	} {
		l.Keys = keys()
		_, err := l.Settle()
		assert.ErrorContains(t, err, want)
	}
}

type settings struct {
	Name string          `yaml:"name"`
	Part part            `yaml:"part"`
	More map[string]part `yaml:"more"`
}

type part struct {
	Count int  `yaml:"count"`
	On    bool `yaml:"on"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var s settings
	assert.NilError(t, config.Decode("f", []byte("name: x\npart: {count: 2}\nmore:\n  A.b: {on: true}\n"), &s))
	assert.DeepEqual(t, s, settings{Name: "x", Part: part{Count: 2}, More: map[string]part{"A.b": {On: true}}})
	assert.NilError(t, config.Decode("f", []byte(" # nothing\n"), &s))
	for text, want := range map[string]string{
		"nam: x\npart:\n  cuont: 1\n":      "f:1: unknown key \"nam\"; did you mean \"name\"?\nf:3: unknown key \"cuont\"; did you mean \"count\"?",
		"more:\n  x:\n    zzz: 1\n":        `f:3: unknown key "zzz"; known here: count, on`,
		"part:\n  on: yes please\n":        `f:2: expected true or false, found "yes please"`,
		"part: [1]\n":                      "f:1: expected keys with values, found a list",
		"name: {}\n":                       "f:1: expected a text, found keys with values",
		"name: a\nname: b\n":               `f:2: key "name" stands here a second time; the first is in line 1`,
		"name: a\n---\nname: b\n":          "f:2: a second document; settings are one",
		"\tname: a\n":                      "f: not YAML: found character that cannot start any token",
		"a: &x [*x]\n":                     `f:1: unknown key "a"; known here: more, name, part`,
		strings.Repeat("[", 20000) + "1\n": "f: not YAML: exceeded max depth of 10000",
	} {
		err := config.Decode("f", []byte(text), &settings{})
		assert.ErrorContains(t, err, want, "%.40s", text)
		wrong, ok := errors.AsType[*config.Error](err)
		assert.Assert(t, ok && wrong.Path == "f")
	}
	assert.ErrorContains(t, config.Decode("f", make([]byte, config.MaxBytes+1), &s), "more than the 1048576")
}

// Whatever is in a file, reading it ends with a value or an error.
// What a settings file says does not steer the terminal on which its faults are read, whoever found them.
func TestErrorSteersNoTerminal(t *testing.T) {
	err := &config.Error{Path: "a\x1b[2J.yml", Faults: []config.Fault{{Line: 3, Text: "there is no file fix\u202e\nb"}}}
	assert.Error(t, err, `a\x1b[2J.yml:3: there is no file fix\u202e\nb`)
}

func TestDecodeNeverPanics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab:-[]{}#&*!|>'\"\n\t 01%,?~<"))).Draw(t, "text")
		_ = config.Decode("f", []byte("part: "+text), &settings{})
		_, _ = config.Layers{Keys: keys(), Files: []config.File{{Path: "f", Data: []byte(text)}}}.Settle()
	})
}
