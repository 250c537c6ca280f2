package client

import (
	"maps"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/clj"
)

// What is shown of a message can be sent again with -m.
func TestEDNRoundTrip(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("a\"\\\n\x1b λ😀{}[]:")))
	values := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return rapid.Int64().Draw(t, "n")
		case 1:
			items := []any{}
			for _, s := range rapid.SliceOfN(text, 0, 3).Draw(t, "list") {
				items = append(items, s)
			}
			return items
		case 2:
			dict := map[string]any{}
			for k, v := range rapid.MapOfN(text, text, 0, 3).Draw(t, "dict") {
				dict[k] = v
			}
			return dict
		}
		return text.Draw(t, "s")
	})
	rapid.Check(t, func(t *rapid.T) {
		message := map[string]any{"op": "x"}
		maps.Copy(message, rapid.MapOfN(text, values, 0, 4).Draw(t, "message"))
		line := appendEDN(nil, message)
		if strings.ContainsAny(string(line), "\n\x1b") {
			t.Fatalf("%q is not one plain line", line)
		}
		forms, problems := clj.ReadAll("", line, clj.Options{})
		if len(problems) > 0 || len(forms) != 1 {
			t.Fatalf("%q: %v", line, problems)
		}
		back, err := bencodable(forms[0])
		assert.NilError(t, err)
		assert.DeepEqual(t, back, any(message))
	})
}
